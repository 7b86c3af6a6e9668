package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/process"
)

// sitWaiting starts a jp at a terminal, and waits for its waiting line.
func (p *workspace) sitWaiting(args ...string) *sitting {
	p.t.Helper()
	s := p.sit(140, args...)
	s.WaitFor(" is busy: pid ")
	s.prompted()
	return s
}

func TestWhoWaitsGoesOnByItself(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	s := p.sitWaiting("query", "And now?")
	require.Regexp(t, `(?m)^`+string(id)+` is busy: pid \d+ in the background, sh -c .* for \d+ m?s\.$`, s.Text())
	require.Contains(t, s.Text(), "\nWaiting for it.\n  a attach   f ask in a fork   n ask in a new conversation   q leave (Ctrl+C)\n>")
	s.Type("xz\r")
	p.write("go", "")
	require.Zero(t, s.exit())
	s.WaitFor("> It is free.\n" + string(id) + " · turn 2 ")
	s.WaitFor("\n  One more.\n")
	require.Len(t, p.ofType("turn_done"), 2)
	require.Zero(t, p.jp("verify").exit)
}

// The incomplete turn of the other process is loaded when the conversation is free.
func TestWhoWaitedIsOfferedWhatWasBrokenOff(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	s := p.sitWaiting("query", "And now?")
	require.Zero(t, p.jp("kill", string(id)).exit)
	s.WaitFor("d  discard turn 1, then ask your new question")
	s.prompted()
	s.Type("q")
	require.Equal(t, problem.ExitDecision, s.exit())
	require.Len(t, p.ofType("chat_request"), 1)
}

func TestContinueWaits(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{"continue": "No turn is incomplete", "discard": "No turn is incomplete"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p, _ := inUse(t)
			s := p.sitWaiting(args)
			require.Contains(t, s.Text(), "\nWaiting for it.\n  a attach   q leave (Ctrl+C)\n>")
			s.Type("fn")
			p.write("go", "")
			require.Zero(t, s.exit())
			s.WaitFor(says)
		})
	}
}

func TestWhoWaitsCanLeave(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*sitting){
		"Ctrl+C":  func(s *sitting) { s.Type("\x03") },
		"Ctrl+D":  func(s *sitting) { s.Type("\x04") },
		"Esc":     func(s *sitting) { s.Type("\x1b") },
		"q":       func(s *sitting) { s.Type("q") },
		"SIGINT":  func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGINT) },
		"hang-up": func(s *sitting) { s.Hangup() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, id := inUse(t)
			s := p.sitWaiting("query", "And now?")
			leave(s)
			require.Equal(t, problem.ExitLocked, s.exit())
			draft, err := os.ReadFile(filepath.Join(p.dir, ".git/jp/drafts", string(id)+".query"))
			require.NoError(t, err)
			require.Equal(t, "And now?\n", string(safefile.Unsealed(draft)))
			require.Contains(t, p.jp("ls").stdout, "running (pid ", "the other one goes on")
		})
	}
}

func TestSIGTERMEndsTheWait(t *testing.T) {
	t.Parallel()
	p, _ := inUse(t)
	s := p.sitWaiting("query", "And now?")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 143, s.exit())
}

func TestWhoWaitsCanAskElsewhere(t *testing.T) {
	t.Parallel()
	for key, says := range map[string]string{"f": " · fork of ", "n": " · new · "} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p, id := inUse(t)
			p.write("../else.toml", strings.Repeat("[[reply]]\nmessage = \"Elsewhere.\"\n", 3))
			s := p.sitWaiting("query", "-m", "script/../else.toml", "And now?")
			s.Type(key)
			require.Zero(t, s.exit())
			s.WaitFor("Elsewhere.")
			require.Contains(t, s.Text(), says)
			require.NotContains(t, p.jp("show", "--ref").stdout, string(id), "the session went there")
			require.Contains(t, p.jp("status", string(id)).stdout, "running")
			require.Equal(t, 1, strings.Count(p.jp("ls").stdout, "idle"))
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}

func TestWhoWaitsCanAttach(t *testing.T) {
	t.Parallel()
	p, id := asking(t)
	s := p.sitWaiting("query", "And now?")
	s.Type("a")
	s.WaitFor("Create it?")
	s.promptedAgain(2)
	s.Type("\x1a")
	s.WaitFor("Detached; " + string(id) + " goes on")
	s.promptedAgain(3)
	require.Equal(t, 2, strings.Count(s.Raw(), " is busy: pid "))
	s.Type("\x03")
	require.Equal(t, problem.ExitLocked, s.exit())
	require.Empty(t, p.ofType("inquiry_response"))
}

// A jp that waits for a process with a question answers the question.
func TestWhoWaitsAnswers(t *testing.T) {
	t.Parallel()
	p, id := asking(t)
	s := p.sitWaiting("query", "And now?")
	require.Regexp(t, string(id)+` is busy: pid \d+ in the background\.
It waits for an answer: Create made\.txt\?
  a attach   f ask in a fork   n ask in a new conversation   q leave \(Ctrl\+C\)
>`, s.Text())
	s.Type("a")
	s.WaitFor("Create it?")
	s.promptedAgain(2)
	s.Type("a")
	s.WaitFor("One more.")
	require.Zero(t, s.exit())
	require.Equal(t, []string{"made.txt", "other.txt"}, p.untracked())
}

// A question that is answered elsewhere is shown, and so is the next one.
func TestWhoWaitsSeesWhatIsAsked(t *testing.T) {
	t.Parallel()
	p, id := asking(t)
	s := p.sitWaiting("query", "And now?")
	require.Zero(t, p.jp("answer", string(id), "n").exit)
	s.WaitFor("It waits for an answer: Create other.txt?")
	require.Zero(t, p.jp("answer", string(id), "n").exit)
	s.WaitFor("One more.")
	require.Zero(t, s.exit())
	require.Empty(t, p.untracked())
}

// held locks the conversation of a place in the name of another process, which cannot be reached.
func held(t *testing.T) (p *workspace, release func() error) {
	t.Helper()
	p = newPlace(t)
	p.write("../talk.toml", talkScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
	id := conversation.ID(p.jp("show", "--json").field(t, "id"))
	lock, err := process.LocksIn(p.repository().CommonDir).Take(id, process.Holder{PID: 4711})
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Release() })
	return p, lock.Release
}

func TestWhoHoldsItNeedNotBeReachable(t *testing.T) {
	t.Parallel()
	p, release := held(t)
	s := p.sitWaiting("query", "And now?")
	require.Contains(t, s.Text(), " is busy: pid 4711.\nWaiting for it.\n  f ask in a fork   n ask in a new conversation   q leave (Ctrl+C)\n>")
	s.Type("a")
	require.NoError(t, release())
	require.Zero(t, s.exit())
	s.WaitFor("> It is free.\n")
}

func TestWhoIsNotToBeAskedDoesNotWait(t *testing.T) {
	t.Parallel()
	p, _ := held(t)
	for _, flag := range []string{"--non-interactive", "--detach"} {
		s := p.sit(100, "query", flag, "And now?")
		require.Equal(t, problem.ExitLocked, s.exit())
		s.WaitFor("is locked by pid 4711.")
		require.NotContains(t, s.Text(), "kept")
	}
}
