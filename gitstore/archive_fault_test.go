package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/journaltest"
)

// A move changes the place of a conversation. git moves the refs, behind objects that are durable.
type move struct {
	name     string
	from, to string // the part of the ref; "" for no ref
	added    int    // events
	do       func(ctx context.Context, s *gitstore.Store, id conversation.ID, head conversation.Head) error
}

var moves = []move{
	{"archive", "conversations", "archive", 1, filing(true)},
	{"unarchive", "archive", "conversations", 1, filing(false)},
	{"rm", "conversations", "", 0, func(ctx context.Context, s *gitstore.Store, id conversation.ID, head conversation.Head) error {
		return s.Delete(ctx, id, head)
	}},
}

func filing(archived bool) func(context.Context, *gitstore.Store, conversation.ID, conversation.Head) error {
	return func(ctx context.Context, s *gitstore.Store, id conversation.ID, head conversation.Head) error {
		info, err := s.Info(ctx, id)
		if err != nil {
			return err
		}
		body := &conversation.Metadata{}
		if archived {
			body.ArchivedAt = &conversation.OptionalTime{Time: when}
		}
		_, err = s.Archive(ctx, id, head, &conversation.Event{Seq: info.Tip.Seq + 1, Turn: 1, Time: when, Body: body}, archived)
		return err
	}
}

// A filed conversation is one that is about to be moved in a real repository.
type filed struct {
	*fixture
	id     conversation.ID
	before []string // its commits
	head   conversation.Head
	others string // all other refs
}

// file makes a conversation at the move's source.
func (f *fixture) file(m move, n int) *filed {
	f.t.Helper()
	c := &filed{fixture: f, id: journaltest.ID(n), others: f.refsBut(n)}
	events := journaltest.Turn(f.t, fmt.Sprint(n), "answer")
	head := f.create(n, events)
	if m.from == "archive" {
		require.NoError(f.t, filing(true)(f.t.Context(), f.Store, c.id, head))
	}
	got, err := f.again().load(n)
	require.NoError(f.t, err)
	c.before, c.head = commits(got), conversation.Head(got[len(got)-1].Commit)
	return c
}

// refsBut is every ref but those of a conversation.
func (f *fixture) refsBut(n int) string {
	f.t.Helper()
	var left []string
	for line := range strings.SplitSeq(f.git("for-each-ref"), "\n") {
		if !strings.HasSuffix(line, "/"+string(journaltest.ID(n))) {
			left = append(left, line)
		}
	}
	return strings.Join(left, "\n")
}

// attempt moves it on a file system that follows a plan.
func (c *filed) attempt(m move, path odb.Path, plan faultfs.Plan) (acked bool, fs *faultfs.FS) {
	fs = faultfs.New(odb.OS(), plan)
	repo, err := gitcmd.Locate(c.t.Context(), c.dir, gitcmd.Options{})
	require.NoError(c.t, err)
	s, err := gitstore.Open(repo, gitstore.Options{FS: fs, Path: path, Key: []byte("0123456789abcdef0123456789abcdef")})
	if err != nil {
		return false, fs
	}
	defer s.Close()
	return m.do(c.t.Context(), s, c.id, c.head) == nil, fs
}

// look asserts that the conversation is whole and in one place, and that all else stays in place.
func (c *filed) look(m move, n int, acked bool, what string) {
	t := c.t
	require.Equal(t, c.others, c.refsBut(n), what)
	var places []string
	for line := range strings.SplitSeq(c.git("for-each-ref", "--format=%(refname)", "refs/jp"), "\n") {
		if strings.HasSuffix(line, string(c.id)) {
			places = append(places, strings.Split(line, "/")[2])
		}
	}
	if len(places) == 0 {
		require.Empty(t, m.to, what)
		return
	}
	require.Len(t, places, 1, "%s: it is in one place", what)
	moved := places[0] == m.to
	require.True(t, moved || places[0] == m.from, what)
	require.True(t, moved || !acked, "%s: acknowledged, and not done", what)
	got, err := c.again().load(n)
	require.NoError(t, err, what)
	require.Equal(t, c.before, commits(got)[:len(c.before)], what)
	require.Len(t, got, len(c.before)+m.added*count(moved), what)
	c.verified(n)
	c.head = conversation.Head(got[len(got)-1].Commit)
	if !moved {
		ok, _ := c.attempt(m, odb.PathAuto, faultfs.Plan{})
		require.True(t, ok, "%s, then once more", what)
	}
}

// Archiving, unarchiving and deletion happen whole or not at all.
func TestMovesFail(t *testing.T) {
	plans := append([]faultfs.Plan{{Err: faultfs.ErrCrashed, Crash: true}}, errorsOfDisks...)
	for _, m := range moves {
		t.Run(m.name, func(t *testing.T) {
			total, n := 0, 0
			for _, path := range []odb.Path{odb.PathOrdered, odb.PathStepwise} {
				f := newFixture(t)
				f.create(1, say("bystander"))
				c := f.file(m, 2)
				acked, fs := c.attempt(m, path, faultfs.Plan{})
				require.True(t, acked)
				c.look(m, 2, true, m.name)
				n += fs.Count()
				for at := 0; at < fs.Count()*2*len(plans); at += row.Of(97, 13, 1) {
					plan := plans[at/2%len(plans)]
					plan.At, plan.ForGood = at/2/len(plans)+1, at%2 == 1
					total += count(f.moveUnder(m, path, plan, at+3))
				}
			}
			require.Positive(t, total)
			row.Log(t, row.Row{
				Class: "a", Name: m.name + ": operation k fails, or is the last", Points: total,
				Note: fmt.Sprintf("%d operations on two write paths × EIO, ENOSPC, EDQUOT, short write × once, for good, and kills", n),
			})
		})
	}
}

// moveUnder moves a conversation of its own under a plan, and says whether that
// was felt.
func (f *fixture) moveUnder(m move, path odb.Path, plan faultfs.Plan, n int) bool {
	if plan.Crash && plan.ForGood {
		return false // that is the same as a crash
	}
	c := f.file(m, n)
	acked, fs := c.attempt(m, path, plan)
	c.look(m, n, acked, fmt.Sprintf("%s, %s, %+v", m.name, path, plan))
	if head, err := f.again().Head(f.t.Context(), c.id); !errors.Is(err, conversation.ErrNotFound) {
		require.NoError(f.t, err)
		require.NoError(f.t, f.again().Delete(f.t.Context(), c.id, head))
	}
	return fs.Felt()
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
