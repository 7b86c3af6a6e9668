package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/process"
	"jp/process/attach"
)

const testID conversation.ID = "jp-c17952920107-sk0e"

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		args   []string
		n      int
		cycles int
	}{
		"full":             {nil, 64, 56},
		"sample":           {[]string{"-quick"}, 12, 24},
		"a given one wins": {[]string{"-quick", "-n", "9"}, 9, 24},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := parseOptions(tt.args, io.Discard)
			require.NoError(t, err)
			require.Equal(t, tt.n, o.n)
			require.Equal(t, tt.cycles, o.cycles)
			require.Greater(t, o.limit(), o.length)
		})
	}
	for _, bad := range [][]string{{"-n", "3"}, {"-for", "1s"}, {"-cycles", "-1"}, {"more"}, {"-unknown"}} {
		_, err := parseOptions(bad, io.Discard)
		require.Error(t, err, bad)
	}
}

func TestEachDoesAllAndTellsEveryError(t *testing.T) {
	s := newSoak(options{}, nil, io.Discard)
	var done atomic.Int64
	err := s.each(t.Context(), 11, func(_ context.Context, i int) error {
		done.Add(1)
		if i%5 == 0 {
			return errors.New("of " + strconv.Itoa(i))
		}
		return nil
	})
	require.EqualValues(t, 11, done.Load())
	require.EqualError(t, err, "of 0\nof 5\nof 10")
}

func TestSharesAreDisjointAndWhole(t *testing.T) {
	members := make([]*runner, 10)
	for i := range members {
		members[i] = &runner{index: i}
	}
	var all []*runner
	for hand := range hands {
		all = append(all, share(members, hand)...)
	}
	require.ElementsMatch(t, members, all)
	require.Empty(t, share(members[:1], 1))
}

func TestTurnEventsFitTogether(t *testing.T) {
	all := append(turnEvents(0, 2), turnEvents(2, 1)...)
	all = append(all, turnEvents(3, 3)...)
	for i, e := range all {
		require.Equal(t, i, e.Seq)
	}
	stream, tail := conversation.SplitTail(all)
	require.Nil(t, tail)
	require.Equal(t, 6, stream.Len())
}

// played is a soak whose jp is a shell script.
func played(t *testing.T, script string) *soak {
	t.Helper()
	a := &environment{dir: t.TempDir(), environ: os.Environ()}
	a.program, a.repo = filepath.Join(a.dir, "jp"), gitcmd.Repository{TopLevel: a.dir, CommonDir: a.dir}
	require.NoError(t, os.WriteFile(a.program, []byte("#!/bin/sh\n"+script), 0o700))
	return newSoak(options{}, a, io.Discard)
}

func TestAnExitThatIsNotWantedIsTold(t *testing.T) {
	s := played(t, "echo out; echo why >&2; exit 3")
	out, err := s.arena.jp(t.Context(), 3, "attach", "--wait")
	require.NoError(t, err)
	require.Equal(t, "out\n", string(out))
	_, err = s.arena.jp(t.Context(), 0, "attach", "--wait", "x")
	require.EqualError(t, err, "jp attach --wait x: exit 3 instead of 0: why")
}

func TestAMemberIsWaitedFor(t *testing.T) {
	s := played(t, "exec sleep 100")
	cmd := s.arena.command(t.Context())
	require.NoError(t, cmd.Start())
	m := &runner{}
	require.NoError(t, m.runBy([]byte(`{"conversation":"`+string(testID)+`","pid":`+strconv.Itoa(cmd.Process.Pid)+`,"log":"/log"}`)))
	require.Equal(t, testID, m.id)
	require.Equal(t, "/log", m.log)
	require.NoError(t, m.kill(t.Context(), os.Kill))
	exit, err := m.ended(t.Context())
	require.NoError(t, err)
	require.Equal(t, -1, exit)
	require.Error(t, m.kill(t.Context(), os.Kill), "it has ended")
	require.Error(t, m.runBy([]byte("no JSON")))
}

func TestWhatIsLostIsAViolation(t *testing.T) {
	s := played(t, `echo '[{"id":"`+string(testID)+`","ok":false,"events":5,"problems":[{"problem":"a gap"}]},{"id":"jp-c00000000001","ok":true,"events":3}]'`)
	s.besides = []*plainConversation{{id: "jp-c00000000001", events: 4}}
	s.runners = []*runner{{id: testID}}
	require.NoError(t, s.checkVerified(t.Context()))
	require.Equal(t, []string{"jp verify " + string(testID) + ": [{a gap}]", "jp-c00000000001 has 3 events, and 4 were durable"}, s.table.violations)
}

func TestWhatWasToldHasToBeThere(t *testing.T) {
	s := newSoak(options{}, nil, io.Discard)
	m := &runner{id: testID}
	s.told[m] = map[int]string{0: "aa", 1: "bb"}
	s.checkTold(m, []heard{{Commit: "aa"}, {Commit: "bb"}})
	require.Empty(t, s.table.violations)
	s.checkTold(m, []heard{{Commit: "aa"}, {Commit: "other"}})
	s.checkTold(m, []heard{{Commit: "aa"}})
	require.Len(t, s.table.violations, 2)
}

func TestTheDeadAreListedAsWaiting(t *testing.T) {
	const said = `case "$*" in
*json*) echo '[{"id":"` + string(testID) + `","status":{"state":"STATE","tool":"fs_create_file","pid":null}}]' ;;
*) echo ' ` + string(testID) + `	waiting-for-input (create)	1' ;;
esac`
	for state, violations := range map[string]int{"waiting_for_input": 0, "interrupted": 1} {
		s := played(t, strings.Replace(said, "STATE", state, 1))
		require.NoError(t, s.questionsOfTheDead(t.Context(), []*runner{{id: testID}}))
		require.Len(t, s.table.violations, violations, state)
	}
	s := played(t, "echo '[]'")
	require.NoError(t, s.questionsOfTheDead(t.Context(), []*runner{{id: testID}}))
	require.Len(t, s.table.violations, 2, "not listed at all")
}

func TestWhatIsLeftIsFound(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub.sock"), 0o700))
	for _, name := range []string{"a.log", "a.sock", "sub.sock/b.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	found, err := leftIn(dir, func(name string) bool { return !strings.HasSuffix(name, ".log") })
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a.sock"), filepath.Join(dir, "sub.sock/b.json")}, found)
	_, err = leftIn(filepath.Join(dir, "absent"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// served is a soak and a member whose process is this one.
func served(t *testing.T) (*soak, *runner, *attach.Server) {
	t.Helper()
	s := newSoak(options{}, nil, io.Discard)
	s.registry = process.Registry{DataDir: t.TempDir(), Workspace: "w", Repository: t.TempDir()}
	l, err := s.registry.Listen(testID)
	require.NoError(t, err)
	server := attach.NewServer(attach.Options{Conversation: testID, PID: os.Getpid(), Seq: -1, Doing: func() attach.Status { return attach.Status{} }})
	server.Serve(l)
	t.Cleanup(func() { server.Close(attach.Closing{}) })
	return s, &runner{id: testID}, server
}

func TestVisits(t *testing.T) {
	s, m, server := served(t)
	for _, v := range visits {
		if strings.Contains(v.name, "terminal") || strings.Contains(v.name, "follower") {
			continue // these need a jp
		}
		t.Run(v.name, func(t *testing.T) {
			require.NoError(t, v.pay(s, t.Context(), m))
			require.NoError(t, s.visitInOrder(t.Context(), m), "the next one is let in")
		})
	}
	server.Close(attach.Closing{Reason: "over"})
	for _, v := range visits {
		if !strings.Contains(v.name, "terminal") && !strings.Contains(v.name, "follower") {
			require.Error(t, v.pay(s, t.Context(), m), v.name)
		}
	}
}

func TestAVisitorWaitsUntilLetIn(t *testing.T) {
	s, m, _ := served(t)
	client, _, err := s.connect(t.Context(), m)
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Send(&attach.Attach{V: attach.Version}))
	require.NoError(t, client.Send(&attach.Interrupt{}))
	_, err = client.Next() // both were taken
	require.NoError(t, err)
	reason, err := s.attachOnce(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, "another terminal is attached already", reason)
	require.NoError(t, client.Send(&attach.Detach{}))
	require.NoError(t, s.visitInOrder(t.Context(), m))
}

func TestAVisitThatFailsIsAViolation(t *testing.T) {
	s, _, _ := served(t)
	s.pay(t.Context(), visits[0], &runner{id: "jp-c00000000001"}, "here")
	require.Len(t, s.table.violations, 1)
	require.Contains(t, s.table.violations[0], "here, attached, detached at jp-c00000000001: ")
}

func TestLineOf(t *testing.T) {
	require.Equal(t, "b 2", lineOf("a 1\n  b 2\n", "b"))
	require.Empty(t, lineOf("a 1\n", "b"))
}
