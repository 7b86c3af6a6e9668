package gitstore_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
	"jp/search"
)

// said are events that say these texts, from a number on.
func said(from int, texts ...string) (events []*conversation.Event) {
	for i, text := range texts {
		events = append(events, event(from+i, &conversation.ChatRequest{Content: text}))
	}
	return events
}

func event(seq int, body conversation.Body) *conversation.Event {
	return &conversation.Event{Seq: seq, Turn: 1, Time: when, Body: body, Model: journaltest.Model}
}

// counted are n texts that begin alike.
func counted(word string, n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("%s %d.", word, i))
	}
	return texts
}

// forked makes a fork of a conversation at an event, which goes on with some texts.
func (f *fixture) forked(from, at, n int, texts ...string) conversation.Info {
	f.t.Helper()
	events, err := f.load(from)
	require.NoError(f.t, err)
	origin := event(at+1, &conversation.ForkOrigin{Conversation: journaltest.ID(from), Seq: at, Commit: events[at].Commit})
	origin.Model = fmt.Sprintf("model/%d", n) // each fork has a commit of its own
	head, err := f.Fork(f.t.Context(), journaltest.ID(from), conversation.Head(events[at].Commit), journaltest.ID(n), origin)
	require.NoError(f.t, err)
	_, err = f.Append(f.t.Context(), journaltest.ID(n), head, said(at+2, texts...))
	require.NoError(f.t, err)
	return f.info(n)
}

// point moves a conversation's ref, as a fetch does.
func (f *fixture) point(n int, commit string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(filepath.Join(f.dir, ".git", refs+string(journaltest.ID(n))), []byte(commit+"\n"), 0o666))
}

// finds are the lines that a search finds in each conversation, by ids.
func (f *fixture) finds(t require.TestingT, q *search.Query, scope conversation.Scope) map[string][]search.Line {
	infos, err := f.Candidates(f.t.Context(), scope, q.Prefilter())
	require.NoError(t, err)
	found := map[string][]search.Line{}
	for r := range search.Conversations(f.t.Context(), f.Store, infos, q) {
		require.NoError(t, r.Err)
		found[r.Info.Name()] = r.Lines
	}
	return found
}

// findsByLoading is finds without sidecars.
func (f *fixture) findsByLoading(t require.TestingT, q *search.Query, scope conversation.Scope) map[string][]search.Line {
	infos, err := f.List(f.t.Context(), scope)
	require.NoError(t, err)
	found := map[string][]search.Line{}
	for _, info := range infos {
		events, err := f.Load(f.t.Context(), info.Head)
		require.NoError(t, err)
		if lines := q.Lines(info.Summary.Title, events); len(lines) > 0 {
			found[info.Name()] = lines
		}
	}
	return found
}

func query(t require.TestingT, pattern string) *search.Query {
	q, err := search.Compile(search.Options{Patterns: []string{pattern}})
	require.NoError(t, err)
	return q
}

// commitsIn are the ids of the events that the cache has, each as often as it is there.
func (f *fixture) commitsIn() map[string]int {
	all := map[string]int{}
	for _, file := range must(filepath.Glob(filepath.Join(f.cache(), "*.commits"))) {
		log := gitstore.ReadCommitLog(file, nil, ids)
		for i := range log.Len() {
			id := log.ID(i)
			all[hex.EncodeToString(id[:ids])]++
		}
	}
	return all
}

// TestSearchOfForks searches conversations that become forks of each other, grow, go back and go away, with
// files of the cache missing or damaged: its results are those of reading all events.
func TestSearchOfForks(t *testing.T) {
	f := newFixture(t)
	rapid.Check(t, func(r *rapid.T) {
		defer gitstore.Segments(rapid.SampledFrom([]int{1, 2, 4}).Draw(r, "events of a segment"))()
		require.NoError(r, os.RemoveAll(filepath.Join(f.dir, ".git", "refs", "jp")))
		require.NoError(r, os.RemoveAll(f.cache()))
		s := &scenery{fixture: f}
		s.reopen(r)
		s.create(r)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			rapid.SampledFrom([]func(*rapid.T){
				s.create, s.grow, s.grow, s.discard, s.fork, s.fork, s.fork, s.rewind, s.move, s.copy, s.forget, s.damage, s.delete, s.reopen,
			}).Draw(r, "step")(r)
			q := query(r, rapid.SampledFrom(append([]string{"alphabet", "a", "(", "turn_discarded"}, words...)).Draw(r, "sought"))
			for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeRemotes} {
				require.Equal(r, s.findsByLoading(r, q, scope), s.finds(r, q, scope))
			}
		}
	})
}

var words = []string{"alpha", "beta", "gamma", "delta"}

// scenery has the conversations of a test, and the operations on them.
type scenery struct {
	*fixture
	made int
}

func (s *scenery) texts(r *rapid.T) []string {
	text := rapid.Custom(func(r *rapid.T) string {
		word := rapid.SampledFrom(words).Draw(r, "word")
		if rapid.IntRange(0, 30).Draw(r, "long") == 0 { // its end is in a payload
			return strings.Repeat("filling\n", 10_000) + word
		}
		return word + " and " + word
	})
	return rapid.SliceOfN(text, 1, 9).Draw(r, "texts")
}

func (s *scenery) any(r *rapid.T) (n int, events []*conversation.Event) {
	var there []int
	for n := range s.made {
		if _, err := s.Head(s.t.Context(), journaltest.ID(n+1)); err == nil {
			there = append(there, n+1)
		}
	}
	if len(there) == 0 {
		s.create(r)
		there = []int{s.made}
	}
	n = rapid.SampledFrom(there).Draw(r, "conversation")
	events, err := s.load(n)
	require.NoError(r, err)
	return n, events
}

func (s *scenery) create(r *rapid.T) {
	s.made++
	s.fixture.create(s.made, said(0, s.texts(r)...))
}

func (s *scenery) add(r *rapid.T, n int, to []*conversation.Event, more []*conversation.Event) {
	_, err := s.Append(s.t.Context(), journaltest.ID(n), conversation.Head(to[len(to)-1].Commit), more)
	require.NoError(r, err)
}

func (s *scenery) grow(r *rapid.T) {
	n, events := s.any(r)
	s.add(r, n, events, said(len(events), s.texts(r)...))
}

func (s *scenery) discard(r *rapid.T) {
	n, events := s.any(r)
	from := rapid.IntRange(0, len(events)-1).Draw(r, "from")
	to := rapid.IntRange(from, len(events)-1).Draw(r, "to")
	s.add(r, n, events, []*conversation.Event{event(len(events), &conversation.TurnDiscarded{FromSeq: from, ToSeq: to, By: conversation.ByUser})})
}

func (s *scenery) fork(r *rapid.T) {
	n, events := s.any(r)
	s.made++
	s.forked(n, rapid.IntRange(0, len(events)-1).Draw(r, "at"), s.made, s.texts(r)...)
}

func (s *scenery) rewind(r *rapid.T) {
	n, events := s.any(r)
	s.point(n, rapid.SampledFrom(events).Draw(r, "to").Commit)
}

// move gives a conversation another history.
func (s *scenery) move(r *rapid.T) {
	n, _ := s.any(r)
	_, other := s.any(r)
	s.point(n, rapid.SampledFrom(other).Draw(r, "to").Commit)
}

// copy is a fetch of another repository's.
func (s *scenery) copy(r *rapid.T) {
	n, events := s.any(r)
	path := filepath.Join(s.dir, ".git", "refs", "jp", "remotes", "origin", string(journaltest.ID(n)))
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(r, os.WriteFile(path, []byte(rapid.SampledFrom(events).Draw(r, "to").Commit+"\n"), 0o666))
}

// file is one of the cache's, "" if there is none.
func (s *scenery) file(r *rapid.T) string {
	files := must(filepath.Glob(filepath.Join(s.cache(), "*")))
	if len(files) == 0 {
		return ""
	}
	return rapid.SampledFrom(files).Draw(r, "file")
}

func (s *scenery) forget(r *rapid.T) {
	if file := s.file(r); file != "" {
		require.NoError(r, os.Remove(file))
	}
}

func (s *scenery) damage(r *rapid.T) {
	file := s.file(r)
	if file == "" {
		return
	}
	data := must(os.ReadFile(file))
	if rapid.Bool().Draw(r, "swap") { // a file of another segment in its place
		data = must(os.ReadFile(s.file(r)))
	} else if at := rapid.IntRange(0, len(data)-1).Draw(r, "at"); rapid.Bool().Draw(r, "cut") {
		data = data[:at]
	} else {
		data[at] ^= 1
	}
	require.NoError(r, os.WriteFile(file, data, 0o666))
}

func (s *scenery) delete(r *rapid.T) {
	n, events := s.any(r)
	require.NoError(r, s.Delete(s.t.Context(), journaltest.ID(n), conversation.Head(events[len(events)-1].Commit)))
}

// reopen continues as another process, with empty caches.
func (s *scenery) reopen(r *rapid.T) { s.fixture = s.again() }

// TestForksShareSegments keeps each event of ten forks once, but for those behind the last
// segment, and reads the files of a segment for one of the forks only.
func TestForksShareSegments(t *testing.T) {
	defer gitstore.Segments(4)()
	f := newFixture(t)
	f.create(1, said(0, counted("first", 22)...))
	for n := range 9 {
		f.forked(1, 2*n+4, n+2, "last of "+fmt.Sprint(n))
	}
	loaded, err := f.load(1)
	require.NoError(t, err)
	for _, store := range []*fixture{f, f.again(), f.again()} { // the first search, the second and those after it
		found := store.finds(t, query(t, "first 3."), conversation.ScopeLive)
		require.Len(t, found, 10)
		for name, lines := range found {
			require.Equal(t, loaded[3].Commit, lines[0].Commit, name)
		}
		have := f.commitsIn()
		for _, e := range loaded[:20] {
			require.LessOrEqual(t, have[e.Commit], 3, "event %d: once, and in forks that leave its segment", e.Seq)
		}
		require.Equal(t, 1, have[loaded[3].Commit])
	}
	require.Len(t, must(filepath.Glob(filepath.Join(f.cache(), "*"))), 2*(10+5+4), "each newest one, and those of the forks that end one themselves")

	// One search looks at shared segments once: the files may go in between.
	infos, err := f.Candidates(t.Context(), conversation.ScopeLive, query(t, "first 3.").Prefilter())
	require.NoError(t, err)
	for _, info := range infos {
		events, err := f.Scan(t.Context(), info, query(t, "first 3.").Prefilter())
		require.NoError(t, err)
		require.Equal(t, []int{3}, numbers(events))
		require.NoError(t, os.RemoveAll(f.cache()))
	}
	require.NoFileExists(t, f.cache())
}

// TestForksAreSearchedAtOnce has several processes search forks for the first time.
func TestForksAreSearchedAtOnce(t *testing.T) {
	defer gitstore.Segments(4)()
	f := newFixture(t)
	f.create(1, said(0, counted("first", 50)...))
	for n := range 8 {
		f.forked(1, 49-5*n, n+2, "last")
	}
	q := query(t, "first 4.")
	done := make(chan map[string][]search.Line)
	for range 4 {
		other := f.again()
		go func() { done <- other.finds(t, q, conversation.ScopeLive) }()
	}
	want := f.findsByLoading(t, q, conversation.ScopeLive)
	for range 4 {
		require.Equal(t, want, <-done)
	}
}

// TestSegmentsAreMadeAgain damages each file of a fork's, and removes it.
func TestSegmentsAreMadeAgain(t *testing.T) {
	defer gitstore.Segments(2)()
	f := newFixture(t)
	f.create(1, said(0, counted("first", 5)...))
	fork := f.forked(1, 4, 2, "last")
	search := func() {
		t.Helper()
		require.Equal(t, []int{1}, f.sifted(fork, false, "first 1."))
		require.Equal(t, []int{6}, f.sifted(fork, false, "last"))
		require.Empty(t, f.sifted(fork, false, "absent"))
	}
	search()
	files := must(filepath.Glob(filepath.Join(f.cache(), "*")))
	require.Len(t, files, 2*4)
	whole := map[string][]byte{}
	for _, path := range files {
		whole[path] = must(os.ReadFile(path))
	}
	for _, path := range files {
		data := whole[path]
		for n := 0; n < len(data); n += 1 + len(data)/23 {
			changed := slices.Clone(data)
			changed[n] ^= 0x10
			for _, data := range [][]byte{data[:n], changed, append(slices.Clone(data), "rubbish"...)} {
				require.NoError(t, os.WriteFile(path, data, 0o666))
				search()
			}
		}
		require.NoError(t, os.Remove(path))
		search()
		for _, other := range files { // of another segment
			require.NoError(t, os.WriteFile(path, whole[other], 0o666))
			search()
		}
		require.NoError(t, os.WriteFile(path, data, 0o666))
	}
}

// TestSidecarsOfBefore replaces the files of an earlier version.
func TestSidecarsOfBefore(t *testing.T) {
	defer gitstore.Segments(2)()
	f := newFixture(t)
	info := f.told(1, "one", "two", "three")
	path := filepath.Join(f.cache(), string(info.ID))
	events, err := f.load(1)
	require.NoError(t, err)
	whole := gitstore.NewCommitLog(nil, ids)
	for _, e := range events {
		id := must(hex.DecodeString(e.Commit))
		whole.Add(gitstore.Record{ID: gitstore.RecordID(append(id, make([]byte, len(gitstore.RecordID{})-len(id))...)), Raw: f.raw(e.Commit)})
	}
	require.NoError(t, whole.Write(path+".commits"))
	for _, magic := range []string{"jp-commits 1\n", "jp-commits 2\n"} { // and one without segments
		data := must(os.ReadFile(path + ".commits"))
		require.NoError(t, os.WriteFile(path+".commits", append([]byte(magic), data[len(magic):]...), 0o666))
		require.NoError(t, os.WriteFile(path+".words", []byte("jp-words 4\n"+strings.Repeat("x", 9000)), 0o666))
		require.Equal(t, []int{3}, f.sifted(info, false, "two"))
		require.Equal(t, 2, gitstore.ReadCommitLog(path+".commits", nil, ids).Len())
		require.Len(t, must(filepath.Glob(filepath.Join(f.cache(), "*"))), 2*3)
		require.NoError(t, whole.Write(path+".commits"))
	}
}

// TestDeleteOfAFork removes the texts that only the deleted conversation has, also of a state before a
// fetch moved its ref.
func TestDeleteOfAFork(t *testing.T) {
	defer gitstore.Segments(2)()
	search := func(t *testing.T, f *fixture) {
		q := query(t, "first")
		require.Equal(t, f.findsByLoading(t, q, conversation.ScopeLive), f.finds(t, q, conversation.ScopeLive))
	}
	remove := func(t *testing.T, f *fixture, n int) {
		require.NoError(t, f.Delete(t.Context(), journaltest.ID(n), f.info(n).Head))
	}
	for name, steps := range map[string]func(t *testing.T, f *fixture){
		"the fork":   func(t *testing.T, f *fixture) { remove(t, f, 2) },
		"the source": func(t *testing.T, f *fixture) { remove(t, f, 1) },
		"both":       func(t *testing.T, f *fixture) { remove(t, f, 1); remove(t, f, 2) },
		"one that was never searched": func(t *testing.T, f *fixture) {
			f.create(4, said(0, "first of all"))
			remove(t, f, 4)
		},
		"one whose words are gone": func(t *testing.T, f *fixture) {
			require.NoError(t, os.Remove(filepath.Join(f.cache(), string(journaltest.ID(1))+".words")))
			remove(t, f, 1)
			remove(t, f, 2)
		},
		"one that lacks a segment": func(t *testing.T, f *fixture) {
			events := must(f.load(1))
			require.NoError(t, os.Remove(filepath.Join(f.cache(), events[3].Commit+".words")))
			remove(t, f, 1)
		},
		"one that went back": func(t *testing.T, f *fixture) {
			f.point(1, must(f.load(1))[1].Commit)
			remove(t, f, 1)
		},
		"one that was searched after it went back": func(t *testing.T, f *fixture) {
			f.point(1, must(f.load(1))[1].Commit)
			search(t, f)
			remove(t, f, 1)
		},
		"one whose words were cut before it went back": func(t *testing.T, f *fixture) {
			require.NoError(t, os.Truncate(filepath.Join(f.cache(), string(journaltest.ID(1))+".words"), 0))
			f.point(1, must(f.load(1))[1].Commit)
			search(t, f)
			other := f.again()
			require.NoError(t, other.Delete(t.Context(), journaltest.ID(1), f.info(1).Head))
			require.NoError(t, other.Close())
		},
		"one of which a kill left an unfinished file": func(t *testing.T, f *fixture) {
			require.NoError(t, os.WriteFile(filepath.Join(f.cache(), ".new-1"), []byte("first"), 0o600))
			remove(t, f, 1)
			require.NoFileExists(t, filepath.Join(f.cache(), ".new-1"))
		},
		"one that got another history": func(t *testing.T, f *fixture) {
			f.point(1, must(f.load(3))[4].Commit)
			search(t, f)
			remove(t, f, 1)
		},
		"one that grew": func(t *testing.T, f *fixture) {
			events := must(f.load(1))
			must(f.Append(t.Context(), journaltest.ID(1), conversation.Head(events[len(events)-1].Commit), said(len(events), counted("first", 6)...)))
			search(t, f)
			remove(t, f, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.create(1, said(0, counted("first", 8)...))
			f.forked(1, 4, 2, "last")
			f.create(3, said(0, counted("other", 5)...))
			search(t, f)
			steps(t, f)
			left := map[string]bool{}
			for n := range 3 {
				events, _ := f.loadIfThere(n + 1)
				for _, e := range events {
					left[e.Commit] = true
				}
			}
			for commit := range f.commitsIn() {
				require.True(t, left[commit], "%s: %.60s", commit, f.raw(commit))
			}
			search(t, f)
		})
	}
}

// loadIfThere is load of a conversation that may be gone.
func (f *fixture) loadIfThere(n int) ([]*conversation.Event, error) {
	head, err := f.Head(context.Background(), journaltest.ID(n))
	if err != nil {
		return nil, err
	}
	return f.Load(context.Background(), head)
}

// TestSegmentsAboveDamage finds the events above a damaged one that a load finds, and names the damage.
func TestSegmentsAboveDamage(t *testing.T) {
	defer gitstore.Segments(2)()
	f := newFixture(t)
	f.create(1, said(0, counted("first", 8)...))
	info := f.info(1)
	lost := must(f.load(1))[3].Commit
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git", "objects", lost[:2], lost[2:])))
	for range 3 {
		other := f.again()
		events, err := other.Scan(t.Context(), info, conversation.Prefilter{Any: []string{"first 1."}})
		require.ErrorIs(t, err, conversation.ErrDamaged)
		same, loadErr := other.Load(t.Context(), info.Head)
		require.Equal(t, loadErr.Error(), err.Error())
		require.Equal(t, numbers(same), numbers(events))
		candidates, err := other.Candidates(t.Context(), conversation.ScopeLive, conversation.Prefilter{Any: []string{"absent"}})
		require.NoError(t, err)
		require.Len(t, candidates, 1, "it must be said that it is damaged")
	}
}

// TestSegmentsBound removes segments beyond the limit, and makes them again.
func TestSegmentsBound(t *testing.T) {
	defer gitstore.Segments(2)()
	f := newFixture(t)
	f.BoundCache(100 << 10)
	var texts []string
	for _, text := range counted("first", 30) {
		texts = append(texts, text+strings.Repeat(" much", 2_000))
	}
	f.create(1, said(0, texts...))
	f.forked(1, 21, 2, "last")
	q := query(t, "first 7.")
	want := f.findsByLoading(t, q, conversation.ScopeLive)
	for range 3 {
		require.Equal(t, want, f.finds(t, q, conversation.ScopeLive))
		size := f.CacheSize()
		require.LessOrEqual(t, size.Bytes, size.Limit)
	}
}

// TestTransientSearchOfForks writes nothing.
func TestTransientSearchOfForks(t *testing.T) {
	defer gitstore.Segments(2)()
	f := newFixture(t)
	f.create(1, said(0, counted("first", 9)...))
	f.forked(1, 6, 2, "last")
	f.Transient()
	q := query(t, "first 2.")
	require.Equal(t, f.findsByLoading(t, q, conversation.ScopeLive), f.finds(t, q, conversation.ScopeLive))
	require.NoFileExists(t, f.cache())
}

// FuzzSegment has anything in the place of a segment's files.
func FuzzSegment(f *testing.F) {
	defer gitstore.Segments(2)()
	fix := newFixture(f)
	fix.create(1, said(0, counted("first", 5)...))
	q := query(f, "first 1.")
	want := fix.findsByLoading(f, q, conversation.ScopeLive)
	for range 2 {
		require.Equal(f, want, fix.finds(f, q, conversation.ScopeLive))
	}
	files := must(filepath.Glob(filepath.Join(fix.cache(), "*")))
	for i, path := range files {
		f.Add(must(os.ReadFile(path)), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, i int) {
		path := files[(i%len(files)+len(files))%len(files)]
		require.NoError(t, os.WriteFile(path, data, 0o666))
		for range 2 {
			require.Equal(t, want, (&fixture{fix.Store, t, fix.dir}).finds(t, q, conversation.ScopeLive))
		}
	})
}
