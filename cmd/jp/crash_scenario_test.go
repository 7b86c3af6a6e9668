package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
)

// An crashScenario is one command, done from the same beginning again and again: killed,
// or on a disk that fails.
type crashScenario struct {
	name    string
	prepare func(s *stage) // the state before
	args    string         // the command, in which ID is the conversation's id

	// goOn is the command that finishes the unfinished work: the same one if it is nil. It is "" if
	// none is left.
	goOn func(s *stage) string

	// done returns an error if a command that succeeded has not done its work. Files have been
	// compared with those of an errand without a fault by then.
	done func(s *stage, out result) error

	removes bool // it takes the conversation away
	behind  bool // it goes on behind the command, which says that it began
	turn    bool // it is a turn, and a tool can fail in it without the turn
	counted bool // it is the turn of counted
	reads   bool // it only reads, and says that a conversation is held if it cannot look at the lock
}

// A theatre is a scene for one errand after another, and the state that several of them begin with.
type theatre struct {
	*scene
	talk, id string // a copy with the conversation of a turn of counted, and its id
}

// A stage is a theatre with one errand.
type stage struct {
	*scene
	crashScenario
	theatre *theatre
	id      string   // of the earlier conversation, if any
	before  picture  // of the stage
	after   picture  // of an errand without a fault
	now     *picture // at the last look at it
	goes    bool     // the fault is gone
	clean   result   // of an errand without a fault
	points  []crashtest.Point

	begunChains map[string]chain // the earlier conversations
	known       map[string]chain // and those that there were at the last look
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	s := newScene(t, &tally{began: time.Now()})
	s.must(os.RemoveAll(filepath.Join(s.begun, "repo/.git/hooks"))) // samples, which take time to copy
	return &theatre{scene: s, talk: t.TempDir()}
}

// stage prepares an errand, and runs it once without a fault.
func (th *theatre) stage(t *testing.T, e crashScenario) *stage {
	t.Helper()
	sc, p := *th.scene, *th.workspace
	sc.workspace, p.t = &p, t
	s := &stage{scene: &sc, crashScenario: e, theatre: th}
	s.reset()
	e.prepare(s)
	s.begun = t.TempDir()
	s.copy(s.root, s.begun)
	s.before = s.picture()
	chains, err := s.chains(s.before)
	require.NoError(t, err, e.name)
	s.begunChains, s.known = chains, chains
	out, traced := s.traced(s.args(), func(crashtest.Point) crashtest.Act { return crashtest.Act{} })
	require.Zero(t, out.exit, "%s: %s", e.name, out.stderr)
	s.clean, s.points = out, traced.Points
	s.after = s.picture()
	require.NoError(t, s.sound(out), e.name)
	require.NoError(t, s.complete(out), e.name)
	return s
}

// withTurn has the conversation of a turn of counted.
func (s *stage) withTurn() {
	th := s.theatre
	if th.id == "" {
		out := s.jp(words("query --model script/../counted.toml --policy auto --non-interactive Go")...)
		require.Zero(s.t, out.exit, out.stderr)
		c, err := s.readChain()
		require.NoError(s.t, err)
		th.id = c.id
		s.copy(s.root, th.talk)
	}
	s.copy(th.talk, s.root)
	s.id = th.id
}

// args is the errand's command.
func (s *stage) args() []string { return s.named(s.crashScenario.args) }

// named is a command about the conversation.
func (s *stage) named(command string) []string {
	args := words(command)
	for i, arg := range args {
		if arg == "ID" {
			args[i] = s.id
		}
	}
	return args
}

// patience is how long an errand may take. jp waits ten seconds for a lock of a
// ref, at most.
const patience = time.Minute

// traced runs a command of jp, and acts at its points and those of all programs that it starts.
func (s *stage) traced(args []string, act func(crashtest.Point) crashtest.Act) (result, crashtest.Result) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := s.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	traced, err := crashtest.Inject(ctx, cmd, act)
	if errors.Is(err, crashtest.ErrUnsupported) {
		// If tracing is forbidden, no call can be made to fail.
		s.t.Skip(err)
	}
	s.must(err)
	return result{stdout: stdout.String(), stderr: stderr.String(), exit: traced.Exit}, traced
}
