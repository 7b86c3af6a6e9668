package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore"
	"jp/process"
	"jp/sandbox"
)

const overwriteScript = `
[[reply]]
message = "I write the README."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "README.md", content = "new\n" }
[[reply]]
message = "Over."
`

// twiceScript overwrites a file, and then again.
const twiceScript = `
[[reply]]
message = "I write the README."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "README.md", content = "new\n" }
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "README.md", content = "newer\n" }
[[reply]]
message = "Over."
`

// longScript streams for some seconds, from the start again after a reply.
const longScript = `
[[reply]]
message = "Once upon a time.\n\nThere was a story that took its time to be told, so that whoever listened could say something in the middle of it."
chunk_size = 4
chunk_delay = "80ms"
`

// inBackground is a place with a turn in the background that waits for its first
// answer, and the conversation.
func inBackground(t *testing.T, script string, args ...string) (*workspace, conversation.ID) {
	t.Helper()
	p := newPlace(t)
	p.write("../background.toml", script)
	out := p.jp(append([]string{"query", "--detach", "-m", "script/../background.toml", "Do it"}, args...)...)
	require.Zero(t, out.exit, out.stderr)
	return p, conversation.ID(strings.TrimSpace(out.stdout))
}

// waits waits for a question, and returns its text.
func (p *workspace) waits() string {
	p.t.Helper()
	out := p.jp("attach", "--wait")
	require.Equal(p.t, problem.ExitDecision, out.exit, out.stderr)
	return out.stdout
}

// entry is the registry's entry of a conversation, false if there is none.
func (p *workspace) entry(id conversation.ID) (process.Entry, bool) {
	p.t.Helper()
	e, err := p.registry().Get(id)
	return e, err == nil
}

func (p *workspace) registry() process.Registry {
	p.t.Helper()
	common := p.repository().CommonDir
	workspace, err := os.ReadFile(filepath.Join(common, "jp", "workspace-id"))
	require.NoError(p.t, err)
	home := filepath.Join(filepath.Dir(p.dir), "home")
	return process.Registry{DataDir: filepath.Join(home, ".local/share/jp"), Workspace: strings.TrimSpace(string(workspace)), Repository: common}
}

// attachedSoon waits until the registry has an attached client, or none.
func (p *workspace) attachedSoon(id conversation.ID, want bool) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		e, ok := p.entry(id)
		return ok && e.Attached == want
	}, time.Minute, 5*time.Millisecond)
}

func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, twiceScript)
	require.Contains(t, p.waits(), "Create README.md? The file exists and will be overwritten.")
	require.Regexp(t, `waiting-for-input \(create\) \(pid \d+\)`, p.jp("ls").stdout)

	s := p.sit(100, "attach")
	s.WaitFor("I write the README.")
	s.prompted()
	require.Regexp(t, `waiting-for-input \(create\) \(pid \d+\), attached`, p.jp("ls").stdout)
	require.Contains(t, p.jp("show", "--json").stdout, `"attached":true`)
	s.WaitFor("! the file exists and will be overwritten")
	s.Type("a")
	s.WaitFor("1 - new\n    1 + newer")
	s.promptedAgain(2)
	s.Type("\x1a")
	require.Zero(t, s.exit())
	s.WaitFor("Detached; " + string(id) + " goes on (pid ")
	p.attachedSoon(id, false)

	require.Contains(t, p.jp("ls").stdout, "waiting-for-input (create) (pid ")
	out := p.jp("answer", string(id), "y")
	require.Zero(t, out.exit, out.stderr)
	require.Contains(t, out.stdout, "Answer: yes (user). "+string(id)+" goes on")
	require.Zero(t, p.jp("attach", "--wait").exit)
	require.Equal(t, "newer\n", p.read("README.md"))
	require.Zero(t, p.jp("verify").exit)
	_, told := p.entry(id)
	require.False(t, told, "nothing is left of a process that has ended")
}

func TestAttachShowsWhatComes(t *testing.T) {
	t.Parallel()
	p, _ := inBackground(t, overwriteScript)
	p.waits()
	s := p.sit(100, "attach")
	s.prompted()
	s.Type("n")
	require.Zero(t, s.exit())
	s.WaitFor("Over.")
	s.WaitFor("turn 1 done")
	text := s.Text()
	require.Equal(t, 1, strings.Count(text, "I write the README."), text)
	require.Equal(t, 1, strings.Count(text, "Over."), text)
	require.Contains(t, text, "– create README.md · you said no")
}

// leaves types a key until jp ends, since keys typed in the moment in which a question appears are
// thrown away.
func (s *sitting) leaves(key string) int {
	s.place.t.Helper()
	s.Type(key)
	again := time.AfterFunc(5*time.Second, func() { s.Type(key) })
	defer again.Stop()
	return s.exit()
}

// TestLeaving has every way to leave: the turn goes on, and can be attached to
// again.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*sitting){
		"Ctrl+Z":  func(s *sitting) { require.Zero(s.place.t, s.leaves("\x1a")) },
		`Ctrl+\`:  func(s *sitting) { require.Zero(s.place.t, s.leaves("\x1c")) },
		"hang-up": func(s *sitting) { s.Hangup(); require.Equal(s.place.t, 129, s.exit()) },
		"menu": func(s *sitting) {
			s.Type("\x03")
			s.WaitFor("d detach")
			s.Type("d")
			require.Zero(s.place.t, s.exit())
		},
		"killed": func(s *sitting) {
			require.NoError(s.place.t, s.cmd.Process.Kill())
			_ = s.cmd.Wait()
		},
	} {
		for where, script := range map[string]string{"at a question": overwriteScript, "while it streams": hangScript} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				p, id := inBackground(t, script)
				s := p.sit(100, "attach")
				if where == "at a question" {
					s.prompted()
				} else {
					s.WaitFor("Once upon a time")
				}
				p.attachedSoon(id, true)
				before, _ := p.entry(id)
				leave(s)
				p.attachedSoon(id, false)
				after, _ := p.entry(id)
				require.Equal(t, before.PID, after.PID)
				require.NotEmpty(t, process.StartOf(after.PID), "the process lives")
				again := p.sit(100, "attach")
				p.attachedSoon(id, true)
				require.Zero(t, again.leaves("\x1a"))
				require.Zero(t, p.jp("kill", string(id)).exit)
				require.NotContains(t, p.jp("print", "--json").stdout, "inquiry_response", "leaving is no answer")
			})
		}
	}
}

func TestOneIsAttached(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	first := p.sit(100, "attach")
	first.prompted()
	second := p.sit(100, "attach")
	require.Equal(t, problem.ExitLocked, second.exit())
	second.WaitFor("another terminal is attached already")
	follows := p.helps(second.Text(), "attach-json", "+ >../seen & until grep -q inquiry ../seen; do sleep 0.01; done; kill $!")
	require.Zero(t, follows.exit, follows.stderr)
	first.Type("n")
	require.Zero(t, first.exit())
	require.Zero(t, p.jp("attach", "--wait", string(id)).exit)
}

func TestTheMenuOverTheSocket(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		keys   []string
		exit   int
		last   string // type of the last event besides turn_done
	}{
		"stop":              {hangScript, []string{"s"}, 0, "turn_stopped"},
		"abort":             {hangScript, []string{"a"}, 130, "turn_interrupted"},
		"reply":             {longScript, []string{"r", "Be brief.\r"}, 0, "chat_response"},
		"cancel a tool":     {sleepScript, []string{"x"}, 0, "chat_response"},
		"stop a tool":       {sleepScript, []string{"s"}, 0, "turn_stopped"},
		"stop a question":   {overwriteScript, []string{"s"}, 0, "turn_stopped"},
		"abort a question":  {overwriteScript, []string{"a"}, 130, "turn_interrupted"},
		"back to it and no": {overwriteScript, []string{"\r", "n"}, 0, "chat_response"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{}
			if tt.script == sleepScript {
				args = append(args, "-y")
			}
			p, id := inBackground(t, tt.script, args...)
			s := p.sit(100, "attach")
			p.attachedSoon(id, true)
			switch tt.script {
			case overwriteScript:
				s.prompted()
			case sleepScript:
				p.recorded("tool_started")
			default:
				s.WaitFor("Once upon a time")
			}
			s.Type("\x03")
			for i, keys := range tt.keys {
				switch {
				case i == 0:
					s.WaitFor("a abort (jp continue resumes) >")
				case keys == "n":
					s.promptedAgain(2)
				default:
					s.WaitFor("Your reply:")
				}
				s.Type(keys)
			}
			require.Equal(t, tt.exit, s.exit(), s.Text())
			events := slices.DeleteFunc(p.events(), func(e map[string]any) bool { return e["type"] == "turn_done" })
			require.Equal(t, tt.last, events[len(events)-1]["type"])
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// TestAPipedQueryIsAnswered attaches to a query that was not detached and has no terminal of its own.
func TestAPipedQueryIsAnswered(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.environ = slices.DeleteFunc(p.environ, func(v string) bool { return strings.HasPrefix(v, "CI=") })
	p.write("../make.toml", overwriteScript)
	cmd := p.command("query", "-m", "script/../make.toml", "Write it")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(p.jp("ls").stdout, "waiting-for-input (") }, time.Minute, 20*time.Millisecond)
	s := p.sit(100, "attach")
	s.prompted()
	s.Type("y")
	require.Zero(t, s.exit())
	require.NoError(t, cmd.Wait())
	require.Equal(t, "Over.\n", stdout.String())
	require.Contains(t, stderr.String(), "waits for an answer: Create README.md?")
	require.Regexp(t, `jp answer [0-9a-z]{4}@\d+   y, n or a\n    jp attach `, stderr.String())
	require.Equal(t, "new\n", p.read("README.md"))
}

// TestTheTerminalHandsOver attaches to a query that asks at its own terminal.
func TestTheTerminalHandsOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../make.toml", overwriteScript)
	own := p.sit(100, "query", "-m", "script/../make.toml", "Write it")
	own.prompted()
	id := conversation.ID(p.events()[0]["conversation"].(string))

	other := p.sit(100, "attach")
	other.prompted()
	own.WaitFor("the attached terminal answers")
	other.Type("\x1a")
	require.Zero(t, other.exit())
	own.promptedAgain(2)
	require.Empty(t, p.ofType("inquiry_response"))

	out := p.jp("answer", string(id), "n", "another day")
	require.Zero(t, out.exit, out.stderr)
	require.Zero(t, own.exit())
	require.Contains(t, own.Text(), "you said no: another day")
	require.NotContains(t, own.Text(), "Create it?")
	require.Contains(t, p.jp("log").stdout, `answer: no, "another day" (user)`)
}

// TestAnsweredWhileAttached answers the attached terminal's question from a third shell.
func TestAnsweredWhileAttached(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	s := p.sit(100, "attach")
	s.prompted()
	require.Zero(t, p.jp("answer", string(id), "n").exit)
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "you said no")
	require.NotContains(t, s.Text(), "Create it?")
	require.Len(t, p.ofType("inquiry_response"), 1)
}

const countingScript = `
[[reply]]
message = "One.\n\nTwo.\n\nThree.\n\nFour."
chunk_size = 4
chunk_delay = "10ms"
[[reply.tool_call]]
name = "git_status"
arguments = {}
`

// TestFollowersThatAreKilled kills each follower of a turn after some lines, and lets the next one go
// on behind the last event that it saw: together they saw each event once, in order.
func TestFollowersThatAreKilled(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, strings.Repeat(countingScript, 6)+"[[reply]]\nmessage = \"Over.\"\n")
	seen, last := []int{}, -1
	for round := 0; ; round++ {
		cmd := p.command("attach", "--json", "--after", strconv.Itoa(last), string(id))
		if last < 0 {
			cmd = p.command("attach", "--json", string(id))
		}
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines, over := bufio.NewScanner(stdout), false
		lines.Buffer(nil, 1<<20)
		for n := 0; n <= round%5 && lines.Scan(); {
			var e struct {
				Type string
				Seq  int
				Turn int
			}
			require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
			if over = e.Type == "bye"; over {
				break
			}
			if e.Turn > 0 {
				seen, last = append(seen, e.Seq), e.Seq
				n++
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if over {
			break
		}
		if _, running := p.entry(id); !running { // it ended between two followers
			for _, e := range p.events()[last+1:] {
				seen = append(seen, int(e["seq"].(float64)))
			}
			break
		}
	}
	want := []int{}
	for i := range p.events() {
		want = append(want, i)
	}
	require.Equal(t, want, seen)
}

func TestKilledWhileItWaits(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	p.waits()
	s := p.sit(100, "attach")
	s.prompted()
	e, _ := p.entry(id)
	require.NoError(t, syscall.Kill(e.PID, syscall.SIGKILL))
	require.Equal(t, problem.ExitFailed, s.exit())
	s.WaitFor("is gone.")
	s.WaitFor("jp continue")
	require.Contains(t, p.jp("ls").stdout, "waiting-for-input (create)\t")
	_, told := p.entry(id)
	require.False(t, told, "who lists conversations removes what is left of the process")
	require.NoFileExists(t, filepath.Join(p.registry().Folder(), string(id)+".sock"))
	attached := p.jp("attach")
	require.Equal(t, problem.ExitDecision, attached.exit)
	require.Contains(t, attached.stderr, "jp continue")

	again := p.sit(100, "continue")
	again.prompted()
	again.Type("n")
	require.Zero(t, again.exit())
	require.Len(t, p.ofType("inquiry_request"), 1, "the question is asked again, and recorded once")
}

// TestTheTerminalOfADetachedTurnGoes closes the terminal from which a turn was sent into the
// background.
func TestTheTerminalOfADetachedTurnGoes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../make.toml", overwriteScript)
	s := p.sitWith(100, exec.Command("sh", "-c", `"$@"; read line`, "sh", "jp", "query", "--detach", "-m", "script/../make.toml", "Write"))
	s.WaitFor("goes on in the background")
	s.Hangup()
	_ = s.cmd.Wait()
	p.waits()
	require.Zero(t, p.jp("answer", "n").exit)
	require.Zero(t, p.jp("attach", "--wait").exit)
}

// TestTheLockIsNeverFree tries to take the lock all the time while a turn goes into the background: a
// process that gets it finds a complete turn.
func TestTheLockIsNeverFree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../say.toml", strings.Repeat("[[reply]]\nmessage = \"Yes.\"\n", 9))
	require.Zero(t, p.jp("query", "-m", "script/../say.toml", "Say").exit)
	id := conversation.ID(p.events()[0]["conversation"].(string))
	store, err := gitstore.Open(p.repository(), gitstore.Options{})
	require.NoError(t, err)
	defer store.Close()
	locks := process.LocksIn(p.repository().CommonDir)
	for range 3 {
		before := len(p.events())
		done := make(chan result)
		go func() { done <- p.jp("query", "--detach", "--id="+string(id), "Say") }()
		for turns := 0; turns == 0; {
			held, err := locks.Take(id, process.Holder{PID: os.Getpid()})
			if err != nil {
				continue
			}
			head, err := store.Head(t.Context(), id)
			require.NoError(t, err)
			events, err := store.Load(t.Context(), head)
			require.NoError(t, err)
			_, tail := conversation.SplitTail(events)
			require.Nil(t, tail, "the lock was free while the turn was under way")
			turns = len(events) - before
			require.NoError(t, held.Release())
			select {
			case out := <-done:
				if out.exit == problem.ExitLocked { // this test had it
					turns = 1
				}
			default:
			}
		}
		require.Zero(t, p.jp("attach", "--wait").exit)
	}
}

// A narrow screen shows a program's confinement in full, at the query's own question and in an
// attached terminal.
func TestConfinementOnNarrowTerminals(t *testing.T) {
	t.Parallel()
	if !sandbox.Supported().Enforced() {
		// Only a kernel with Landlock confines, and only then is there a line to read.
		t.Skip("programs cannot be confined here")
	}
	for _, columns := range []int{30, 40, 80} {
		p := newPlace(t)
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, "../home/.cache"), 0o700)) // temporary files go there if the home is below /tmp
		p.write("../run.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"true\"] }\n[[reply]]\nmessage = \"Over.\"\n")
		own := p.sit(columns, "query", "-m", "script/../run.toml", "Run it")
		own.prompted()
		before := own.Text() // the question leaves it for the other terminal
		s := p.sit(columns, "attach")
		s.prompted()
		for _, screen := range []string{before, s.Text()} {
			words := strings.Join(strings.Fields(screen), " ")
			require.Contains(t, words, "confined: writes here and caches only", columns)
			require.Contains(t, words, "no network", columns)
		}
		s.Type("n")
		require.Zero(t, s.exit())
		require.Zero(t, own.exit())
	}
}
