package gitstore

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitcmd"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/gitenv"
	"jp/search"
)

func seal(parts ...[]byte) (code [sha256.Size]byte) {
	mac := hmac.New(sha256.New, []byte("k"))
	for _, p := range parts {
		mac.Write(p)
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// ids is the length of ids in the repositories of these tests.
var ids = idLen(gitcmd.ObjectFormat(gitenv.ObjectFormat()).Size())

func numberedRecord(n int, raw string) record {
	return record{ID: recordID{byte(n), byte(n >> 8), 1}, Raw: []byte(raw)}
}

func texts(l *commitLog) []string {
	all := []string{}
	for i := range l.Len() {
		all = append(all, string(l.Record(i).Raw))
	}
	return all
}

// write adds records to a file.
func write(t testing.TB, path string, raw ...string) {
	t.Helper()
	l := readCommitLog(path, nil, ids)
	for _, r := range raw {
		l.Add(numberedRecord(l.Len(), r))
	}
	require.NoError(t, l.Write(path))
}

func TestCommitLogGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "log")
	require.Zero(t, readCommitLog(path, nil, ids).Len())
	write(t, path, "one", "")
	write(t, path, "three")
	l := readCommitLog(path, nil, ids)
	require.Equal(t, []string{"one", "", "three"}, texts(l))
	require.Equal(t, 1, l.Index(numberedRecord(1, "").ID))
	require.Equal(t, -1, l.Index(numberedRecord(7, "").ID))

	l.Keep(1)
	l.Add(numberedRecord(9, "other"))
	require.Equal(t, []string{"one", "other"}, texts(l), "in memory")
	require.NoError(t, l.Write(path))
	require.Equal(t, []string{"one", "other"}, texts(readCommitLog(path, l.buffer(), ids)), "and in the file")
}

// TestCommitLogOfAnother reads a file of another kind, and of another version, as an empty log.
func TestCommitLogOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one", "two")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, magic := range []string{"jp-commits 1\n", "jp-words 5\n", ""} {
		data := append([]byte(magic), bytes.TrimPrefix(whole, []byte("jp-commits 2\n"))...)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		require.Zero(t, readCommitLog(path, nil, ids).Len(), magic)
	}
	write(t, path, "three")
	require.Equal(t, []string{"three"}, texts(readCommitLog(path, nil, ids)))
}

// TestCommitLogDamage cuts the file at every length, and changes every byte: the result is always a beginning,
// and can be extended.
func TestCommitLogDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one", "two", "three")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	want := texts(readCommitLog(path, nil, ids))
	check := func(data []byte, most int) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		l := readCommitLog(path, nil, ids)
		require.LessOrEqual(t, l.Len(), most)
		require.Equal(t, want[:l.Len()], texts(l))
		l.Add(numberedRecord(7, "more"))
		require.NoError(t, l.Write(path))
		require.Equal(t, append(want[:l.Len()-1:l.Len()-1], "more"), texts(readCommitLog(path, nil, ids)))
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

// TestCommitLogManyWriters lets several write one file: each reads a whole one.
func TestCommitLogManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var all []record
	for i := range 200 {
		all = append(all, numberedRecord(i, strings.Repeat(fmt.Sprint(i), 50)))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := 1; n <= len(all); n++ {
				l := readCommitLog(path, nil, ids)
				for i := range l.Len() {
					if r := l.Record(i); r.ID != all[i].ID || !bytes.Equal(r.Raw, all[i].Raw) {
						t.Errorf("record %d is another one", i)
					}
				}
				for _, r := range all[l.Len():max(n, l.Len())] {
					l.Add(r)
				}
				if err := l.Write(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 200, readCommitLog(path, nil, ids).Len(), "what each has written last")
}

func TestCommitLogFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "no RETRY here", "nothing", "retry retry", "")
	l := readCommitLog(path, nil, ids)
	for text, want := range map[string][2][]int{
		"retry": {{2}, {0, 2}}, "RETRY": {{0}, {0, 2}}, "Nothing": {{}, {1}}, "absent": {{}, {}}, "n": {{0, 1}, {0, 1}},
	} {
		require.Equal(t, want[0], l.Find([]search.Needle{search.NewNeedle(text, false)}), text)
		require.Equal(t, want[1], l.Find([]search.Needle{search.NewNeedle(text, true)}), text)
	}
	require.Equal(t, []int{1, 2}, l.Find([]search.Needle{search.NewNeedle("nothing", false), search.NewNeedle("retry", false)}))
}

// told are words of a log with some records.
func told(t testing.TB, dir string, marked bool, raw ...string) (w *wordIndex, words, log string) {
	t.Helper()
	words, log = filepath.Join(dir, "words"), filepath.Join(dir, "log")
	write(t, log, raw...)
	l := readCommitLog(log, nil, ids)
	w = newWordIndex(0, marked, ids, seal)
	for i := range l.Len() {
		w.AddRecord(l, l.Record(i).Raw)
	}
	return w, words, log
}

func TestWordIndex(t *testing.T) {
	for _, marked := range []bool{false, true} {
		w, path, _ := told(t, t.TempDir(), marked, "Cap the Retries", "no")
		_, _, ok := readWordIndex(path, nil, ids, seal)
		require.False(t, ok)
		require.True(t, w.fits(1<<18))
		require.False(t, w.fits(1<<19))
		require.Equal(t, numberedRecord(1, "").ID, w.Head)
		w.Text, w.Discards, w.First, w.Before = true, !marked, 1<<20, numberedRecord(9, "").ID
		w.Add([]byte("Of Zebras"))
		require.NoError(t, w.Write(path))

		got, _, ok := readWordIndex(path, nil, ids, seal)
		require.True(t, ok)
		require.Equal(t, marked, got.loadMarks(path))
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, got.Write(path))
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, again)) // Equal would print thousands of bytes
		for text, may := range map[string]bool{
			"retries": true, "RETRIES": true, "the r": true, "xy": true, "": true, "zebra": true, "xyz": false, "retry": false,
		} {
			require.Equal(t, may, got.may(text), text)
		}
		for text, may := range map[string]bool{"zebra": true, "ZEB": true, "retries": false} {
			require.Equal(t, may, got.mayAside(text), text)
		}
	}
}

// TestWordIndexDamage cuts the file at every length, and changes every byte: the result is either the written
// words, or nothing.
func TestWordIndexDamage(t *testing.T) {
	w, path, log := told(t, t.TempDir(), true, "Cap the Retries", "no", "retry")
	require.NoError(t, w.Write(path))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	good, _, ok := readWordIndex(path, nil, ids, seal)
	require.True(t, ok)
	check := func(data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o666))
		_, _, ok := good.where(path, []string{"retr"}, nil)
		require.False(t, ok && len(data) < len(whole), "the marks end early")
		got, _, ok := readWordIndex(path, nil, ids, seal)
		if !ok {
			return
		}
		_, _, ok = got.where(path, []string{"retr"}, nil)
		require.False(t, ok, "the marks were changed")
		require.False(t, got.loadMarks(path))
	}
	for n := range whole {
		if n > 256 && n < len(whole)-256 && n%64 > 0 {
			continue // within the filter of all, whose bytes are all alike
		}
		check(whole[:n])
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		check(changed)
	}
	check(append(bytes.Clone(whole), 0))
	require.NoError(t, os.WriteFile(path, whole, 0o666))
	require.Equal(t, []string{"Cap the Retries", "retry"}, picked(t, good, path, log, "retr"))
}

// TestHugeFiles reads files that claim more than any memory has.
func TestHugeFiles(t *testing.T) {
	w, path, log := told(t, t.TempDir(), true, "Cap the Retries")
	require.NoError(t, w.Write(path))
	for _, name := range []string{path, log} {
		if err := os.Truncate(name, 1<<42); err != nil {
			// Some file systems have no files with such holes.
			t.Skip("no file may be so large here: ", err)
		}
	}
	got, _, ok := readWordIndex(path, nil, ids, seal)
	require.True(t, ok)
	_, _, ok = got.where(path, []string{"retr"}, nil)
	require.False(t, ok)
	l := readCommitLog(log, nil, ids)
	require.Zero(t, l.Len())
	write(t, log, "one")
	require.Equal(t, []string{"one"}, texts(readCommitLog(log, nil, ids)))
}

// picked are the records in which one of the texts may stand.
func picked(t testing.TB, w *wordIndex, words, log string, texts ...string) []string {
	t.Helper()
	places, buffer, ok := w.where(words, texts, nil)
	require.True(t, ok)
	records, _, ok := pickRecords(log, places, buffer, ids)
	require.True(t, ok)
	all := []string{}
	for _, r := range records {
		all = append(all, string(r.Raw))
	}
	return all
}

func TestPickRecords(t *testing.T) {
	far := strings.Repeat("=", 20<<10)
	all := []string{"Cap the Retries", "no", far, "", "zebras", "x", far, "last retry"}
	w, path, log := told(t, t.TempDir(), true, all...)
	require.NoError(t, w.Write(path))
	for text, want := range map[string][]string{
		"retr":  {"Cap the Retries", "last retry"},
		"ZEBRA": {"zebras", "last retry"}, // the newest comes with any
		"====":  {far, far, "last retry"},
		"zebu":  {},
		"zzz":   all, // too short to be told
	} {
		require.Equal(t, want, picked(t, w, path, log, text), text)
	}
	require.Equal(t, []string{"Cap the Retries", "zebras", "last retry"}, picked(t, w, path, log, "retr", "zebra"))
	require.Empty(t, picked(t, w, path, log))
}

// TestPickFindsDamage changes and cuts a log: a record that differs from the one of the words is refused.
func TestPickFindsDamage(t *testing.T) {
	w, path, log := told(t, t.TempDir(), true, "Cap the Retries", "no", "last retry")
	require.NoError(t, w.Write(path))
	places, _, ok := w.where(path, []string{"retr"}, nil)
	require.True(t, ok)
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	no := bytes.Index(whole, []byte("no"))
	for n := range whole {
		require.NoError(t, os.WriteFile(log, whole[:n], 0o666))
		_, _, ok := pickRecords(log, places, nil, ids)
		require.False(t, ok, "%d bytes", n)
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		require.NoError(t, os.WriteFile(log, changed, 0o666))
		records, _, ok := pickRecords(log, places, nil, ids)
		between := n >= no-int(ids)-8 && n < no+2 || n < len("jp-commits 2\n") || isLength(whole, n)
		require.Equal(t, between, ok, "byte %d changed", n)
		if ok {
			require.Equal(t, []string{"Cap the Retries", "last retry"}, []string{string(records[0].Raw), string(records[1].Raw)})
		}
	}
	require.NoError(t, os.Remove(log))
	_, _, ok = pickRecords(log, places, nil, ids)
	require.False(t, ok)
}

// isLength reports whether a byte belongs to the length of a record, which is known
// from the words, too.
func isLength(log []byte, at int) bool {
	for _, raw := range []string{"Cap the Retries", "last retry"} {
		begin := bytes.Index(log, []byte(raw)) - 8
		if at >= begin && at < begin+4 {
			return true
		}
	}
	return false
}

// TestWordIndexNeverMiss holds that May is true for every part of an added text.
func TestWordIndexNeverMiss(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 5).Draw(r, "texts")
		w, path, log := told(t, t.TempDir(), true, texts...)
		require.NoError(r, w.Write(path))
		i := rapid.IntRange(0, len(texts)-1).Draw(r, "of")
		from := rapid.IntRange(0, len(texts[i])).Draw(r, "from")
		part := texts[i][from:rapid.IntRange(from, len(texts[i])).Draw(r, "to")]
		require.True(r, w.may(part))
		require.Contains(r, picked(t, w, path, log, part), texts[i])
	})
}

func FuzzCommitLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	write(f, path, "one", "two")
	seed, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte("jp-commits 2\n"))
	w, words, _ := told(f, f.TempDir(), true, "one", "two")
	require.NoError(f, w.Write(words))
	seed, err = os.ReadFile(words)
	require.NoError(f, err)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		l := readCommitLog(path, nil, ids)
		was := l.Len()
		if w, _, ok := readWordIndex(path, nil, ids, seal); ok {
			w.may("anything")
			if places, buffer, ok := w.where(path, []string{"anything"}, nil); ok {
				pickRecords(path, places, buffer, ids)
			}
		}
		l.Find([]search.Needle{search.NewNeedle("o", true)})
		l.Add(numberedRecord(3, "more"))
		require.NoError(t, l.Write(path))
		require.Equal(t, was+1, readCommitLog(path, nil, ids).Len())
	})
}
