package packing_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/gitstore/packing"
	"jp/internal/testing/gitenv"
)

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

// A field is a repository with conversations made of bare commits.
type field struct {
	*packing.Packer
	t     *testing.T
	dir   string
	store *odb.Store
	heads map[string]odb.OID
	bulk  int // random bytes in each file
}

func newField(t *testing.T) *field {
	t.Helper()
	dir := gitenv.Repo(t)
	f := &field{t: t, dir: dir, heads: map[string]odb.OID{}}
	f.open("git")
	return f
}

// open opens the repository anew, with this git.
func (f *field) open(program string) {
	f.t.Helper()
	repo, err := gitcmd.Locate(f.t.Context(), f.dir, gitcmd.Options{})
	require.NoError(f.t, err)
	git := gitcmd.At(repo, gitcmd.Options{Program: program})
	f.store, err = odb.Open(repo.CommonDir, odb.Options{Format: testFormat, Durability: odb.Off, Git: git})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { f.store.Close() })
	f.Packer = packing.New(f.store, git)
}

func (f *field) git(args ...string) string {
	f.t.Helper()
	return gitenv.Git(f.t, f.dir, args...)
}

// grow adds events to a conversation, each with a file of its own in the tree.
func (f *field) grow(id string, events int) {
	f.t.Helper()
	ref := "refs/jp/conversations/" + id
	head := f.heads[id]
	base := head
	if head == "" {
		base = odb.OID(f.git("rev-parse", "HEAD"))
	}
	for i := range events {
		text := fmt.Sprintf("%s %s %d\n", id, base, i)
		bulk := make([]byte, f.bulk)
		rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32.32s", text)))).Read(bulk)
		blob := object("blob", text+string(bulk))
		name, err := hex.DecodeString(string(blob.OID))
		require.NoError(f.t, err)
		tree := object("tree", "100644 f\x00"+string(name))
		commit := object("commit", fmt.Sprintf("tree %s\nparent %s\nauthor A <a@example.com> %d +0000\ncommitter A <a@example.com> %[3]d +0000\njp-data {\"seq\":%d}\n\n%s", tree.OID, base, 1752933600+i, i, text))
		require.NoError(f.t, f.store.Write(f.t.Context(), odb.Batch{
			Objects: []odb.Object{blob, tree, commit}, Updates: []odb.RefUpdate{{Ref: ref, Old: head, New: commit.OID}},
		}))
		head, base = commit.OID, commit.OID
	}
	f.heads[id] = head
}

func object(kind, data string) odb.Object {
	return odb.Object{Kind: kind, OID: odb.HashObject(testFormat, kind, []byte(data)), Data: []byte(data)}
}

// whole asserts that every object that a ref needs is there.
func (f *field) whole() {
	f.t.Helper()
	require.Empty(f.t, f.git("fsck", "--strict", "--no-dangling", "--no-progress"))
	for id, head := range f.heads {
		require.Equal(f.t, string(head), f.git("rev-parse", "refs/jp/conversations/"+id))
	}
}

func (f *field) packs() int {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack/*.idx"))
	require.NoError(f.t, err)
	return len(found)
}

func TestPackMovesOnlyWhatConversationsNeed(t *testing.T) {
	f := newField(t)
	mine := f.Loose()
	garbage := f.git("hash-object", "-w", "README.md") // the user's, and in HEAD
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "unborn"), []byte("not in any commit"), 0o666))
	unborn := f.git("hash-object", "-w", "unborn")
	f.grow("jp-c17528832001-aaaa", 20)
	f.grow("jp-c17528832002-bbbb", 5)
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3*25, r.Packed)
	require.Equal(t, mine+1, r.Left, "what the user has loose stays loose")
	require.Equal(t, 1, f.packs())
	f.git("cat-file", "-e", garbage)
	f.git("cat-file", "-e", unborn)
	f.whole()

	f.grow("jp-c17528832001-aaaa", 2)
	r, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, r.Packed, "what is packed is not packed again")
	require.Equal(t, 2, f.packs())
	f.whole()
	r, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.Packed)
	require.Equal(t, 2, f.packs(), "no empty pack")
}

func TestDue(t *testing.T) {
	f := newField(t)
	require.False(t, f.Due())
	f.grow("jp-c17528832001-aaaa", packing.Enough/3/4)
	require.False(t, f.Due(), "a quarter")
	f.grow("jp-c17528832001-aaaa", packing.Enough)
	require.True(t, f.Due(), "three times as many objects, so that no sample of them is too small")
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.False(t, f.Due())
}

func TestNotDueWhileAnotherPacks(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", packing.Enough)
	require.True(t, f.Due())
	file := filepath.Join(f.dir, ".git/jp/packing.json")
	for began, due := range map[time.Duration]bool{time.Second: false, time.Hour: true} {
		text := fmt.Sprintf(`{"at":"2026-01-01T00:00:00Z","left":0,"began":%q}`, time.Now().Add(-began).UTC().Format(time.RFC3339Nano))
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)))
		require.Equal(t, due, f.Due(), began)
	}
}

func TestDueLooksAwayFromWhatCannotBePacked(t *testing.T) {
	f := newField(t)
	for i := range 2 * packing.Enough {
		o := object("blob", fmt.Sprint(i))
		require.NoError(t, f.store.Write(t.Context(), odb.Batch{Objects: []odb.Object{o}}))
	}
	require.True(t, f.Due())
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.Packed)
	require.False(t, f.Due(), "once is enough")
}

// Objects that a Pack left and a gc took make no room for as many of ours.
func TestDueWhenWhatCouldNotBePackedIsGone(t *testing.T) {
	f := newField(t)
	for i := range 4 * packing.Enough {
		o := object("blob", fmt.Sprint(i))
		require.NoError(t, f.store.Write(t.Context(), odb.Batch{Objects: []odb.Object{o}}))
	}
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.False(t, f.Due())
	f.git("prune", "--expire=now")
	require.True(t, f.Due())
	_, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.False(t, f.Due(), "once is enough")
	f.grow("jp-c17528832001-aaaa", packing.Enough)
	require.True(t, f.Due(), "fewer than there were")
}

func TestPacksBecomeOne(t *testing.T) {
	f := newField(t)
	f.git("gc", "-q")
	users := f.packs()
	for _, want := range []struct{ merged, packs int }{
		{0, 1}, {2, 1}, {2, 1}, {2, 1}, // 12 objects and 12, 24 and 12, 36 and 12
		{0, 2}, {3, 1}, // 48 beside 12 stays, but not beside 12 and 12
		{0, 2}, {3, 1}, // 72
		{0, 2}, {2, 2}, {3, 1}, // 96, also beside 24
	} {
		f.grow("jp-c17528832001-aaaa", 4)
		r, err := f.Pack(t.Context())
		require.NoError(t, err)
		require.Equal(t, 12, r.Packed)
		require.Equal(t, want.merged, r.Merged)
		require.Equal(t, users+want.packs, f.packs(), "the user's pack stays as it is")
		f.whole()
	}
}

// In any order of packs, each one left is large beside the smaller ones, so they are few; and every merge
// is useful.
func TestFewPacksAreLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var packs []int
		total := 0
		for range rapid.IntRange(1, 200).Draw(t, "times") {
			more := rapid.IntRange(packing.Enough, 4*packing.Enough).Draw(t, "objects")
			total, packs = total+more, append(packs, more)
			slices.Sort(packs)
			if n := packing.TooMany(packs); n > 0 {
				require.Greater(t, n, 1)
				packs = append(packs[n:], sum(packs[:n]))
			}
			slices.Sort(packs)
			for i := range packs {
				require.GreaterOrEqual(t, packs[i], min(packing.MostMerged, packing.Growth*sum(packs[:i])))
			}
			require.Equal(t, total, sum(packs))
			require.LessOrEqual(t, float64(len(packs)), 1+math.Log(float64(total)/packing.Enough)/math.Log(packing.Growth+1))
		}
	})
}

func TestAPackOfVeryManyObjectsIsNotMerged(t *testing.T) {
	const most = packing.MostMerged
	require.Equal(t, 2, packing.TooMany([]int{most - 1, most - 1}))
	require.Zero(t, packing.TooMany([]int{most, most, 2 * most}))
	require.Equal(t, 2, packing.TooMany([]int{600, 700, most, most}))
}

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

func TestAPackThatStaysIsNotMerged(t *testing.T) {
	f := newField(t)
	for range 10 {
		f.grow("jp-c17528832001-aaaa", 4)
		_, err := f.Pack(t.Context())
		require.NoError(t, err)
		found, err := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack/*.pack"))
		require.NoError(t, err)
		for _, pack := range found {
			require.NoError(t, os.WriteFile(strings.TrimSuffix(pack, "pack")+"keep", nil, 0o666))
		}
	}
	f.grow("jp-c17528832001-aaaa", 4)
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.Merged)
	f.whole()
}

func TestOneDamagedConversationKeepsNoOtherLoose(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	f.grow("jp-c17528832002-bbbb", 3)
	f.open("git") // a store restores its own recent writes
	lost := f.git("rev-parse", "refs/jp/conversations/jp-c17528832001-aaaa~1:f")
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", lost[:2], lost[2:])))
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 9, r.Packed)
	require.Equal(t, "commit", f.git("cat-file", "-t", "refs/jp/conversations/jp-c17528832001-aaaa"))

	headless := f.git("rev-parse", "refs/jp/conversations/jp-c17528832001-aaaa~2")
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", headless[:2], headless[2:])))
	f.open("git")
	f.grow("jp-c17528832002-bbbb", 1)
	r, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, r.Packed)
}

// brokenGit is a git in which one subcommand runs the shell line.
func brokenGit(t *testing.T, subcommand, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\nfor a; do case \"$a\" in " + subcommand + ") " + line + ";; esac; done\nexec git \"$@\"\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestNothingIsRemovedForAPackThatCannotBeRead(t *testing.T) {
	for name, git := range map[string][2]string{
		"no pack":          {"pack-objects", "cat >/dev/null; exit 128"},
		"killed":           {"pack-objects", "cat >/dev/null; kill -9 $$"},
		"not to be read":   {"verify-pack", "echo torn >&2; exit 1"},
		"torn on the disk": {"verify-pack", `for i in .git/objects/jp-packing/*.pack; do chmod u+w $i; printf XXXXXXXXXXXXXXXX | dd of=$i bs=1 seek=40 conv=notrunc 2>/dev/null; done`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			f.grow("jp-c17528832001-aaaa", 10)
			before := f.Loose()
			f.open(brokenGit(t, git[0], git[1]))
			_, err := f.Pack(t.Context())
			require.Error(t, err)
			require.Equal(t, before, f.Loose())
			if git[0] == "verify-pack" {
				require.ErrorIs(t, err, packing.ErrUnread)
			}
			f.whole()
			f.open("git")
			r, err := f.Pack(t.Context())
			require.NoError(t, err)
			require.Equal(t, before-30, r.Left)
			require.NoDirExists(t, filepath.Join(f.dir, ".git/objects/jp-packing"))
			f.whole()
		})
	}
}

// After a break at any step, nothing is lost, and the next Pack ends as usual: it leaves only known packs
// and files, and nothing is both loose and packed.
func TestPackThatIsBrokenOff(t *testing.T) {
	broken := 0
	for at := 1; ; at++ {
		f := newField(t)
		f.grow("jp-c17528832001-aaaa", 2)
		_, err := f.Pack(t.Context())
		require.NoError(t, err)
		f.grow("jp-c17528832001-aaaa", 2)
		f.BreakAt(at)
		if _, err = f.Pack(t.Context()); err == nil {
			break
		}
		require.ErrorIs(t, err, packing.ErrBroken)
		broken++
		f.whole()
		f.open("git")
		f.grow("jp-c17528832001-aaaa", 1)
		_, err = f.Pack(t.Context())
		require.NoError(t, err)
		f.whole()
		packs, size := f.Packs()
		require.Equal(t, f.packs(), packs, "broken off at %d", at)
		require.LessOrEqual(t, packs, 2)
		require.Equal(t, 3*5, size.Objects, "broken off at %d", at)
		counted := f.git("count-objects", "-v")
		require.Contains(t, counted, "prune-packable: 0\n", "broken off at %d", at)
		require.Contains(t, counted, "garbage: 0\n", "broken off at %d", at)
		require.NoDirExists(t, filepath.Join(f.dir, ".git/objects/jp-packing"))
	}
	require.Greater(t, broken, 20)
}

func TestOnlyOnePacks(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 10)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = f.Pack(t.Context()) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		require.ErrorIs(t, err, packing.ErrBusy)
	}
	require.Positive(t, done)
	f.whole()
}

// TestBesideWriters packs while conversations grow and are read.
func TestBesideWriters(t *testing.T) {
	f := newField(t)
	ids := []string{"jp-c17528832001-aaaa", "jp-c17528832002-bbbb"}
	for _, id := range ids {
		f.grow(id, 5)
	}
	stop := make(chan struct{})
	packed := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				packed <- nil
				return
			default:
			}
			if _, err := f.Pack(t.Context()); err != nil && !errors.Is(err, packing.ErrBusy) {
				packed <- err
				return
			}
		}
	}()
	for range 20 {
		for _, id := range ids {
			f.grow(id, 3)
			_, _, err := f.store.ReadObject(f.heads[id])
			require.NoError(t, err)
		}
	}
	close(stop)
	require.NoError(t, <-packed)
	f.whole()
}

func TestAStateThatMakesNoSenseIsNone(t *testing.T) {
	f := newField(t)
	outside := filepath.Join(t.TempDir(), "pack-x.pack")
	require.NoError(t, os.WriteFile(outside, nil, 0o666))
	f.grow("jp-c17528832001-aaaa", 3)
	for _, text := range []string{"", "{", `{"left":-1}`, `{"packs":[{"name":"../../../` + outside + `","objects":5}]}`, `{"at":7}`} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.dir, ".git/jp"), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, ".git/jp/packing.json"), []byte(text), 0o666))
		_, err := f.Pack(t.Context())
		require.NoError(t, err, text)
		require.FileExists(t, outside)
	}
	require.False(t, f.Last().IsZero())
}

// A gc of the user's between a Pack that was broken off and the next one makes a
// pack that stays the user's.
func TestPacksOfOthersStayTheirs(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 4)
	f.BreakAt(4)
	_, err := f.Pack(t.Context())
	require.ErrorIs(t, err, packing.ErrBroken)
	f.open("git")
	f.git("gc", "-q")
	theirs, err := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack/*.idx"))
	require.NoError(t, err)
	require.Len(t, theirs, 1)
	for range 4 {
		f.grow("jp-c17528832001-aaaa", 4)
		_, err := f.Pack(t.Context())
		require.NoError(t, err)
		require.FileExists(t, theirs[0])
	}
	require.Equal(t, 2, f.packs())
	f.whole()
}

func TestPayloadsArePacked(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 1)
	tree := object("tree", "")
	kept := object("commit", "tree "+string(tree.OID)+"\nauthor A <a@example.com> 1752933600 +0000\ncommitter A <a@example.com> 1752933600 +0000\n\npayload of event 0\n")
	require.NoError(t, f.store.Write(t.Context(), odb.Batch{
		Objects: []odb.Object{tree, kept}, Updates: []odb.RefUpdate{{Ref: "refs/jp/payloads/jp-c17528832001-aaaa", New: kept.OID}},
	}))
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, r.Packed)
	f.whole()
}
