package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// liveScript runs a tool that goes on until a file is there.
const liveScript = `[[reply]]
message = "I run them."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo first; printf '\\033[31mtoken %s%s\\033[0m\\n' ghp_16C7e42F292c69 12C2E71D6e8b1f2A3c4dJ5; until test -e go; do sleep 0.05; done; seq 1 9; exit 3"] }
[[reply]]
message = "Done."
`

// thinkingScript thinks without an end.
const thinkingScript = `[[reply]]
reasoning = "First the retries.\nThe loop tries for ever, so I cap it.\nThen"
hang = true
`

var (
	spins   = regexp.MustCompile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
	colours = regexp.MustCompile(`\x1b\[[\d;]*m`)
	redrawn = regexp.MustCompile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|\x1b\\[[JK]") // written by a live line only
)

// liveLooks are terminals with their properties.
var liveLooks = map[string]struct {
	columns int
	environ string
}{"80 columns": {80, ""}, "40 columns": {40, ""}, "NO_COLOR": {80, "NO_COLOR=1"}}

func TestLiveLineOfTheModel(t *testing.T) {
	t.Parallel()
	for name, tt := range liveLooks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, tt.environ)
			p.write("../thinking.toml", thinkingScript)
			s := p.sit(tt.columns, "query", "-m", "script/../thinking.toml", "Cap them")
			want := regexp.MustCompile(`(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking · \d+ s · 16 tokens( · Ctrl\+C menu)?\n  The loop tries for ever, so I cap it\.$`)
			s.Wait("the model thinks", func() bool { return want.MatchString(s.Text()) })
			require.Equal(t, tt.columns == 80, strings.Contains(s.Text(), "Ctrl+C menu"))
			require.NotContains(t, s.Text(), " % of ", "the script has no window")
			require.Equal(t, tt.environ == "", strings.Contains(s.Raw(), "\x1b[2m"), "what is less important is dim")
			s.abort()
			require.Equal(t, 130, s.exit())
			require.NotRegexp(t, spins, s.Text(), "it is gone")
			require.LessOrEqual(t, widest(s), tt.columns)
		})
	}
}

// The line shows how much of the model's context the call fills, if the model's window is known, also
// in another terminal.
func TestLiveLineHasTheContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../thinking.toml", "context = 10000\n"+thinkingScript)
	want := regexp.MustCompile(`(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking · \d+ s · 16 tokens · \d+ % of 10k`)
	s := p.sit(80, "query", "-m", "script/../thinking.toml", "Cap them")
	s.Wait("the model thinks", func() bool { return want.MatchString(s.Text()) })
	other := p.sit(80, "attach")
	other.Wait("the model thinks", func() bool { return want.MatchString(other.Text()) })
	s.cmd.Process.Kill()
	other.exit()
}

// Keys typed while jp works stay out of jp's output, and the terminal shows keys again after any end
// of the turn. The next program gets the typed keys.
func TestTypedKeysStayOutOfTheScreen(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *workspace, s *sitting){
		"its end": func(p *workspace, _ *sitting) { p.write("go", "") },
		"abort":   func(_ *workspace, s *sitting) { s.abort() },
		"a signal": func(p *workspace, _ *sitting) {
			pid, err := strconv.Atoi(strings.TrimSpace(p.read("pid")))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../live.toml", liveScript)
			// With job control jp has a process group, so it stays in the session of the terminal.
			cmd := exec.Command("sh", "-mc", `stty -a >before; sh -c 'echo $$ >pid; exec "$@"' sh "$@"; stty -a >after; read line; echo "next got: $line"`, "sh")
			cmd.Args = append(cmd.Args, p.command("query", "-y", "-m", "script/../live.toml", "Cap them").Args...)
			s := p.sitWith(80, cmd)
			s.WaitFor("token [secret:")
			shown := len(s.Raw())
			s.Type("keys\rtyped\r")
			again := regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`)
			s.Wait("the line moves on", func() bool { return len(again.FindAllString(s.Raw()[shown:], 3)) == 3 })
			require.NotContains(t, s.Raw(), "keys")
			require.Equal(t, 1, len(spins.FindAllString(s.Text(), -1)), "one live line: %s", s.Text())
			end(p, s)
			if name == "abort" { // a question begins with an empty line
				require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(p.dir, "after")); return err == nil }, time.Minute, 10*time.Millisecond)
				s.Type("keys\r")
			}
			s.WaitFor("next got: keys")
			s.exit()
			require.Equal(t, p.read("before"), p.read("after"))
			p.write("go", "")
		})
	}
}

func TestLiveLineOfATool(t *testing.T) {
	t.Parallel()
	for name, tt := range liveLooks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, tt.environ)
			p.write("../live.toml", liveScript)
			s := p.sit(tt.columns, "query", "-y", "-m", "script/../live.toml", "Cap them")
			want := regexp.MustCompile(`(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] sh -c 'echo .*… · \d+ s\n  token \[secret:github`)
			s.Wait("the tool runs", func() bool { return want.MatchString(s.Text()) })
			p.write("go", "")
			require.Zero(t, s.exit())
			require.NotRegexp(t, spins, s.Text(), "it is gone")
			require.Contains(t, s.Text(), "exit 3")
			require.Contains(t, s.Text(), "\n  Done.\n")
			require.NotContains(t, s.Raw(), "ghp_16C7e42F292c6912")
			require.LessOrEqual(t, widest(s), tt.columns)
			if tt.environ != "" {
				require.NotRegexp(t, `\x1b\[[\d;]*m`, s.Raw())
			}
			require.NotContains(t, s.Raw(), "\x1b[?25l", "the cursor stays visible")
		})
	}
}

func TestLiveLineAtAMenu(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../slow.toml", liveScript)
	s := p.sit(80, "query", "-y", "-m", "script/../slow.toml", "Cap them")
	s.WaitFor("token [secret:")
	s.Type("\x03")
	s.WaitForEnd("a abort (jp continue resumes) >")
	menu := s.Text()
	require.NotRegexp(t, spins, menu)
	require.Contains(t, menu, "has run")
	s.Resize(60, 24)
	s.Type("\r")
	s.Wait("it is back", func() bool {
		return regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] sh -c`).MatchString(s.Text())
	})
	p.write("go", "")
	require.Zero(t, s.exit())
	require.NotRegexp(t, spins, s.Text())
}

func TestLiveLineBeforeAQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../slow.toml", liveScript)
	s := p.sit(80, "query", "-m", "script/../slow.toml", "Cap them")
	s.prompted()
	require.NotRegexp(t, spins, s.Text())
	s.Type("n")
	require.Zero(t, s.exit())
}

func TestLiveLineOfAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../slow.toml", liveScript)
	s := p.sit(80, "query", "-y", "-m", "script/../slow.toml", "Cap them")
	s.WaitFor("token [secret:")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGKILL))
	s.exit()
	require.NotContains(t, s.Raw(), "\x1b[?25l")
	require.NotContains(t, s.Raw(), "\x1b[?1049h")
	p.write("go", "")
}

// TestLiveLineIsOnlyForTerminals runs with each kind of output that is none.
func TestLiveLineIsOnlyForTerminals(t *testing.T) {
	t.Parallel()
	const quick = "[[reply]]\nreasoning = \"I think.\\n\"\nchunk_delay = \"200ms\"\nmessage = \"Over.\"\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", \"echo out; sleep 0.4; exit 1\"] }\n[[reply]]\nmessage = \"Done.\"\n"
	for name, args := range map[string][]string{"piped": nil, "quiet": {"-q"}, "json": {"--json"}, "verbose": {"-v"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../quick.toml", quick)
			out := p.jp(append([]string{"query", "-y", "-m", "script/../quick.toml", "Go"}, args...)...)
			require.Zero(t, out.exit, out.stderr)
			require.NotRegexp(t, redrawn, out.stdout+out.stderr)
			require.NotContains(t, out.stdout+out.stderr, "thinking")
		})
	}
	for name, environ := range map[string]string{"dumb": "TERM=dumb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, environ)
			p.write("../quick.toml", quick)
			s := p.sit(80, "query", "-y", "-m", "script/../quick.toml", "Go")
			require.Zero(t, s.exit())
			require.NotRegexp(t, redrawn, s.Raw())
		})
	}
	t.Run("stdout in a file", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.write("../quick.toml", quick)
		master, tty, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo-terminal here: ", err)
		}
		defer master.Close()
		file, err := os.Create(t.TempDir() + "/out")
		require.NoError(t, err)
		cmd := p.command("query", "-y", "-m", "script/../quick.toml", "Go")
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.environ, file, tty
		require.NoError(t, cmd.Start())
		require.NoError(t, tty.Close())
		var said strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			said.Write(buf[:n])
			if err != nil {
				break
			}
		}
		require.NoError(t, cmd.Wait())
		text, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		require.Equal(t, "Done.\n", string(text))
		require.Contains(t, said.String(), " sh -c 'echo out", "standard error is a terminal")
		require.Regexp(t, redrawn, said.String())
	})
}

func TestLiveLineOfAnAttachedTurn(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 40} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p, id := inBackground(t, liveScript, "-y")
			s := p.sit(columns, "attach", string(id))
			want := regexp.MustCompile(`(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] sh -c 'echo .*… · \d+ s\n  token \[secret:github`)
			s.Wait("the tool runs", func() bool { return want.MatchString(s.Text()) })
			s.Type("\x03")
			s.WaitForEnd("a abort (jp continue resumes) >")
			require.NotRegexp(t, spins, s.Text())
			s.Type("\r")
			s.Wait("it is back", func() bool { return want.MatchString(s.Text()) })
			s.Type("\x1a") // leaves
			require.Zero(t, s.exit())
			require.NotRegexp(t, spins, s.Text())
			again := p.sit(columns, "attach", string(id))
			again.Wait("it is there at once", func() bool { return want.MatchString(again.Text()) })
			p.write("go", "")
			require.Zero(t, again.exit())
			require.Contains(t, again.Text(), "Done.")
			require.NotRegexp(t, spins, again.Text())
			require.NotContains(t, s.Raw()+again.Raw(), "ghp_16C7e42F292c6912")
			piped := p.jp("attach", string(id))
			require.NotRegexp(t, redrawn, piped.stdout+piped.stderr)
		})
	}
}

// TestFailedToolOnATerminal shows the end of a failed tool's output, and the place of the rest.
func TestFailedToolOnATerminal(t *testing.T) {
	t.Parallel()
	const fails = `[[reply]]
message = "I test."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "for i in $(seq 1 9); do echo \"line $i has some words in it\"; done; exit 1"] }
[[reply]]
message = "It fails."
`
	for name, tt := range map[string]struct {
		columns int
		args    []string
		want    string
	}{
		"80 columns": {80, nil, "\n      … 6 lines   jp print --tools ID\n      line 7 has some words in it\n      line 8 has some words in it\n      line 9 has some words in it\n  It fails."},
		"24 columns": {24, nil, "\n    line 9 has some\n    words in it\n  It fails."},
		"verbose":    {80, []string{"-v"}, "\n      line 1 has some words in it\n      line 2 has some words in it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../fails.toml", fails)
			s := p.sit(tt.columns, append([]string{"query", "-y", "-m", "script/../fails.toml", "Test"}, tt.args...)...)
			require.Zero(t, s.exit())
			id := conversation.ID(strings.TrimPrefix(strings.TrimSpace(p.jp("show", "--ref").stdout), "refs/jp/conversations/")).Short()
			require.Contains(t, s.Text(), strings.Replace(tt.want, "ID", id, 1))
			all := p.jp("print", "--tools", id)
			require.Zero(t, all.exit, "the hint helps")
			require.Contains(t, all.stdout, "    line 1 has some words in it\n")
		})
	}
}

// TestStreamingGoesOnInALongBlock lets a model write a long code block that it never ends.
func TestStreamingGoesOnInALongBlock(t *testing.T) {
	t.Parallel()
	var message strings.Builder
	message.WriteString("Here it is:\n\n```json\n")
	for i := range 600 {
		fmt.Fprintf(&message, "{ \"key\": %d, \"of\": \"a value in a long block\" },\n", i)
	}
	script := "[[reply]]\nhang = true\nchunk_size = 4096\nmessage = '''\n" + message.String() + "'''\n"
	t.Run("query", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.write("../long.toml", script)
		s := p.sit(80, "query", "-m", "script/../long.toml", "Write")
		s.WaitFor(`"key": 599,`)
		s.abort()
		require.Equal(t, 130, s.exit())
		require.Contains(t, s.Text(), `"key": 599,`, "and stays")
		require.Equal(t, 1, strings.Count(colours.ReplaceAllString(s.Raw(), ""), `"key": 77,`), "each line is written once")
	})
	t.Run("attach", func(t *testing.T) {
		t.Parallel()
		p, id := inBackground(t, script)
		s := p.sit(80, "attach", string(id))
		s.WaitFor(`"key": 599,`)
		s.Type("\x1a")
		require.Zero(t, s.exit())
	})
}

// TestHighlightedCodeOnATerminal lets a model write code and a diff.
func TestHighlightedCodeOnATerminal(t *testing.T) {
	t.Parallel()
	const script = "[[reply]]\nchunk_size = 7\nmessage = '''\nThis:\n\n```go\nfunc main() {}\n```\n\n```diff\n-old\n+new\n```\n'''\n"
	look := regexp.MustCompile(`(?s)\x1b\[35mfunc\x1b\[39m.*\x1b\[31m-old\x1b\[39m.*\x1b\[32m\+new\x1b\[39m`)
	for name, tt := range map[string]struct {
		columns     int
		environ     string
		highlighted bool
	}{"80 columns": {80, "", true}, "24 columns": {24, "", true}, "NO_COLOR": {80, "NO_COLOR=1", false}, "dumb": {80, "TERM=dumb", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, tt.environ)
			p.write("../code.toml", script)
			s := p.sit(tt.columns, "query", "-m", "script/../code.toml", "Write")
			require.Zero(t, s.exit())
			require.Regexp(t, `\n +func main\(\) {}\n\n +-old\n +\+new\n`, s.Text())
			require.Equal(t, tt.highlighted, look.MatchString(s.Raw()), "%q", s.Raw())
			again := p.sit(tt.columns, "print")
			require.Zero(t, again.exit())
			require.Equal(t, tt.highlighted, look.MatchString(again.Raw()), "%q", again.Raw())
			if !tt.highlighted {
				require.NotRegexp(t, colours, s.Raw()+again.Raw())
			}
			p = newPlace(t)
			p.write("../code.toml", script)
			piped := p.jp("query", "-m", "script/../code.toml", "Write")
			require.Equal(t, "This:\n\n```go\nfunc main() {}\n```\n\n```diff\n-old\n+new\n```\n", piped.stdout)
		})
	}
}

// TestSuspendInAnAnswer stops jp while the model writes a paragraph, and resizes the terminal
// in the middle of one. In the end the paragraph is there once and whole.
func TestSuspendInAnAnswer(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 90 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	paragraph := strings.Join(words, " ")
	script := "[[reply]]\nchunk_size = 6\nchunk_delay = \"20ms\"\nmessage = \"" + paragraph + "\"\n"
	for name, environ := range map[string]string{"colours": "", "NO_COLOR": "NO_COLOR=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, environ)
			p.write("../words.toml", script)
			s := p.sitWith(60, exec.Command("sh", "-mc", "jp query -m script/../words.toml Tell; echo STOPPED; fg"))
			s.WaitFor("word20 ")
			s.Type("\x1a")
			s.WaitFor("STOPPED")
			s.WaitFor("word60 ")
			s.Resize(100, 24)
			require.Equal(t, 0, s.exit())
			before, after, _ := strings.Cut(s.Text(), "STOPPED")
			require.NotContains(t, before, "word0", "the unfinished paragraph went away")
			require.Contains(t, strings.Join(strings.Fields(after), " "), paragraph+" turn 1")
			require.Equal(t, 1, strings.Count(after, "word0 "))
		})
	}
}

// TestTranscriptBreaksBetweenWords prints and attaches to a conversation on narrow terminals.
func TestTranscriptBreaksBetweenWords(t *testing.T) {
	t.Parallel()
	const words = "several ordinary words that together take more than one line of each terminal"
	script := "[[reply]]\nreasoning = \"Reasons: " + words + ".\"\nmessage = \"Answer: " + words + ".\"\n" +
		"[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", \"echo " + words + "; exit 3\"] }\n[[reply]]\nmessage = \"Last.\"\nhang = true\n"
	p, id := inBackground(t, script, "-y", "Request: "+words)
	p.recorded("tool_call_response") // an attached terminal's view of streaming reasoning goes away
	screens := map[string]string{}
	for _, columns := range []int{60, 40} {
		for _, environ := range []string{"", "NO_COLOR=1"} {
			q := *p
			q.environ = append(slices.Clone(p.environ), environ)
			s := q.sit(columns, "attach", string(id))
			s.WaitFor("Last.")
			s.Type("\x1a")
			require.Zero(t, s.exit())
			screens[fmt.Sprint("attach ", columns, environ)] = s.Text()
			s = q.sit(columns, "print", "--style=full", "--tools", string(id))
			require.Zero(t, s.exit())
			screens[fmt.Sprint("print ", columns, environ)] = s.Scrolled()
		}
	}
	for name, screen := range screens {
		text := strings.Join(strings.Fields(screen), " ")
		for _, who := range []string{"Reasons: ", "Answer: "} {
			require.Contains(t, text, who+words+".", name)
		}
		require.Contains(t, text, "sh -c 'echo several", name)
	}
}

// TestLiveLineOfParallelTools runs two tools at once that only read. Both wait for a file, and
// one of them fails then.
func TestLiveLineOfParallelTools(t *testing.T) {
	t.Parallel()
	const config = "[tools.look]\ndescription = \"Look\"\ncommand = [\"sh\", \"-c\", \"cat >/dev/null; echo it looks; until test -e go; do sleep 0.05; done; mkdir seen 2>/dev/null || { seq 1 7; exit 3; }\"]\n" +
		"mutates = false\nrun = \"unattended\"\n[sandbox]\nenable = false\n"
	const script = "[[reply]]\nmessage = \"I look.\"\n[[reply.tool_call]]\nname = \"look\"\narguments = {}\n[[reply.tool_call]]\nname = \"look\"\narguments = {}\n[[reply]]\nmessage = \"Done.\"\n"
	for _, columns := range []int{80, 40} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../home/.config/jp/config.toml", config)
			p.write("../look.toml", script)
			s := p.sit(columns, "query", "-m", "script/../look.toml", "Look")
			want := regexp.MustCompile(`(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] look · \d+ s · 1 more\n  it looks$`)
			s.Wait("both run", func() bool { return want.MatchString(s.Text()) })
			p.write("go", "")
			require.Zero(t, s.exit())
			require.NotRegexp(t, spins, s.Text())
			require.Regexp(t, `(?m)^  ✗ look · exit 3, 8 lines +(\d+ s )?@\d+\n +… 5 lines\s+jp print --tools \w+\n +5\n +6\n +7$`, s.Text())
			require.Contains(t, p.helps(s.Text(), "print-tools").stdout, "\n    2\n    3\n")
			require.Regexp(t, `(?m)^  ● look · 1 line +(\d+ s )?@\d+\n +it looks$`, s.Text())
			require.Contains(t, s.Text(), "\n  Done.\n")
			require.LessOrEqual(t, widest(s), columns)
		})
	}
}
