package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const hangScript = `
[[reply]]
message = "Once upon a time\n\nthere was"
chunk_size = 4
hang = true
[[reply]]
message = "The end."
`

// recorded waits until an event of a type is in the conversation.
func (p *workspace) recorded(name string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return len(p.ofType(name)) > 0 }, time.Minute, 20*time.Millisecond)
}

// menu opens the menu for the number-th time.
func (s *sitting) menu(number int) {
	s.place.t.Helper()
	if number == 1 {
		s.WaitFor("· script/")
		s.place.recorded("chat_request")
	}
	s.Type("\x03")
	s.Wait("the menu", func() bool { return strings.Count(s.Raw(), "a abort (jp continue resumes) >") >= number })
}

func TestMenuWhileTheModelAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		choose func(*sitting)
		want   string // type of the last event besides turn_done
		exit   int
	}{
		"stop":    {func(s *sitting) { s.Type("s") }, "turn_stopped", 0},
		"abort":   {func(s *sitting) { s.Type("a") }, "turn_interrupted", 130},
		"Ctrl+C":  {func(s *sitting) { s.Type("\x03") }, "turn_interrupted", 130},
		"Ctrl+D":  {func(s *sitting) { s.Type("\x04") }, "turn_interrupted", 130},
		"hang-up": {func(s *sitting) { s.Hangup() }, "turn_interrupted", 129},
		"go on":   {func(s *sitting) { s.Type("\r") }, "chat_response", 0},
		"reply":   {func(s *sitting) { s.Type("r"); s.WaitFor("Your reply:"); s.Type("Be brief.\r") }, "chat_response", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../hang.toml", hangScript)
			p.write("../slow.toml", slowScript)
			script := "script/../hang.toml"
			if name == "reply" || name == "go on" { // it has to come to an end
				script = "script/../slow.toml"
			}
			s := p.sit(100, "query", "-m", script, "Tell me")
			s.menu(1)
			s.WaitFor("The model is answering.")
			tt.choose(s)
			require.Equal(t, tt.exit, s.exit())
			events := p.events()
			last := events[len(events)-1]
			if last["type"] == "turn_done" {
				last = events[len(events)-2]
			}
			require.Equal(t, tt.want, last["type"])
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

// The model's text stays at its place while the menu is open, and all of it is there afterwards.
func TestTheTextStaysBehindTheMenu(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string]int{"wide": 100, "narrow": 48} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../long.toml", longScript)
			s := p.sit(columns, "query", "-m", "script/../long.toml", "Tell me")
			s.WaitFor("There was a")
			s.menu(1)
			require.Contains(t, s.Text(), "There was a", "while the menu is open")
			s.Type("\r")
			require.Zero(t, s.exit())
			text := strings.Join(strings.Fields(s.Text()), " ")
			require.Contains(t, text, "There was a story that took its time to be told, so that whoever listened could say something in the middle of it.")
			require.Equal(t, 1, strings.Count(text, "Once upon a time."), "a finished block is there once")
		})
	}
}

const sleepScript = `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo started; sleep 600"] }
[[reply]]
message = "Over."
`

func TestMenuWhileAToolRuns(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"x": "the user cancelled it; what it did until then is not known",
		"s": "Cancelled after it had started: check before repeating.",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../sleep.toml", sleepScript)
			s := p.sit(100, "query", "-y", "-m", "script/../sleep.toml", "Sleep")
			s.WaitFor("· script/")
			p.recorded("tool_started")
			s.menu(1)
			s.WaitFor("sh -c 'echo started; sleep 600' has run")
			s.Type(key)
			require.Equal(t, 0, s.exit())
			response := p.ofType("tool_call_response")[0]
			require.Contains(t, response["content"], want)
			require.Equal(t, true, response["cancelled"])
			require.Contains(t, p.jp("ls").stdout, "idle")
		})
	}
}

// slowScript takes long enough to be interrupted.
const slowScript = `
[[reply]]
message = "Once upon a time there was. The end."
chunk_size = 2
chunk_delay = "50ms"
[[reply]]
message = "Then nothing."
`

func TestOffer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args   []string
		answer func(*sitting)
		exit   int
		check  func(*testing.T, *workspace)
	}{
		"quit": {nil, func(s *sitting) { s.Type("q") }, 3, func(t *testing.T, p *workspace) {
			require.Contains(t, p.jp("ls").stdout, "interrupted")
		}},
		"Ctrl+D":           {nil, func(s *sitting) { s.Type("\x04") }, 3, nil},
		"Ctrl+C":           {nil, func(s *sitting) { s.Type("\x03") }, 130, nil},
		"Enter, then quit": {nil, func(s *sitting) { s.Type("\r"); s.WaitFor("r, d, e, q or ?"); s.prompted(); s.Type("Q") }, 3, nil},
		"help, then quit": {nil, func(s *sitting) {
			s.Type("?")
			s.WaitFor("another way from an earlier event")
			s.prompted()
			s.Type("q")
		}, 3, nil},
		"resume": {nil, func(s *sitting) { s.Type("r") }, 0, func(t *testing.T, p *workspace) {
			require.Len(t, p.ofType("turn_start"), 1)
			require.Len(t, p.ofType("chat_request"), 1)
			require.Contains(t, p.jp("print", "--answer").stdout, "The end.")
		}},
		"resume, then the new question": {[]string{"And then?"}, func(s *sitting) { s.Type("r") }, 0, func(t *testing.T, p *workspace) {
			require.Len(t, p.ofType("turn_start"), 2)
			require.Contains(t, p.jp("print", "--answer").stdout, "Then nothing.")
		}},
		"discard, then the new question": {[]string{"And then?"}, func(s *sitting) { s.Type("d") }, 0, func(t *testing.T, p *workspace) {
			require.Len(t, p.ofType("turn_discarded"), 1)
			require.Len(t, p.ofType("turn_start"), 2)
			require.Contains(t, p.jp("print", "--answer").stdout, "The end.")
		}},
		"quit keeps the question": {[]string{"And then?"}, func(s *sitting) { s.Type("q"); s.WaitFor("Your question is kept.") }, 3, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../slow.toml", slowScript)
			s := p.sit(100, "query", "-m", "script/../slow.toml", "Tell me")
			s.menu(1)
			s.Type("a")
			require.Equal(t, 130, s.exit())
			before := p.git("for-each-ref", "refs/jp")

			offer := p.sit(100, append([]string{"query"}, tt.args...)...)
			offer.WaitFor("You aborted turn 1 of jp-c")
			offer.prompted()
			tt.answer(offer)
			require.Equal(t, tt.exit, offer.exit())
			if tt.exit != 0 {
				require.Equal(t, before, p.git("for-each-ref", "refs/jp"), "nothing is changed")
			}
			if tt.check != nil {
				tt.check(t, p)
			}
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

// Ctrl+Z stops jp, and fg lets it go on, if a shell has started it.
func TestSuspend(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../slow.toml", slowScript)
	s := p.sitWith(100, exec.Command("sh", "-mc", "jp query -m script/../slow.toml Tell; echo STOPPED; fg"))
	s.WaitFor("· script/")
	p.recorded("chat_request")
	s.Type("\x1a")
	s.WaitFor("STOPPED")
	require.Equal(t, 0, s.exit())
	require.Contains(t, p.jp("print", "--answer").stdout, "The end.")
}

// Two turns change files in one working tree one after the other. The waiting one says so, and can be
// cancelled.
func TestWaitForAnotherThatChangesFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../survivor.toml", survivorScript)
	p.write("../sleep.toml", sleepScript)
	first := p.command("query", "-y", "-m", "script/../survivor.toml", "Wait")
	require.NoError(t, first.Start())
	t.Cleanup(func() { p.endSurvivor(); _ = first.Wait() })
	require.Eventually(t, func() bool { return p.lines("count") == 1 }, time.Minute, 10*time.Millisecond)

	s := p.sit(120, "query", "--new", "-y", "-m", "script/../sleep.toml", "Sleep")
	s.WaitFor("Another jp changes files in this working tree; waiting for it. jp doctor names its process.")
	locks := p.examined().about("locks")
	require.Contains(t, locks, ".git/jp/mutation.lock is locked: a tool or an undo changes files of this working tree, and others wait")
	if runtime.GOOS == "linux" {
		require.Regexp(t, fmt.Sprintf(`pids .*\b%d\b.* have it open`, first.Process.Pid), locks)
	}
	s.Type("\x03")
	s.WaitFor("waits for another jp that changes files here")
	s.WaitForEnd("resumes) >")
	s.Type("x")
	require.Equal(t, 0, s.exit())
	require.Contains(t, s.Raw(), "cancelled")
	require.Empty(t, p.ofType("tool_started"))
}
