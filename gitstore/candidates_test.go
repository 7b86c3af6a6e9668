package gitstore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// candidates are the numbers of the conversations that a prefilter leaves, in this store and in a fresh
// one.
func (f *fixture) candidates(fold bool, texts ...string) []conversation.ID {
	f.t.Helper()
	found := f.candidatesOnce(fold, texts...)
	require.Equal(f.t, found, f.again().candidatesOnce(fold, texts...))
	return found
}

func (f *fixture) candidatesOnce(fold bool, texts ...string) []conversation.ID {
	f.t.Helper()
	infos, err := f.Candidates(f.t.Context(), conversation.ScopeLive, conversation.Prefilter{Any: texts, Fold: fold})
	require.NoError(f.t, err)
	ids := []conversation.ID{}
	for _, info := range infos {
		require.NoError(f.t, info.Err)
		require.Equal(f.t, must(f.Info(f.t.Context(), info.ID)), info)
		ids = append(ids, info.ID)
	}
	return ids
}

func TestCandidates(t *testing.T) {
	f := newFixture(t)
	one, two := journaltest.ID(1), journaltest.ID(2)
	f.told(1, "Cap the retries")
	f.told(2, "Look at\tthe  logs "+strings.Repeat("again ", 20))
	all := []conversation.ID{one, two}
	require.ElementsMatch(t, all, f.candidates(true, "nothing"), "what was never read may hold all")
	for _, id := range all {
		f.sifted(must(f.Info(t.Context(), id)), true, "nothing")
	}
	require.Empty(t, f.candidates(true, "nothing"))
	require.Equal(t, []conversation.ID{one}, f.candidates(true, "retries", "nothing"))
	require.ElementsMatch(t, all, f.candidates(true, "no"), "too short to be told")
	require.ElementsMatch(t, all, f.candidates(true), "a filter that passes everything")

	title := must(f.Info(t.Context(), two)).Summary.Title
	require.Contains(t, title, "at the  logs", "a title is not written as its request was")
	require.Equal(t, []conversation.ID{two}, f.candidates(true, "at the  logs"))

	// A later event makes it a candidate again.
	info := must(f.Info(t.Context(), one))
	script, name := journaltest.NewScript(t).Turn("Cap the retries"), "Zebra"
	script.Records(&conversation.Metadata{Title: &name, TitleSource: "user"})
	_, err := f.Append(t.Context(), one, info.Head, script.Events()[2:])
	require.NoError(t, err)
	require.Equal(t, []conversation.ID{one}, f.candidates(true, "nothing"))
	f.sifted(must(f.Info(t.Context(), one)), true, "nothing")
	require.Empty(t, f.candidates(true, "nothing"))
	require.Equal(t, []conversation.ID{one}, f.candidates(true, "ZEBRA"))
}

// TestCandidatesAreSifted holds that the first findings of a search are those of Scan, for the same
// prefilter and only once.
func TestCandidatesAreSifted(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first of all", "second of all")
	f.sifted(info, true, "first")
	scan := func(of conversation.Info, texts ...string) []int {
		events, err := f.Scan(t.Context(), of, conversation.Prefilter{Any: texts, Fold: true})
		require.NoError(t, err)
		return numbers(events)
	}
	require.Len(t, f.candidates(true, "second"), 1)
	require.Equal(t, []int{3}, scan(info, "second"))
	require.Equal(t, []int{3}, scan(info, "second"))
	require.Len(t, f.candidates(true, "second"), 1)
	require.Equal(t, []int{1}, scan(info, "first"), "another filter")
	require.Empty(t, f.candidates(true, "all of"), "the words do, together they do not")

	require.Len(t, f.candidates(true, "second"), 1)
	_, err := f.Append(t.Context(), info.ID, info.Head, turns(t, "first of all", "second of all", "second to none")[4:])
	require.NoError(t, err)
	require.Equal(t, []int{3, 5}, scan(f.info(1), "second"), "it grew")
	require.Len(t, f.candidates(true, "second"), 1)
	require.NoError(t, os.RemoveAll(f.cache()))
	require.Equal(t, []int{3, 5}, scan(f.info(1), "second"), "the sidecar was removed")

	many := slices.Repeat([]string{"third" + strings.Repeat(" and more", 400)}, 40) // more than is kept
	large := f.told(2, many...)
	f.sifted(large, true, "third")
	require.Contains(t, f.candidates(true, "third"), large.ID)
	require.Len(t, scan(large, "third"), len(many))
}

// TestCandidatesOfTheSidecar takes the summary in a conversation's newest event from the sidecar if the
// search found something there, and only this user's.
func TestCandidatesOfTheSidecar(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "first of all", "second of all")
	f.sifted(info, true, "first")
	want := must(f.again().Info(t.Context(), info.ID))
	filter := conversation.Prefilter{Any: []string{"first"}, Fold: true}
	found := func(f *fixture) conversation.Info {
		infos, err := f.Candidates(t.Context(), conversation.ScopeLive, filter)
		require.NoError(t, err)
		require.Len(t, infos, 1)
		return infos[0]
	}
	stranger := openStore(t, f.dir, gitstore.Options{Durability: odb.Off, Key: []byte("another key, of thirty-two bytes")})
	require.Equal(t, must(stranger.Info(t.Context(), info.ID)), found(&fixture{Store: stranger, t: t, dir: f.dir}))

	head := filepath.Join(f.dir, ".git", "objects", string(info.Head[:2]), string(info.Head[2:]))
	require.NoError(t, os.Remove(head))
	require.Equal(t, want, found(f.again()))
	log := filepath.Join(f.cache(), string(info.ID)+".commits")
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	data[len(data)-1] ^= 1
	require.NoError(t, os.WriteFile(log, data, 0o644))
	require.ErrorIs(t, found(f.again()).Err, conversation.ErrDamaged)
}

func TestCandidatesSeeWhatIsNew(t *testing.T) {
	f := newFixture(t)
	info := f.told(1, "one")
	f.sifted(info, true, "absent")
	require.Empty(t, f.candidates(true, "absent"))
	require.NoError(t, os.WriteFile(filepath.Join(f.cache(), string(info.ID)+".words"), []byte("damaged"), 0o644))
	require.Equal(t, []conversation.ID{info.ID}, f.candidates(true, "absent"))

	// The search reports one whose newest event is unreadable, and it leaves no words.
	f.git("update-ref", "refs/jp/conversations/"+string(journaltest.ID(2)), f.git("commit-tree", "-m", "no event", f.git("hash-object", "-t", "tree", "-w", "/dev/null")))
	infos, err := f.Candidates(t.Context(), conversation.ScopeLive, conversation.Prefilter{Any: []string{"absent"}})
	require.NoError(t, err)
	require.Len(t, infos, 2)
	require.ErrorIs(t, infos[1].Err, conversation.ErrDamaged)
	_, err = f.Scan(t.Context(), infos[1], conversation.Prefilter{Any: []string{"absent"}})
	require.ErrorIs(t, err, conversation.ErrDamaged)
	require.NoFileExists(t, filepath.Join(f.cache(), string(infos[1].ID)+".words"))
}
