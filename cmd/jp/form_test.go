package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"jp/config"
	"jp/internal/safetext"
)

// widths are those at which a form has to fit.
var widths = map[string]int{"80 columns": 80, "48 columns": 48}

// fits reports that no line is wider than the terminal, and that none was cut at its edge.
func (s *sitting) fits(columns int) {
	s.place.t.Helper()
	for line := range strings.Lines(s.Text()) {
		require.LessOrEqual(s.place.t, safetext.Columns(strings.TrimRight(line, " \n")), columns)
	}
}

const asksForHook = "[hooks]\nturn-end = [\"./notify\"]\n"

// Keys typed before the question are no answer to it.
func TestTrustDropsEarlierKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(config.WorkspaceFile, asksForHook)
	s := p.sitWith(80, exec.Command("sh", "-c", "echo ready; read line; exec jp trust"))
	s.WaitFor("ready")
	s.Type("go\nyyy")
	s.prompted()
	s.Type("n")
	require.Equal(t, 3, s.exit())
	require.Equal(t, 1, p.jp("trust", "--show").exit)
}

func TestAQuestionEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	for command, question := range map[string]string{"trust": "Trust this?", "init": "Model for this repository"} {
		p := newPlace(t)
		if command == "trust" {
			p.write(config.WorkspaceFile, asksForHook)
		}
		s := p.sit(80, command)
		s.WaitFor(question)
		s.Hangup()
		require.Equal(t, 129, s.exit(), command)
		require.Equal(t, command == "trust", p.read(config.WorkspaceFile) != "")
	}
}

// colourCodes is a control sequence that sets a colour.
var colourCodes = regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;0-9]*m`)

func TestFormsHaveNoColourWhereNoneIsWanted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		variable string
		colour   bool
	}{"NO_COLOR": {"NO_COLOR=1", false}, "as usual": {"JP_X=1", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, "TERM=xterm-256color", tt.variable)
			s := p.sit(80, "config", "init")
			s.WaitFor("Model for this repository")
			s.Type("\r")
			s.WaitFor("toggle")
			s.Type("\x03")
			require.Equal(t, 130, s.exit())
			require.Equal(t, tt.colour, colourCodes.MatchString(s.Raw()), "%q", s.Raw())
			require.Regexp(t, `\x1b\[([0-9;]*;)?1;4mNo`, s.Raw(), "the chosen button is marked without colours, too")
		})
	}
}

// A terminal that draws nothing gets plain lines, and the same exits.
func TestQuestionsOnADumbTerminal(t *testing.T) {
	t.Parallel()
	for width, columns := range widths {
		for name, tt := range map[string]struct {
			command, ready string
			keys           string
			exit           int
			want           string
		}{
			"trust, yes":        {"trust", "y yes", "y", 0, "Trusted:"},
			"trust, no":         {"trust", "y yes", "n", 3, "Nothing was changed."},
			"trust, Ctrl+C":     {"trust", "y yes", "\x03", 130, "Nothing was changed."},
			"use, the second":   {"use", "Number (1-2):", "2\n", 0, "The first"},
			"use, no such":      {"use", "Number (1-2):", "3\n0\n-1\nx\n1\n", 0, "The second"},
			"use, nothing":      {"use", "Number (1-2):", "\n", 130, "no conversation was chosen"},
			"use, Ctrl+C":       {"use", "Number (1-2):", "\x03", 130, "no conversation was chosen"},
			"use, end of input": {"use", "Number (1-2):", "\x04", 130, "no conversation was chosen"},
			"init asks nothing": {"init", "", "", 0, "every setting, commented out"},
		} {
			t.Run(width+" "+name, func(t *testing.T) {
				t.Parallel()
				var p *workspace
				if tt.command == "use" {
					p = elsewhere(titled(t, "The first", "The second"))
					p.t = t
				} else {
					p = newPlace(t)
				}
				if tt.command == "trust" {
					p.write(config.WorkspaceFile, asksForHook)
				}
				p.environ = append(p.environ, "TERM=dumb")
				s := p.sit(columns, tt.command)
				if tt.ready != "" {
					s.WaitFor(tt.ready)
					if tt.command == "trust" {
						s.prompted()
					}
					for i, key := range strings.SplitAfter(strings.TrimSuffix(tt.keys, "\n"), "\n") {
						if tt.command == "use" {
							s.Wait("the question once more", func() bool { return strings.Count(s.Raw(), tt.ready) > i })
						}
						s.Type(key)
					}
					if strings.HasSuffix(tt.keys, "\n") {
						s.Type("\n")
					}
				}
				require.Equal(t, tt.exit, s.exit())
				require.Contains(t, strings.ReplaceAll(s.Text(), "\n", " "), tt.want)
				s.fits(columns)
				require.NotRegexp(t, `\x1b\[[0-9?;]*[A-HJKhl]`, s.Raw(), "the cursor stays where it is")
			})
		}
	}
}

func TestInitForm(t *testing.T) {
	t.Parallel()
	for width, columns := range widths {
		for name, tt := range map[string]struct {
			keys  []string
			exit  int
			lines []string // in use
			want  string
		}{
			"Enter, Enter":    {[]string{"\r", "\r"}, 0, nil, "every setting, commented out."},
			"a model":         {[]string{"openai/gpt-6.1-sol", "\r", "\r"}, 0, []string{`model = "openai/gpt-6.1-sol"`}, "jp trust"},
			"recall":          {[]string{"\r", "y"}, 0, []string{"[tools.recall]", "enable = true"}, "jp trust"},
			"both":            {[]string{"local/a", "\r", "y"}, 0, []string{`model = "local/a"`, "[tools.recall]", "enable = true"}, "jp trust"},
			"no model's name": {[]string{"gpt", "\r", "\x7f", "\x7f", "\x7f", "\r", "n"}, 0, nil, "every setting, commented out."},
			"Ctrl+C":          {[]string{"\x03"}, 130, nil, "nothing was written"},
			"Ctrl+C later":    {[]string{"a/b", "\r", "\x03"}, 130, nil, "nothing was written"},
		} {
			t.Run(width+" "+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				s := p.sit(columns, "config", "init")
				s.WaitFor("Model for this repository")
				s.WaitFor("May the model read other conversations?")
				s.fits(columns)
				for _, key := range tt.keys {
					if key == "y" || key == "n" {
						s.WaitFor("toggle") // the second field has the keys
					}
					if key == "\x7f" {
						s.WaitFor("want provider/name")
					}
					for i := range len(key) {
						if s.Type(key[i : i+1]); len(key) > 1 {
							s.WaitFor("> " + key[:i+1])
						}
					}
				}
				require.Equal(t, tt.exit, s.exit())
				require.Contains(t, strings.ReplaceAll(s.Text(), "\n", " "), tt.want)
				if tt.exit != 0 {
					require.NoFileExists(t, filepath.Join(p.dir, config.WorkspaceFile))
					return
				}
				var used []string
				for line := range strings.Lines(p.read(config.WorkspaceFile)) {
					if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
						used = append(used, line)
					}
				}
				require.Equal(t, tt.lines, used)
				require.Zero(t, p.jp("config", "show").exit)
				if tt.lines != nil { // the hint's command helps
					require.Zero(t, p.jp("trust", "-y").exit)
					require.Zero(t, p.jp("trust", "--show").exit)
				}
			})
		}
	}
}

// jp does not ask about a file that exists.
func TestInitAsksNothingWhereThereIsAFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(config.WorkspaceFile, "# mine\n")
	s := p.sit(80, "config", "init")
	require.Equal(t, 2, s.exit())
	require.Contains(t, s.Text(), "exists already")
}

func TestTheChoiceFits(t *testing.T) {
	t.Parallel()
	for width, columns := range widths {
		t.Run(width, func(t *testing.T) {
			t.Parallel()
			p := elsewhere(titled(t, strings.Repeat("A long title ", 12), "The second"))
			p.t = t
			s := p.sit(columns, "use")
			s.Wait("the choice", func() bool { return chosenLine(s, "The sec") })
			s.fits(columns)
			s.Type("\x1b[B")
			s.Wait("the second line is chosen", func() bool { return chosenLine(s, "A long") })
			s.Type("\r")
			require.Zero(t, s.exit())
		})
	}
}

// A terminal without a size cannot show a form: jp asks in plain lines.
func TestAFormNeedsASize(t *testing.T) {
	t.Parallel()
	p := elsewhere(titled(t, "The first", "The second"))
	p.t = t
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal here: ", err)
	}
	defer master.Close()
	cmd := p.command("use")
	cmd.Dir, cmd.Env = p.dir, append(p.environ, "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	said, asked := "", false
	for buffer := make([]byte, 4096); ; {
		n, err := master.Read(buffer)
		said += string(buffer[:n])
		if !asked && strings.Contains(said, "Number (1-2):") {
			asked = true
			_, _ = master.WriteString("1\n")
		}
		if err != nil || len(said) > 1<<16 {
			break
		}
	}
	_ = cmd.Process.Kill() // it has ended, or draws for ever
	_ = cmd.Wait()
	require.True(t, asked, "%.2000q", said)
	require.Zero(t, cmd.ProcessState.ExitCode(), "%.2000q", said)
}
