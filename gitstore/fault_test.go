package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/conversation/journaltest"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/faultfs"
	"jp/internal/gitenv"
)

// openOn opens a store on a disk of the test's, which no git ever sees.
func openOn(fs odb.FS) (*gitstore.Store, error) {
	return gitstore.Open(gitcmd.Repository{GitDir: "/repo", CommonDir: "/repo"}, gitstore.Options{
		FS: fs, Zone: time.UTC, Key: []byte("0123456789abcdef0123456789abcdef"),
		User: func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
	})
}

// trial is one write to a store on a disk that fails, and what it was told.
type trial struct {
	t     testing.TB
	disk  *faultfs.Disk
	first []*conversation.Event // of conversation 1, before anything goes wrong
	id    conversation.ID       // that the write is about
	group []*conversation.Event // that the write adds
	acked bool
}

// A fault is a write that is tried again and again, failing elsewhere each time.
type fault struct {
	name string
	id   int
	do   func(ctx context.Context, s *gitstore.Store, tr *trial) error
}

var faults = []fault{
	{"append with payload", 1, func(ctx context.Context, s *gitstore.Store, tr *trial) error {
		tr.group = []*conversation.Event{attached(3, "a", []byte("new")), bigEvent(4, strings.Repeat("big\n", 20_000)), say("x")[0]}
		tr.group[2].Seq = 5
		_, err := s.Append(ctx, tr.id, conversation.Head(tr.first[2].Commit), tr.group)
		return err
	}},
	{"create", 2, func(ctx context.Context, s *gitstore.Store, tr *trial) error {
		tr.group = say("zero", "one")
		_, err := s.Create(ctx, tr.id, tr.first[2].Commit, tr.group)
		return err
	}},
	{"fork", 3, func(ctx context.Context, s *gitstore.Store, tr *trial) error {
		tr.group = []*conversation.Event{{
			Seq: 3, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Seq: 2, Commit: tr.first[2].Commit},
		}}
		_, err := s.Fork(ctx, journaltest.ID(1), conversation.Head(tr.first[2].Commit), tr.id, tr.group[0])
		return err
	}},
}

// start makes the first conversation, durable.
func (f fault) start(t testing.TB, journal bool) *trial {
	tr := &trial{t: t, disk: faultfs.NewDisk(journal, "/repo/objects", "/repo/refs/jp"), id: journaltest.ID(f.id)}
	s, err := openOn(tr.disk)
	require.NoError(t, err)
	defer s.Close()
	tr.first = []*conversation.Event{attached(0, "old", []byte("payload")), say("x", "one")[1], say("x", "y", "two")[2]}
	_, err = s.Create(t.Context(), journaltest.ID(1), "", tr.first)
	require.NoError(t, err)
	return tr
}

// run does the write under a plan.
func (tr *trial) run(f fault, plan faultfs.Plan) *faultfs.FS {
	fs := faultfs.New(tr.disk, plan)
	s, err := openOn(fs)
	if err == nil {
		err = f.do(tr.t.Context(), s, tr)
		s.Close()
	}
	tr.acked = err == nil
	return fs
}

// check reads a disk as the next process would: what was acknowledged is there,
// nothing is there in part, and nothing else has changed.
func (tr *trial) check(disk *faultfs.Disk, what string) {
	t := tr.t
	s, err := openOn(disk)
	require.NoError(t, err, what)
	defer s.Close()
	want := map[conversation.ID][]*conversation.Event{journaltest.ID(1): tr.first}
	head, err := s.Head(t.Context(), tr.id)
	moved := err == nil && (tr.id != journaltest.ID(1) || string(head) != tr.first[2].Commit)
	require.True(t, moved || !tr.acked, "%s: acknowledged, and lost: %v", what, err)
	switch {
	case !moved && tr.id != journaltest.ID(1):
		require.ErrorIs(t, err, conversation.ErrNotFound, what)
	case moved && tr.group[0].Seq > 0:
		want[tr.id] = append(tr.first[:3:3], tr.group...)
	case moved:
		want[tr.id] = tr.group
	}
	for id, events := range want {
		head, err := s.Head(t.Context(), id)
		require.NoError(t, err, what)
		got, err := s.Load(t.Context(), head)
		require.NoError(t, err, what)
		require.Equal(t, commits(events), commits(got), what)
		v, err := s.Verify(t.Context(), id)
		require.NoError(t, err, what)
		require.Equal(t, conversation.Audit(got), v.Problems, what)
		kept := keptPayload(t, disk, id)
		for _, e := range got {
			for _, p := range e.Payloads {
				_, ok, err := s.Payload(t.Context(), p)
				require.True(t, ok && err == nil, what)
				require.Contains(t, kept, p.OID, "%s: git would drop it", what)
			}
		}
	}
}

// keptPayload is all that the commits and trees of a conversation's payload name.
func keptPayload(t testing.TB, disk *faultfs.Disk, id conversation.ID) string {
	db, err := odb.Open("/repo", odb.Options{FS: disk})
	require.NoError(t, err)
	defer db.Close()
	oid, err := db.ReadRef("refs/jp/payloads/" + string(id))
	if errors.Is(err, odb.ErrRefNotFound) {
		return ""
	}
	require.NoError(t, err)
	var kept strings.Builder
	for oid != "" {
		_, commit, err := db.ReadObject(oid)
		require.NoError(t, err)
		_, tree, err := db.ReadObject(odb.OID(commit[len("tree ") : len("tree ")+40]))
		require.NoError(t, err)
		fmt.Fprintf(&kept, "%x\n", tree)
		_, parent, _ := strings.Cut(string(commit), "\nparent ")
		oid = odb.OID(parent[:min(40, len(parent))])
	}
	return kept.String()
}

// Every operation of the disk fails once, or from then on for good.
func TestEveryOperationFails(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		for _, journal := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(1, 2))
			n := f.start(t, journal).run(f, faultfs.Plan{}).Count()
			failed := 0
			for k := 1; k <= n; k++ {
				for i, plan := range []faultfs.Plan{{Err: syscall.EIO}, {Err: syscall.ENOSPC, ForGood: true}, {Err: syscall.ENOSPC}, {Err: syscall.EIO, ForGood: true}} {
					if journal == (i < 2) { // each pair on one kind of disk
						continue
					}
					plan.At = k
					what := fmt.Sprintf("%s, journal %v, operation %d of %d: %+v", f.name, journal, k, n, plan)
					tr := f.start(t, journal)
					tr.run(f, plan)
					if !tr.acked {
						failed++
					}
					tr.check(tr.disk, what)
					tr.check(tr.disk.Crash(rng), what+", then a crash")
				}
			}
			require.Greater(t, failed, n/2, "the faults are felt")
		}
	}
}

// The power goes at every operation, and what was not flushed is lost at random.
func TestCrashAtEveryOperation(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		for _, journal := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(3, 4))
			n := f.start(t, journal).run(f, faultfs.Plan{}).Count()
			for k := 1; k <= n+1; k++ {
				tr := f.start(t, journal)
				tr.run(f, faultfs.Plan{At: k, Crash: true})
				require.True(t, tr.acked || k <= n)
				for range 4 {
					tr.check(tr.disk.Crash(rng), fmt.Sprintf("%s, journal %v, crash at %d of %d", f.name, journal, k, n))
				}
			}
		}
	}
}

// An archiving is cut in two by nothing: git moves the refs, behind objects that
// are durable.
func TestArchiveFails(t *testing.T) {
	f := newFixture(t)
	var n int
	for k := 0; k <= n; k++ {
		for _, plan := range []faultfs.Plan{{At: k, Err: syscall.ENOSPC, ForGood: true}, {At: k, Crash: true}} {
			fs := faultfs.New(odb.OS(), plan)
			if k == 0 {
				fs = faultfs.New(odb.OS(), faultfs.Plan{})
			}
			events := journaltest.Turn(t, fmt.Sprint(k), "answer")
			head := f.create(1, events)
			record := &conversation.Event{Seq: 3, Turn: 1, Time: when, Body: &conversation.Metadata{ArchivedAt: &conversation.Moment{Time: when}}}
			err := errors.New("not opened")
			repo, locateErr := gitcmd.Locate(t.Context(), f.dir, gitcmd.Options{})
			require.NoError(t, locateErr)
			if s, openErr := gitstore.Open(repo, gitstore.Options{FS: fs, Key: []byte("0123456789abcdef0123456789abcdef")}); openErr == nil {
				_, err = s.Archive(t.Context(), journaltest.ID(1), head, record, true)
				s.Close()
			}
			n = max(n, fs.Count()*min(1, 1-k)) // of the run that nothing stops
			refs := strings.Split(f.git("for-each-ref", "--format=%(refname)", "refs/jp"), "\n")
			require.Len(t, refs, 1, "it is in one place")
			archived := strings.HasPrefix(refs[0], "refs/jp/archive/")
			require.True(t, archived || err != nil)
			got, err := f.again().load(1)
			require.NoError(t, err)
			require.Equal(t, commits(events), commits(got[:3]))
			require.Equal(t, archived, len(got) == 4)
			f.verified(1)
			require.NoError(t, f.again().Delete(t.Context(), journaltest.ID(1), conversation.Head(got[len(got)-1].Commit)))
		}
	}
	require.Greater(t, n, 5)
}

// Events that could not be stored are the same when they are stored later.
func TestRetryStoresTheSame(t *testing.T) {
	want := journaltest.Turn(t, "first", "answer")
	require.NotEmpty(t, newFixture(t).create(1, want))
	got := journaltest.Turn(t, "first", "answer")
	s := openStore(t, gitenv.Repo(t), gitstore.Options{
		Durability: odb.Off, FS: faultfs.New(odb.OS(), faultfs.Plan{At: 1, Only: faultfs.Write, Err: syscall.ENOSPC}),
	})
	_, err := s.Create(t.Context(), journaltest.ID(1), "", got)
	require.ErrorIs(t, err, conversation.ErrNoSpace)
	_, err = s.Create(t.Context(), journaltest.ID(1), "", got)
	require.NoError(t, err)
	require.Equal(t, commits(want), commits(got))
}
