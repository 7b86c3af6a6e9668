package sidecar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/sidecar"
	"jp/search/needle"
)

// TestLargeLogs holds for logs that stay in their files what the tests hold for others.
func TestLargeLogs(t *testing.T) {
	defer sidecar.HoldAtMost(20)()
	for name, test := range map[string]func(*testing.T){
		"grows": TestLogGrows, "damage": TestLogDamage, "many writers": TestLogManyWriters,
		"find": TestFind, "words": TestWords, "pick": TestPick,
	} {
		t.Run(name, test)
	}
}

// TestLargeLogOfAnother leaves a file alone that became another one of the same length. What
// was in it is not held, so that there is nothing to extend.
func TestLargeLogOfAnother(t *testing.T) {
	defer sidecar.HoldAtMost(20)()
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one", "two", "three")
	l, other := sidecar.Read(path, nil, ids), sidecar.Read(path, nil, ids)
	require.NoError(t, other.Extend(1, slices.Values([]sidecar.Record{record(8, "owt"), record(9, "eerht")})))
	require.Error(t, l.Extend(3, slices.Values([]sidecar.Record{record(3, "four")})))
	require.Equal(t, []string{"one", "owt", "eerht"}, texts(sidecar.Read(path, nil, ids)))
}

// TestLogBecomesLarge extends a log beyond what is held, and changes its file while it is read.
func TestLogBecomesLarge(t *testing.T) {
	defer sidecar.HoldAtMost(3 << 20)()
	path := filepath.Join(t.TempDir(), "log")
	var records []sidecar.Record
	for i := range 500 {
		records = append(records, record(i, fmt.Sprint("no ", i, strings.Repeat("=", 20<<10))))
	}
	records = append(records, record(500, "retry"))
	small := sidecar.Read(path, nil, ids)
	require.NoError(t, small.Extend(0, slices.Values(records[:10])))
	l := sidecar.Read(path, nil, ids)
	defer l.Close()
	require.NoError(t, l.Extend(10, slices.Values(records[10:])))
	require.Nil(t, l.Buffer(), "it stays in the file")
	for _, l := range []*sidecar.Log{l, sidecar.Read(path, nil, ids)} {
		i := 0
		require.True(t, l.Each(0, l.Len(), func(at int, r sidecar.Record) bool {
			require.Equal(t, i, at)
			require.True(t, r.ID == records[i].ID && string(r.Raw) == string(records[i].Raw))
			i++
			return true
		}))
		require.Equal(t, len(records), i)
		require.Equal(t, []int{77, 500}, found(t, l, needle.New("no 77=", false), needle.New("retry", false)))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o666))
	_, ok := l.Find([]needle.Needle{needle.New("retry", false)})
	require.False(t, ok)
	require.False(t, l.Each(0, l.Len(), func(int, sidecar.Record) bool { return true }))
	require.NoError(t, os.Truncate(path, 1<<20))
	_, ok = l.Find([]needle.Needle{needle.New("retry", false)})
	require.False(t, ok)
	require.Error(t, l.Extend(l.Len(), slices.Values(records[:1])))
}
