package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/backup"
	"jp/gitcmd"
)

func options(t *testing.T) backup.Options {
	t.Helper()
	root := t.TempDir()
	top := filepath.Join(root, "top")
	require.NoError(t, os.Mkdir(top, 0o777))
	return backup.Options{Dir: filepath.Join(root, "state", "backups", "id"), Top: top, Format: gitcmd.SHA1, File: 100, First: 1000, Step: 50, Total: 1 << 20, Days: 30, Volatile: true}
}

func write(t *testing.T, o backup.Options, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(o.Top, name), []byte(text), 0o600))
}

func TestMoment(t *testing.T) {
	o := options(t)
	write(t, o, "a", "one")
	write(t, o, "large", string(make([]byte, 101)))
	require.NoError(t, os.Symlink("a", filepath.Join(o.Top, "link")))
	s := backup.New(o)
	r := backup.Request{Conversation: "c", Turn: 1, Call: 3, At: time.Now().UnixNano(), Paths: []string{"a", "gone", "large", "link"}}
	m, err := s.Make(context.Background(), r)
	require.NoError(t, err)
	require.Len(t, m.Entries, 3)
	require.Equal(t, backup.WhyLarge, m.Entries[1].Why)

	require.NoError(t, os.Remove(filepath.Join(o.Top, "a")))
	write(t, o, "new", "made")
	r.Paths = append(r.Paths, "new")
	changes, err := s.Compare(context.Background(), m, r, 0)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	require.False(t, changes[0].After.There())
	require.False(t, changes[1].Before.There())

	again := backup.New(o) // of another process
	records, err := again.Records()
	require.NoError(t, err)
	require.Len(t, records, 2)
	read, err := again.ChangesOf(records[1])
	require.NoError(t, err)
	require.Equal(t, changes, read)
	text, err := again.Blob(read[0].Before.OID)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	require.NoError(t, filepath.WalkDir(filepath.Dir(o.Dir), func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

// A line that a crash cut off is skipped, and later lines are read.
func TestLogIsCutOff(t *testing.T) {
	o := options(t)
	write(t, o, "a", "one")
	r := backup.Request{Conversation: "c", Turn: 1, Call: 3, Paths: []string{"a"}}
	_, err := backup.New(o).Make(context.Background(), r)
	require.NoError(t, err)
	log := filepath.Join(o.Dir, "log")
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	for n := range len(whole) {
		require.NoError(t, os.WriteFile(log, whole[:n], 0o600))
		records, err := backup.New(o).Records()
		require.NoError(t, err)
		require.Empty(t, records)
	}
	require.NoError(t, os.WriteFile(log, whole[:len(whole)/2], 0o600))
	_, err = backup.New(o).Make(context.Background(), r)
	require.NoError(t, err)
	records, err := backup.New(o).Records()
	require.NoError(t, err)
	require.Len(t, records, 1)
}

// The bound drops old turns, and keeps the parts of their packs that newer moments need.
func TestBound(t *testing.T) {
	o := options(t)
	write(t, o, "kept", "kept since the first moment")
	past := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(o.Top, "kept"), past, past))
	now := time.Now()
	for turn := 1; turn <= 3; turn++ {
		now = now.Add(20 * 24 * time.Hour)
		o.Now = func() time.Time { return now }
		write(t, o, "a", string(rune('0'+turn)))
		_, err := backup.New(o).Make(context.Background(), backup.Request{Conversation: "c", Turn: turn, Call: turn, At: now.UnixNano(), Paths: []string{"a", "kept"}})
		require.NoError(t, err)
	}
	s := backup.New(o)
	records, err := s.Records()
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, []int{records[0].Turn, records[1].Turn})
	for _, r := range records {
		m, err := s.MomentOf(r)
		require.NoError(t, err)
		for _, e := range m.Entries {
			_, err := s.Blob(e.OID)
			require.NoError(t, err, e.Path)
		}
	}
	require.NoError(t, s.Forget(context.Background(), "c"))
	records, err = s.Records()
	require.NoError(t, err)
	require.Empty(t, records)
	packs, err := os.ReadDir(filepath.Join(o.Dir, "objects", "pack"))
	require.NoError(t, err)
	require.Empty(t, slices.Clone(packs))
}

func TestBudget(t *testing.T) {
	o := options(t)
	o.First = 10
	write(t, o, "small", "12345")
	write(t, o, "zlarger", "1234567890")
	m, err := backup.New(o).Make(context.Background(), backup.Request{Conversation: "c", Paths: []string{"small", "zlarger"}})
	require.NoError(t, err)
	require.Empty(t, m.Entries[0].Why)
	require.Equal(t, backup.WhyLimit, m.Entries[1].Why)
}
