package sidecar_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitstore/sidecar"
	"jp/internal/crash/row"
	"jp/search/needle"
)

func record(n int, raw string) sidecar.Record {
	return sidecar.Record{ID: sidecar.ID{byte(n), byte(n >> 8), 1}, Raw: []byte(raw)}
}

func texts(l *sidecar.Log) []string {
	all := []string{}
	for i := range l.Len() {
		all = append(all, string(l.Record(i).Raw))
	}
	return all
}

func write(t testing.TB, path string, raw ...string) {
	t.Helper()
	l := sidecar.Read(path, nil)
	var records []sidecar.Record
	for i, r := range raw {
		records = append(records, record(l.Len()+i, r))
	}
	require.NoError(t, l.Extend(l.Len(), records))
}

func TestLogGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "log")
	require.Zero(t, sidecar.Read(path, nil).Len())
	write(t, path, "one", "")
	write(t, path, "three")
	l := sidecar.Read(path, nil)
	require.Equal(t, []string{"one", "", "three"}, texts(l))
	require.Equal(t, 1, l.Index(record(1, "").ID))
	require.Equal(t, -1, l.Index(record(7, "").ID))

	require.NoError(t, l.Extend(1, []sidecar.Record{record(9, "other")}))
	require.Equal(t, []string{"one", "other"}, texts(l), "in memory")
	require.Equal(t, []string{"one", "other"}, texts(sidecar.Read(path, l.Buffer())), "and in the file")
}

// TestLogDamage cuts the file at every length, and changes every byte: what is
// read is always a beginning, and can be extended.
func TestLogDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one", "two", "three")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	want := texts(sidecar.Read(path, nil))
	check := func(data []byte, most int) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		l := sidecar.Read(path, nil)
		require.LessOrEqual(t, l.Len(), most)
		require.Equal(t, want[:l.Len()], texts(l))
		require.NoError(t, l.Extend(l.Len(), []sidecar.Record{record(7, "more")}))
		require.Equal(t, append(want[:l.Len()-1:l.Len()-1], "more"), texts(sidecar.Read(path, nil)))
	}
	for n := range whole {
		check(whole[:n], 2)
		changed := bytes.Clone(whole)
		changed[n] ^= 0x20
		check(changed, 2)
	}
	check(whole, 3)
	row.Log(t, row.Row{
		Class: "a", Name: "cache for searches: the file ends at byte k, or byte k is another", Points: 2 * len(whole),
		Note: "what is read is a beginning, and can be added to",
	})
}

// TestLogManyWriters lets several extend one file: some give up, nothing breaks.
func TestLogManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var all []sidecar.Record
	for i := range 200 {
		all = append(all, record(i, strings.Repeat(fmt.Sprint(i), 50)))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := 1; n <= len(all); n++ {
				l := sidecar.Read(path, nil)
				if l.Len() < n {
					_ = l.Extend(l.Len(), all[l.Len():n]) // who loses a race leaves it to the others
				}
			}
		})
	}
	wg.Wait()
	l := sidecar.Read(path, nil)
	for i := range l.Len() {
		require.Equal(t, all[i], l.Record(i))
	}
	require.NoError(t, l.Extend(l.Len(), all[l.Len():]))
	require.Equal(t, 200, sidecar.Read(path, nil).Len())
}

func TestFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "no RETRY here", "nothing", "retry retry", "")
	l := sidecar.Read(path, nil)
	for text, want := range map[string][2][]int{
		"retry": {{2}, {0, 2}}, "RETRY": {{0}, {0, 2}}, "Nothing": {{}, {1}}, "absent": {{}, {}}, "n": {{0, 1}, {0, 1}},
	} {
		require.Equal(t, want[0], l.Find([]needle.Needle{needle.New(text, false)}), text)
		require.Equal(t, want[1], l.Find([]needle.Needle{needle.New(text, true)}), text)
	}
	require.Equal(t, []int{1, 2}, l.Find([]needle.Needle{needle.New("nothing", false), needle.New("retry", false)}))
}

func TestWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	_, ok := sidecar.ReadWords(path)
	require.False(t, ok)
	w := sidecar.NewWords(1 << 20)
	require.True(t, w.Fits(1<<20))
	require.False(t, w.Fits(1<<24))
	w.Head, w.Text = sidecar.ID{1, 2}, true
	w.Add([]byte("Cap the Retries"))
	w.Add([]byte("no"))
	require.NoError(t, w.Write(path))
	got, ok := sidecar.ReadWords(path)
	require.True(t, ok)
	require.Equal(t, w, got)
	for text, may := range map[string]bool{"retries": true, "RETRIES": true, "the r": true, "xy": true, "": true, "zzz": false, "retry": false} {
		require.Equal(t, may, got.May(text), text)
	}
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, n := range []int{0, 5, 11, 30, 47, len(whole) / 2, len(whole) - 1} {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o666))
		_, ok := sidecar.ReadWords(path)
		require.False(t, ok, "%d bytes", n)
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		require.NoError(t, os.WriteFile(path, changed, 0o666))
		_, ok = sidecar.ReadWords(path)
		require.False(t, ok, "byte %d changed", n)
	}
}

// TestWordsNeverMiss holds that what was added may be there, whatever part of it
// is asked for.
func TestWordsNeverMiss(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := sidecar.NewWords(rapid.IntRange(0, 1<<20).Draw(r, "size"))
		text := rapid.String().Draw(r, "text")
		w.Add([]byte(text))
		from := rapid.IntRange(0, len(text)).Draw(r, "from")
		to := rapid.IntRange(from, len(text)).Draw(r, "to")
		require.True(r, w.May(text[from:to]))
	})
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	write(f, path, "one", "two")
	seed, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte("jp-commits 1\n"))
	f.Add([]byte("jp-words 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		l := sidecar.Read(path, nil)
		was := l.Len()
		if w, ok := sidecar.ReadWords(path); ok {
			w.May("anything")
		}
		l.Find([]needle.Needle{needle.New("o", true)})
		require.NoError(t, l.Extend(was, []sidecar.Record{record(3, "more")}))
		require.Equal(t, was+1, sidecar.Read(path, nil).Len())
	})
}
