package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// elsewhere is a place as another session sees it, which has no conversation.
func elsewhere(p *workspace) *workspace {
	other := *p
	other.environ = append(p.environ[:len(p.environ):len(p.environ)], "JP_SESSION=other")
	return &other
}

// needOne are the commands that need a conversation and take the session's.
var needOne = map[string]string{ // with their output about the chosen one
	"show":       "Title         The newest",
	"log":        "The newest request",
	"print":      "The newest request",
	"ref":        "refs/jp/conversations/jp-c",
	"verify":     "ok: 1 conversation of 1",
	"fork":       "jp-c",
	"use":        "The newest",
	"edit --pin": "The newest",
	"archive":    "archived",
	"diff":       "",
}

func TestWithoutAConversationYouChoose(t *testing.T) {
	t.Parallel()
	for command, want := range needOne {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := titled(t, hostileTitle)
			require.Zero(t, p.jp("query", "--new", "--title", "The newest", "-m", "script/../talk.toml", "The newest request").exit)
			p = elsewhere(p)
			p.t = t
			s := p.sit(80, strings.Fields(command)...)
			s.WaitFor("Which conversation?")
			s.Wait("the newest one first", func() bool { return chosenLine(s, "The newest") })
			require.NotContains(t, s.Raw(), "\x1b]0;owned")
			s.Type("\r")
			require.Zero(t, s.exit())
			s.WaitFor(want)
		})
	}
}

func TestStatusOfAnotherConversationSaysHowToAskInIt(t *testing.T) {
	t.Parallel()
	p := titled(t, "The first", "The session's")
	require.Contains(t, p.jp("status").stdout, "\n    jp query \"…\"\n")
	require.Contains(t, p.jp("status", "The session's").stdout, "\n    jp query \"…\"\n")
	id := strings.TrimPrefix(strings.TrimSpace(p.jp("show", "--ref", "The first").stdout), "refs/jp/conversations/")
	require.Contains(t, p.jp("status", "The first").stdout, "\n    jp query --id="+id+" \"…\"\n")
	require.Contains(t, elsewhere(p).jp("status", "The first").stdout, "\n    jp query --id="+id+" \"…\"\n")
}

func TestWithoutAConversationAndATerminal(t *testing.T) {
	t.Parallel()
	p := elsewhere(titled(t, "The only one"))
	p.t = t
	for command := range needOne {
		out := p.jp(strings.Fields(command)...)
		require.Equal(t, 2, out.exit, command)
		require.Empty(t, out.stdout)
		require.Contains(t, out.stderr, "jp ls", command)
	}
	for _, command := range []string{"rm", "rm -y", "archive --undo", "undo", "edit --title"} {
		require.Equal(t, 2, p.jp(strings.Fields(command)...).exit, command)
	}
	require.Contains(t, p.jp("ls").stdout, "The only one")
}

// A deletion is of the session's conversation only if the command line says so.
func TestRmLetsYouChoose(t *testing.T) {
	t.Parallel()
	p := titled(t, "The first", "The session's")
	require.Equal(t, 2, p.jp("rm", "-y").exit)
	s := p.sit(80, "rm")
	s.Wait("the newest one first", func() bool { return chosenLine(s, "The session's") })
	s.Type("\x1b[B")
	s.Wait("the second line is chosen", func() bool { return chosenLine(s, "The first") })
	s.Type("\r")
	s.WaitFor("Delete 1 conversation?")
	s.prompted()
	s.Type("y")
	require.Zero(t, s.exit())
	require.NotContains(t, p.jp("ls").stdout, "The first")
	require.Contains(t, p.jp("ls").stdout, "The session's")
}

func TestUnarchiveLetsYouChooseAmongTheArchived(t *testing.T) {
	t.Parallel()
	p := titled(t, "Put away", "The session's")
	out := p.jp("archive", "--undo")
	require.Equal(t, 2, out.exit)
	require.Contains(t, out.stderr, "jp ls --archived")
	require.Zero(t, p.jp("archive", "Put away").exit)
	s := p.sit(80, "archive", "--undo")
	s.Wait("the archived one", func() bool { return chosenLine(s, "Put away") })
	require.NotContains(t, s.Text(), "The session's")
	s.Type("\r")
	require.Zero(t, s.exit())
	require.Zero(t, p.jp("archive").exit)
	require.Zero(t, p.jp("archive", "--undo").exit, "the session's, which is archived")
	require.Equal(t, 2, strings.Count(p.jp("ls").stdout, "\n"))
}

// choosing is a jp that asks for a conversation, in a shell that says how jp left the terminal.
func choosing(t *testing.T) *sitting {
	t.Helper()
	p := elsewhere(titled(t, "The first", "The second"))
	p.t = t
	s := p.sitWith(80, exec.Command("sh", "-c", `before=$(stty -g)
		sh -c 'echo $$ >../pid; exec jp use'
		echo "exit $?"
		[ "$before" = "$(stty -g)" ] && echo as it was`))
	s.Wait("the choice", func() bool { return chosenLine(s, "The second") })
	return s
}

func TestASignalEndsTheChoice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		signal syscall.Signal
		exit   string
	}{
		"SIGTERM": {syscall.SIGTERM, "exit 143"},
		"SIGHUP":  {syscall.SIGHUP, "exit 129"},
		"SIGINT":  {syscall.SIGINT, "exit 130"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := choosing(t)
			pid, err := strconv.Atoi(strings.TrimSpace(s.place.read("../pid")))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, tt.signal))
			require.Zero(t, s.exit())
			require.Contains(t, s.Text(), tt.exit)
			require.Contains(t, s.Text(), "as it was")
			for _, mode := range []string{"\x1b[?25%c", "\x1b[?1004%c", "\x1b[?2004%c"} { // the cursor, news of the focus, marked pastes
				on, off := strings.Replace(mode, "%c", "h", 1), strings.Replace(mode, "%c", "l", 1)
				require.Equal(t, mode == "\x1b[?25%c", strings.LastIndex(s.Raw(), on) > strings.LastIndex(s.Raw(), off), "%q", mode)
			}
		})
	}
}

func TestAKeyEndsTheChoice(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Ctrl+C": "\x03", "Esc": "\x1b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := choosing(t)
			s.Type(key)
			require.Zero(t, s.exit())
			require.Contains(t, s.Text(), "exit 130")
			require.Contains(t, s.Text(), "as it was")
		})
	}
}

func TestTheChoiceIgnoresWhatWasTypedBefore(t *testing.T) {
	t.Parallel()
	p := elsewhere(titled(t, "The first", "The second"))
	p.t = t
	p.write("../wait", "")
	s := p.sitWith(80, exec.Command("sh", "-c", `echo ready; while [ -e ../wait ]; do sleep 0.05; done; exec jp use`))
	s.WaitFor("ready")
	s.Type("\r")
	s.Wait("the Enter", func() bool { return strings.Contains(s.Raw(), "ready\r\n\r\n") })
	require.NoError(t, os.Remove(filepath.Join(p.dir, "../wait")))
	s.Wait("the choice", func() bool { return chosenLine(s, "The second") })
	s.Type("\x03")
	require.Equal(t, 130, s.exit())
}

func TestTheChoiceEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	p := elsewhere(titled(t, "The first", "The second"))
	p.t = t
	s := p.sit(80, "use")
	s.Wait("the choice", func() bool { return chosenLine(s, "The second") })
	s.Hangup()
	require.Equal(t, 129, s.exit())
}
