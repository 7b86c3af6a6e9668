package gitstore_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

// told makes a conversation of requests, one turn each.
func (f *fixture) told(n int, texts ...string) conversation.Info {
	f.t.Helper()
	f.create(n, turns(f.t, texts...))
	return f.info(n)
}

// turns are requests without answers: a turn_start and a request for each text.
func turns(t testing.TB, texts ...string) []*conversation.Event {
	s := journaltest.NewScript(t)
	for _, text := range texts {
		s.Turn(text)
	}
	return s.Events()
}

// must is the value of a call that succeeds.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (f *fixture) info(n int) conversation.Info {
	f.t.Helper()
	info, err := f.Info(f.t.Context(), journaltest.ID(n))
	require.NoError(f.t, err)
	return info
}

// sifted are the numbers of the events that a prefilter passes: at first, when that makes
// marks, and by them.
func (f *fixture) sifted(of conversation.Info, fold bool, texts ...string) []int {
	f.t.Helper()
	scan := func() []*conversation.Event {
		events, err := f.Scan(f.t.Context(), of, conversation.Prefilter{Any: texts, Fold: fold})
		require.NoError(f.t, err)
		return events
	}
	events := scan()
	for range 2 {
		require.Equal(f.t, events, scan())
	}
	return numbers(events)
}

func numbers(events []*conversation.Event) []int {
	seqs := []int{}
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func (f *fixture) cache() string { return filepath.Join(f.dir, ".git", "jp", "cache") }

func TestSift(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "Cap the retries", "See RETRY.go", strings.Repeat("filling\n", 10_000)+"needle")
	for range 2 {
		require.Equal(t, []int{1, 5}, f.sifted(info, false, "Cap the"), "and what stands in a payload")
		require.Equal(t, []int{1, 3, 5}, f.sifted(info, true, "retr"))
		require.Equal(t, []int{1, 5}, f.sifted(info, false, "retries", "absent"))
		require.Equal(t, []int{5}, f.sifted(info, false, "absent"))
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, f.sifted(info, false))
	}
	events, err := f.Scan(t.Context(), info, conversation.Prefilter{Any: []string{"absent"}})
	require.NoError(t, err)
	loaded, err := f.Load(t.Context(), info.Head)
	require.NoError(t, err)
	require.Equal(t, loaded[5], events[0], "with all of its text")
}

func TestSiftWithoutPayload(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two")
	require.Empty(t, f.sifted(info, false, "absent"))
	require.Empty(t, f.sifted(info, false, "absent"))
	require.Equal(t, []int{3}, f.sifted(info, false, "two"))
}

// TestSiftPassesDiscards keeps a discard beside the turn that it takes back.
func TestSiftPassesDiscards(t *testing.T) {
	f := newFixture(t)
	events := turns(t, "one", "two")
	last := *events[3]
	last.Seq, last.Body = 4, &conversation.TurnDiscarded{FromSeq: 2, ToSeq: 3, By: conversation.ByUser}
	f.create(1, append(events, &last))
	require.Equal(t, []int{3, 4}, f.sifted(f.info(1), false, "two"))
}

func TestSiftFollowsTheRef(t *testing.T) {
	f := newFixture(t)
	was := f.told(1, "one", "two", "three")
	require.Equal(t, []int{5}, f.sifted(was, false, "three"))

	// Longer: another process went on.
	_, err := f.Append(t.Context(), was.ID, was.Head, turns(t, "one", "two", "three", "four")[6:])
	require.NoError(t, err)
	require.Equal(t, []int{7}, f.sifted(f.info(1), false, "four"))
	require.Empty(t, f.sifted(was, false, "four"), "as it was")
	require.Equal(t, []int{5}, f.sifted(was, false, "three"))

	// Another history: fetched, or moved by hand.
	other := f.told(2, "uno", "due")
	f.git("update-ref", "refs/jp/conversations/"+string(journaltest.ID(1)), string(other.Head))
	require.Equal(t, []int{3}, f.again().sifted(f.again().info(1), false, "due"))
	require.Empty(t, f.again().sifted(f.again().info(1), false, "three"))

	// And back, shorter.
	f.git("update-ref", "refs/jp/conversations/"+string(journaltest.ID(1)), string(was.Head))
	require.Equal(t, []int{5}, f.again().sifted(f.again().info(1), false, "three"))
	require.Empty(t, f.again().sifted(f.again().info(1), false, "four"))
}

// TestSiftOfSegments repeats these tests for conversations of several segments.
func TestSiftOfSegments(t *testing.T) {
	for _, events := range []int{1, 2, 3} {
		restore := gitstore.Segments(events)
		for name, test := range map[string]func(*testing.T){
			"texts": TestSift, "payload": TestSiftWithoutPayload, "the ref": TestSiftFollowsTheRef, "discards": TestSiftPassesDiscards,
			"processes":  TestSiftManyProcesses,
			"candidates": TestCandidates, "candidates are sifted": TestCandidatesAreSifted,
		} {
			t.Run(fmt.Sprintf("%s, of %d events", name, events), test)
		}
		restore()
	}
}

// TestSiftAfterDamage breaks the sidecars in every way: the answer stays.
func TestSiftAfterDamage(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two", "three")
	f.sifted(info, false, "one")
	files, err := filepath.Glob(filepath.Join(f.cache(), "*"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, path := range files {
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := 0; n < len(whole); n += 1 + len(whole)/97 {
			changed := slices.Clone(whole)
			changed[n] ^= 0x10
			for _, data := range [][]byte{whole[:n], changed, append(slices.Clone(whole), "rubbish"...)} {
				require.NoError(t, os.WriteFile(path, data, 0o666))
				require.Equal(t, []int{3}, f.sifted(info, false, "two"), "%s byte %d", filepath.Base(path), n)
				require.Empty(t, f.sifted(info, false, "absent"))
			}
		}
		require.NoError(t, os.Remove(path))
		require.Equal(t, []int{3}, f.sifted(info, false, "two"))
	}
	require.NoError(t, os.RemoveAll(f.cache()))
	require.NoError(t, os.WriteFile(f.cache(), nil, 0o666), "nowhere to keep it")
	require.Contains(t, f.sifted(info, false, "two"), 3)
}

// TestSiftFollowsNoLink follows no link in place of a folder or a file, and does not wait for a pipe.
func TestSiftFollowsNoLink(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two")
	elsewhere := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Dir(f.cache()), 0o777))
	require.NoError(t, os.Symlink(elsewhere, f.cache()))
	require.Contains(t, f.sifted(info, false, "two"), 3)
	require.Empty(t, must(os.ReadDir(elsewhere)))

	require.NoError(t, os.Remove(f.cache()))
	require.NoError(t, os.Mkdir(f.cache(), 0o777))
	target := filepath.Join(elsewhere, "target")
	require.NoError(t, os.WriteFile(target, []byte("jp-commits 2\n"), 0o666))
	require.NoError(t, os.Symlink(target, filepath.Join(f.cache(), string(info.ID)+".commits")))
	require.NoError(t, unix.Mkfifo(filepath.Join(f.cache(), string(info.ID)+".words"), 0o666))
	require.Equal(t, []int{3}, f.sifted(info, false, "two"))
	require.Equal(t, "jp-commits 2\n", string(must(os.ReadFile(target))))
	require.Equal(t, []int{3}, f.sifted(info, false, "two"))
}

// TestSiftOfForgedRecord puts another commit under an event's id, with the right checksum. The search does
// not believe it.
func TestSiftOfForgedRecord(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two")
	f.sifted(info, false, "one")
	path := filepath.Join(f.cache(), string(info.ID)+".commits")
	log := gitstore.ReadCommitLog(path, nil, ids)
	last := log.Record(log.Len() - 1)
	last.Raw = bytes.ReplaceAll(last.Raw, []byte("two"), []byte("owt"))
	log.Keep(log.Len() - 1)
	log.Add(last)
	require.NoError(t, log.Write(path))
	require.NoError(t, os.Remove(filepath.Join(f.cache(), string(info.ID)+".words")))
	events, err := f.Scan(t.Context(), info, conversation.Prefilter{Any: []string{"owt"}})
	require.NoError(t, err)
	for _, e := range events {
		text, _ := e.Text()
		require.NotContains(t, text, "owt")
	}
}

// TestSiftReadsWhatMayPass damages an event in the sidecar. A search that does not need it goes on without
// it, and the next one that needs it makes it anew.
func TestSiftReadsWhatMayPass(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first", "second", "third")
	require.Equal(t, []int{1}, f.sifted(info, false, "first"))
	path := filepath.Join(f.cache(), string(info.ID))
	words, _, ok := gitstore.ReadWordIndex(path+".words", nil, ids, seal)
	require.True(t, ok && words.Marked)

	log, err := os.ReadFile(path + ".commits")
	require.NoError(t, err)
	at := bytes.Index(log, []byte("second"))
	require.Positive(t, at)
	log[at] = 'S'
	require.NoError(t, os.WriteFile(path+".commits", log, 0o666))
	require.Equal(t, []int{5}, f.sifted(info, false, "third"))
	require.Equal(t, log, must(os.ReadFile(path+".commits")))
	require.Equal(t, []int{3}, f.sifted(info, false, "second"))
	require.NotEqual(t, log, must(os.ReadFile(path+".commits")))
}

// TestSiftOfAGap takes a record out of the sidecar, and has one twice: each is whole, and together they
// differ from the conversation.
func TestSiftOfAGap(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first", "second", "third")
	path := filepath.Join(f.cache(), string(info.ID))
	for _, order := range [][]int{{0, 1, 2, 4, 5}, {0, 1, 2, 3, 3, 4, 5}, {1, 2, 3, 4, 5}, {5}, {0, 2, 1, 3, 4, 5}} {
		require.Equal(t, []int{3}, f.sifted(info, false, "second"))
		whole := gitstore.ReadCommitLog(path+".commits", nil, ids)
		log := gitstore.NewCommitLog(nil, ids)
		for _, i := range order {
			log.Add(whole.Record(i))
		}
		require.NoError(t, log.Write(path+".commits"))
		require.NoError(t, os.Remove(path+".words"))
		for text, seq := range map[string]int{"second": 3, "third": 5, "first": 1} {
			require.Equal(t, []int{seq}, f.sifted(info, false, text), "%v: %s", order, text)
		}
		require.Equal(t, 6, gitstore.ReadCommitLog(path+".commits", nil, ids).Len())
	}
}

// TestSiftMendsMarks makes marks anew that are damaged.
func TestSiftMendsMarks(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first", "second")
	f.sifted(info, false, "first")
	path := filepath.Join(f.cache(), string(info.ID)+".words")
	whole := must(os.ReadFile(path))
	damaged := slices.Clone(whole)
	damaged[len(damaged)-40] ^= 1
	require.NoError(t, os.WriteFile(path, damaged, 0o666))
	require.Equal(t, []int{3}, f.sifted(info, false, "second"))
	require.Equal(t, whole, must(os.ReadFile(path)))
}

// TestSiftGoesOnWithMarks adds later events to the marks.
func TestSiftGoesOnWithMarks(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first", "second")
	f.sifted(info, false, "first")
	_, err := f.Append(t.Context(), info.ID, info.Head, turns(t, "first", "second", "third")[4:])
	require.NoError(t, err)
	filter := conversation.Prefilter{Any: []string{"third"}}
	events, err := f.Scan(t.Context(), f.info(1), filter)
	require.NoError(t, err)
	require.Equal(t, []int{5}, numbers(events))
	words, _, ok := gitstore.ReadWordIndex(filepath.Join(f.cache(), string(info.ID)+".words"), nil, ids, seal)
	require.True(t, ok && words.Marked)
	require.Equal(t, 6, words.Len())
	for text, seq := range map[string]int{"first": 1, "second": 3, "third": 5} {
		require.Equal(t, []int{seq}, f.sifted(f.info(1), false, text))
	}
}

func TestSiftOfADamagedConversation(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two", "three")
	loaded, err := f.Load(t.Context(), info.Head)
	require.NoError(t, err)
	lost := loaded[3].Commit
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git", "objects", lost[:2], lost[2:])))
	events, err := f.again().Scan(t.Context(), info, conversation.Prefilter{Any: []string{"one"}})
	require.ErrorIs(t, err, conversation.ErrDamaged)
	same, loadErr := f.again().Load(t.Context(), info.Head)
	require.Equal(t, loadErr.Error(), err.Error())
	require.Equal(t, numbers(same), numbers(events))
	entries, _ := os.ReadDir(f.cache())
	require.Empty(t, entries)
}

func TestSiftOfOthers(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two")
	f.git("update-ref", "refs/jp/remotes/origin/"+string(info.ID), string(info.Head))
	f.git("update-ref", "refs/jp/remotes/up/stream/"+string(info.ID), string(info.Head))
	f.git("update-ref", "refs/jp/remotes/origin/notes", string(info.Head))
	infos, err := f.List(t.Context(), conversation.ScopeRemotes)
	require.NoError(t, err)
	require.Len(t, infos, 2)
	heads, err := f.Heads(conversation.ScopeRemotes)
	require.NoError(t, err)
	require.Equal(t, conversation.Info{ID: info.ID, Remote: "up/stream", Ref: "refs/jp/remotes/up/stream/" + string(info.ID), Head: info.Head}, heads[1])
	for _, i := range infos {
		require.Equal(t, []int{3}, f.sifted(i, false, "two"))
	}
	require.Len(t, must(os.ReadDir(f.cache())), 4)
}

func TestSiftAfterDelete(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one", "two")
	other := f.told(2, "three")
	f.sifted(info, false, "two")
	f.sifted(other, false, "two")
	require.NoError(t, f.Delete(t.Context(), info.ID, info.Head))
	for _, e := range must(os.ReadDir(f.cache())) {
		require.True(t, strings.HasPrefix(e.Name(), string(other.ID)), "%s is left", e.Name())
	}
}

// TestSiftBound keeps all sidecars together below a size, and whole ones.
func TestSiftBound(t *testing.T) {
	f := newFixture(t)
	f.BoundCache(200 << 10)
	for n := range 6 {
		info := f.told(n+1, strings.Repeat("much ", 10_000), "little")
		require.Equal(t, []int{3}, f.sifted(info, false, "little"))
	}
	size := f.CacheSize()
	require.LessOrEqual(t, size.Bytes, size.Limit)
	require.Positive(t, size.Bytes)
	files := map[string]int{}
	for _, e := range must(os.ReadDir(f.cache())) {
		name, _, _ := strings.Cut(e.Name(), ".")
		files[name]++
	}
	require.Equal(t, 2, files[string(journaltest.ID(6))], "the one just written")
	for name, n := range files {
		require.Equal(t, 2, n, name)
	}
}

// TestSiftBeyondTheBound searches a little more than fits, again and again: most of it
// is still there.
func TestSiftBeyondTheBound(t *testing.T) {
	f := newFixture(t)
	var infos []conversation.Info
	for n := range 24 {
		infos = append(infos, f.told(n+1, strings.Repeat("much ", 2_000), "little"))
	}
	search := func() (missing int) {
		for _, info := range infos {
			if _, err := os.Stat(filepath.Join(f.cache(), string(info.ID)+".commits")); err != nil {
				missing++
			}
			require.Equal(t, []int{3}, f.sifted(info, false, "little"))
		}
		return missing
	}
	search()
	fits := f.CacheSize().Bytes * 11 / 12
	require.NoError(t, os.RemoveAll(f.cache()))
	f.BoundCache(fits)
	search()
	missing, rounds := 0, 40
	for range rounds {
		missing += search()
	}
	require.Less(t, missing, rounds*len(infos)/3)
	require.Positive(t, missing, "all of it fits")
}

// Many processes that each write little look at the size of all now and then.
func TestSiftBoundOfMany(t *testing.T) {
	looked := 0
	for range 2000 {
		if gitstore.FirstBound()+gitstore.BoundAfter/10 >= gitstore.BoundAfter {
			looked++
		}
	}
	require.InDelta(t, 200, looked, 100)
}

func TestSiftManyProcesses(t *testing.T) {
	f := newFixture(t)
	texts := []string{}
	for n := range 30 {
		texts = append(texts, fmt.Sprintf("request number %d.", n))
	}
	info := f.told(1, texts...)
	var wg sync.WaitGroup
	for range 4 {
		other := f.again()
		wg.Go(func() {
			for n := range 30 {
				events, err := other.Scan(t.Context(), info, conversation.Prefilter{Any: []string{fmt.Sprintf("number %d.", n)}})
				if err != nil || len(events) != 1 || events[0].Seq != 2*n+1 {
					t.Errorf("request %d: %v %v", n, numbers(events), err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSiftIsALoad holds that a search loses nothing: an event that holds a text is among those that pass a
// prefilter for a part of it.
func TestSiftIsALoad(t *testing.T) {
	f := newFixture(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-cA-C" \n{}é]{1,12}`), 1, 5).Draw(r, "texts")
		for i := range texts {
			texts[i] += "."
		}
		info := f.told(n, texts...)
		text := rapid.StringMatching(`[a-cA-C ]{1,4}`).Draw(r, "sought")
		fold := rapid.Bool().Draw(r, "fold")
		got := f.sifted(info, fold, text)
		for i, t := range texts {
			if strings.Contains(t, text) || fold && strings.Contains(strings.ToLower(t), strings.ToLower(text)) {
				require.Contains(r, got, 2*i+1)
			}
		}
		candidates, err := f.Candidates(f.t.Context(), conversation.ScopeLive, conversation.Prefilter{Any: []string{text}, Fold: fold})
		require.NoError(r, err)
		if !slices.ContainsFunc(candidates, func(c conversation.Info) bool { return c.ID == info.ID }) {
			require.Empty(r, got)
			require.NotContains(r, info.Summary.Title, text)
		}
		require.Equal(r, got, f.sifted(info, fold, text), "again")
	})
}

// TestForgedSidecars has the files of a search by another key, which say that the conversation is empty.
// The search finds its texts.
func TestForgedSidecars(t *testing.T) {
	other := func(parts ...[]byte) [sha256.Size]byte { return sha256.Sum256(bytes.Join(parts, nil)) }
	forgeWords := func(path string) error {
		log := gitstore.ReadCommitLog(path+".commits", nil, ids)
		w := gitstore.NewWordIndex(log.Size(), true, ids, other)
		for range log.Len() {
			w.AddRecord(log) // with no searchable text
		}
		return w.Write(path + ".words")
	}
	forgeLog := func(path string) error {
		log, forged := gitstore.ReadCommitLog(path+".commits", nil, ids), gitstore.NewCommitLog(nil, ids)
		for i := range log.Len() {
			r := log.Record(i)
			forged.Add(gitstore.Record{ID: r.ID, Raw: bytes.ReplaceAll(bytes.Clone(r.Raw), []byte("needle"), []byte("nothin"))})
		}
		return forged.Write(path + ".commits")
	}
	for name, forge := range map[string][]func(string) error{"words": {forgeWords}, "commits": {forgeLog}, "both": {forgeWords, forgeLog}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			info := f.told(1, "first", "a needle", "third")
			require.Equal(t, []int{3}, f.sifted(info, false, "needle"))
			for _, forges := range forge {
				require.NoError(t, forges(filepath.Join(f.cache(), string(info.ID))))
			}
			require.Equal(t, []int{3}, f.again().sifted(info, false, "needle"))
		})
	}
}
