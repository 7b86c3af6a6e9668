package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/journaltest"
)

// openOn opens a store on a disk of the test's, unseen by git. It acts as the holder of all conversations'
// locks.
func openOn(fs odb.FS) (*gitstore.Store, error) {
	return gitstore.Open(gitcmd.Repository{GitDir: "/repo", CommonDir: "/repo", ObjectFormat: testFormat}, gitstore.Options{
		FS: fs, Zone: time.UTC, Key: []byte("0123456789abcdef0123456789abcdef"),
		User:         func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
		MayBreakLock: func(conversation.ID) bool { return true },
	})
}

// foreign is a ref of the user's.
const foreign = "refs/heads/main"

// A scene is a disk with failing writes, and the contents that must survive.
type scene struct {
	t    testing.TB
	disk *faultfs.Disk
	has  map[conversation.ID][]string // the commits of each conversation
	main odb.OID                      // the head of foreign
	next int                          // the number of the next conversation
}

// source is the conversation of the writes, bystander one without any.
var source, bystander = journaltest.ID(1), journaltest.ID(2)

// newScene makes both, and the foreign ref, durable.
func newScene(t testing.TB, journal bool) *scene {
	sc := &scene{t: t, disk: faultfs.NewDisk(journal, "/repo/objects", "/repo/refs/jp", "/repo/refs/heads"), has: map[conversation.ID][]string{}, next: 3}
	s, err := openOn(sc.disk)
	require.NoError(t, err)
	defer s.Close()
	first := []*conversation.Event{attached(0, "old", []byte("payload")), say("x", "one")[1], say("x", "y", "two")[2]}
	for id, events := range map[conversation.ID][]*conversation.Event{source: first, bystander: journaltest.NewScript(t).Turn("first").Says("one").Turn("second").Says("two").Events()} {
		_, err = s.Create(t.Context(), id, "", events)
		require.NoError(t, err)
		sc.has[id] = commits(events)
	}
	db, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: sc.disk})
	require.NoError(t, err)
	defer db.Close()
	sc.main = odb.OID(sc.head(source))
	require.NoError(t, db.Write(t.Context(), odb.Batch{Updates: []odb.RefUpdate{{Ref: foreign, New: sc.main}}}))
	return sc
}

func (sc *scene) head(id conversation.ID) string { return sc.has[id][len(sc.has[id])-1] }

// another is an unused conversation id.
func (sc *scene) another() conversation.ID {
	sc.next++
	return journaltest.ID(sc.next)
}

// An outcome is the target of a write, and the result that its writer got.
type outcome struct {
	id    conversation.ID
	after []string // the conversation's commits if all of it is there
	acked bool
}

// attempt does a write under a plan.
func (sc *scene) attempt(w write, plan faultfs.Plan) (outcome, *faultfs.FS) {
	fs := faultfs.New(sc.disk, plan)
	s, err := openOn(fs)
	if err != nil {
		return outcome{}, fs
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(sc.t.Context(), time.Minute)
	defer cancel()
	out, err := w.do(ctx, s, sc)
	if err != nil && plan.At == 0 {
		sc.t.Fatalf("%s, undisturbed: %v", w.name, err)
	}
	out.acked = err == nil
	return out, fs
}

// look reads a disk as the next process would: acknowledged events are there, no group is there in part,
// and all else is unchanged. It returns the scene as it goes on from there.
func (sc *scene) look(disk *faultfs.Disk, out outcome, what string) *scene {
	t := sc.t
	s, err := openOn(disk)
	require.NoError(t, err, what)
	defer s.Close()
	found := &scene{t: t, disk: disk, has: map[conversation.ID][]string{}, main: sc.main, next: sc.next}
	infos, err := s.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err, what)
	for _, info := range infos {
		got := sc.whole(s, disk, info.ID, what)
		want, known := sc.has[info.ID]
		if info.ID == out.id && len(got) != len(want) {
			want, known = out.after, true
		}
		require.True(t, known, "%s: %s is there, and nobody wrote it", what, info.ID)
		require.Equal(t, want, got, what)
		found.has[info.ID] = got
	}
	for id := range sc.has {
		require.Contains(t, found.has, id, what)
	}
	if out.acked {
		require.Equal(t, out.after, found.has[out.id], "%s: acknowledged, and lost", what)
	}
	return found
}

// whole reads all of a conversation, and gives its commits.
func (sc *scene) whole(s *gitstore.Store, disk *faultfs.Disk, id conversation.ID, what string) []string {
	t := sc.t
	head, err := s.Head(t.Context(), id)
	require.NoError(t, err, what)
	got, err := s.Load(t.Context(), head)
	require.NoError(t, err, what)
	v, err := s.Verify(t.Context(), id)
	require.NoError(t, err, what)
	require.Equal(t, conversation.Audit(got), v.Problems, what)
	db, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk})
	require.NoError(t, err)
	defer db.Close()
	main, err := db.ReadRef(foreign)
	require.NoError(t, err, what)
	require.Equal(t, sc.main, main, what)
	kept := keptPayload(t, db, id)
	for _, e := range got {
		for _, p := range e.Payloads {
			_, ok, err := s.Payload(t.Context(), p)
			require.True(t, ok && err == nil, what)
			require.Contains(t, kept, p.OID, "%s: git would drop it", what)
		}
		requireTree(t, db, odb.OID(e.Tree), what)
	}
	return commits(got)
}

// requireTree asserts that a tree is there with all that it names.
func requireTree(t testing.TB, db *odb.Store, tree odb.OID, what string) {
	if tree == "" {
		return
	}
	_, data, err := db.ReadObject(tree)
	require.NoError(t, err, what)
	for len(data) > 0 {
		head, rest, _ := strings.Cut(string(data), "\x00")
		oid := odb.OID(fmt.Sprintf("%x", rest[:testFormat.Size()]))
		data = []byte(rest[testFormat.Size():])
		if strings.HasPrefix(head, "40000 ") {
			requireTree(t, db, oid, what)
			continue
		}
		has, err := db.Has(oid)
		require.NoError(t, err, what)
		require.True(t, has, "%s: %s of a tree is missing", what, head)
	}
}

// keptPayload is all that the commits and trees of a conversation's payload name.
func keptPayload(t testing.TB, db *odb.Store, id conversation.ID) string {
	oid, err := db.ReadRef("refs/jp/payloads/" + string(id))
	if errors.Is(err, odb.ErrRefNotFound) {
		return ""
	}
	require.NoError(t, err)
	var kept strings.Builder
	for oid != "" {
		_, commit, err := db.ReadObject(oid)
		require.NoError(t, err)
		_, tree, err := db.ReadObject(odb.OID(commit[len("tree ") : len("tree ")+testFormat.Digits()]))
		require.NoError(t, err)
		fmt.Fprintf(&kept, "%x\n", tree)
		_, parent, _ := strings.Cut(string(commit), "\nparent ")
		oid = odb.OID(parent[:min(testFormat.Digits(), len(parent))])
	}
	return kept.String()
}

// goesOn asserts that the same write succeeds once the disk works and the locks of the dead are old.
func (sc *scene) goesOn(w write, what string) {
	sc.disk.Age(time.Hour)
	out, _ := sc.attempt(w, faultfs.Plan{})
	require.True(sc.t, out.acked, what)
	sc.look(sc.disk, out, what+", then once more")
}

// errorsOfDisks are the errors with which a system call may fail.
var errorsOfDisks = []faultfs.Plan{{Err: syscall.EIO}, {Err: syscall.ENOSPC}, {Err: syscall.EDQUOT}, {Short: true}}
