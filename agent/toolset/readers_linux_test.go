package toolset_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/sandbox"
)

// Commands that only read run unasked, with the reason on record. jp asks about each that could do more, or was kept
// from something.
func TestCommandsThatOnlyRead(t *testing.T) {
	t.Parallel()
	if !sandbox.Supported().Readers() {
		// Without a sandbox jp asks about each command.
		t.Skip("nothing keeps a program from writing here")
	}
	const tried = " It was tried as a command that only reads: it may not read all that it needs."
	for _, row := range []struct {
		argv, cfg string
		asked     string // "": jp does not ask
		want      string // a part of the result
	}{
		{argv: `["ls"]`, want: "README.md\n"},
		{argv: `["cat", "README.md"]`, want: "\n"},
		{argv: `["git", "log", "--format=%s"]`, want: "\n"},
		{argv: `["git", "diff"]`, want: "+more"},
		{argv: `["git", "status", "--short"]`, want: " M README.md\n"},
		{argv: `["git", "ls-files", "*.md"]`, want: "README.md\n"},
		{argv: `["sh", "-c", "git grep -n more | wc -l"]`, want: "1\n"},
		{argv: `["grep", "-rn", "more", "."]`, want: "./README.md:"},
		{argv: `["find", ".", "-name", "*.md"]`, want: "./README.md\n"},
		{argv: `["ls"]`, cfg: "POLICY__READERS=false", asked: "Run shell_run ls?"},
		{argv: `["ls"]`, cfg: "SANDBOX__ENABLE=false", asked: "Run shell_run ls?"},
		{argv: `["ls"]`, cfg: "TOOLS__SHELL_RUN__RUN=edit", asked: "Run shell_run ls?"},
		{argv: `["touch", "made"]`, asked: "Run shell_run touch made?"},
		{argv: `["cat", ".env"]`, asked: "Run shell_run cat .env?"},
		{argv: `["cat", "home/note"]`, asked: "Run shell_run cat home/note?"},
		{argv: `["git", "log", "--output=made"]`, asked: "Run shell_run git log --output=made?"},
		{argv: `["grep", "-R", "words", "."]`, asked: "Run shell_run grep -R words .?" + tried},
		{argv: `["./ls"]`, asked: "Run shell_run ./ls?"},
	} {
		t.Run(row.argv+row.cfg, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.WriteOwn("note", "words of mine\n")
			s.Write(".env", "A=b\n")
			s.Write("ls", "#!/bin/sh\ntouch made\n")
			s.Write("README.md", s.Read("README.md")+"more\n")
			require.NoError(t, os.Chmod(filepath.Join(s.Dir, "ls"), 0o755))
			require.NoError(t, os.Symlink(s.Home, filepath.Join(s.Dir, "home")))
			// A repository that chooses the programs of git.
			s.Git("config", "diff.external", "touch made;")
			s.Git("config", "core.fsmonitor", "touch made;")
			s.Git("config", "core.pager", "touch made;")
			request := s.Request(calls("shell_run { argv = "+row.argv+" }"), "Look")
			if row.cfg != "" {
				s.Environ = append(s.Environ, "JP_CFG_"+row.cfg)
			}
			f := &front.Front{Person: &front.Person{Answers: map[string]string{row.asked: "skip"}}}
			require.NoError(t, s.Ask(f, request))
			if row.asked != "" {
				require.Equal(t, []string{row.asked}, f.Person.Asked())
				return
			}
			require.Empty(t, f.Person.Asked())
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.False(t, result.IsError, result.Content)
			require.Contains(t, result.Content, row.want)
			require.False(t, s.Exists("made"))
			answer := bodies[*conversation.InquiryResponse](f.Events())[0]
			require.Equal(t, [2]string{"config", "only reads"}, [2]string{string(answer.By), answer.Reason})
			require.Empty(t, bodies[*conversation.ToolStarted](f.Events()))
		})
	}
}

// N runs a program of the sandbox with the network, this once. After a run that failed without it jp asks once in a turn.
func TestNetworkOnce(t *testing.T) {
	t.Parallel()
	if !sandbox.Supported().Readers() {
		// Without a sandbox each program has the network.
		t.Skip("nothing keeps a program from the network here")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		// The test connects by bash.
		t.Skip("bash is missing")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	dial := fmt.Sprintf(`["bash", "-c", "(: >/dev/tcp/127.0.0.1/%d) || { echo 'socket: permission denied'; exit 1; }"]`, listener.Addr().(*net.TCPAddr).Port)
	const again = "Network is off in the sandbox, and bash failed. Run it again, this once with the network?"
	for _, row := range []struct {
		name, script string
		first        string
		second       string // "": jp does not ask
		want         []int  // exit codes of the results
	}{
		{name: "with network", first: "run_network", want: []int{0}},
		{name: "without", first: "run", second: "false", want: []int{1}},
		{name: "again", first: "run", second: "true", want: []int{0}},
		{name: "twice", first: "run", second: "false", want: []int{1, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := front.New(t)
			var all []string
			for range row.want {
				all = append(all, "shell_run { argv = "+dial+" }")
			}
			p := &front.Person{Any: func(text string) string {
				if text == again {
					return row.second
				}
				return row.first
			}}
			f := &front.Front{Person: p}
			require.NoError(t, s.Ask(f, s.Request(calls(all...), "Reach it")))
			asked := 0
			for _, text := range p.Asked() {
				if text == again {
					asked++
				}
			}
			require.Equal(t, row.second != "", asked == 1)
			for i, result := range bodies[*conversation.ToolCallResponse](f.Events()) {
				require.Equal(t, row.want[i] != 0, result.IsError, result.Content)
			}
		})
	}
}
