package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/sandbox"
)

// A mode that allows less holds at once, one that allows more from the next question on.
func TestModeChanges(t *testing.T) {
	for _, tt := range []struct {
		began, now string
		atOnce     bool
	}{
		{"", "plan", true}, {"edits", "plan", true}, {"auto", "plan", true},
		{"edits", "", true}, {"auto", "", true}, {"auto", "edits", true},
		{"", "edits", false}, {"", "auto", false}, {"edits", "auto", false}, {"plan", "", false}, {"plan", "edits", false}, {"edits", "edits", false},
	} {
		require.Equal(t, tt.atOnce, new(agent.ModeChange).Choose(tt.began, tt.now), "%q to %q", tt.began, tt.now)
	}
	var c agent.ModeChange
	require.False(t, c.Choose("", "auto"))
	require.True(t, c.Choose("", "edits"), "less than before, though more than the turn began with")
}

// In auto jp asks about all but tools that change files in the working tree and programs of the sandbox without network.
func TestModeAuto(t *testing.T) {
	t.Parallel()
	if !sandbox.Supported().Enforced() {
		// Without a sandbox jp asks about programs in this mode, too.
		t.Skip("nothing is confined here")
	}
	const (
		file, program, second = "fs_create_file one.txt", "shell_run touch two.txt", "shell_run touch three.txt"
		commit                = "git_commit"
	)
	script := "[[reply]]\n"
	for _, call := range []string{
		`fs_create_file|{ path = "one.txt", content = "x\n" }`, `shell_run|{ argv = ["touch", "two.txt"] }`, `git_commit|{ message = "m", paths = ["README.md"] }`,
		`shell_run|{ argv = ["touch", "three.txt"] }`,
	} {
		name, arguments, _ := strings.Cut(call, "|")
		script += "[[reply.tool_call]]\nname = \"" + name + "\"\narguments = " + arguments + "\n"
	}
	script += "[[reply]]\nmessage = \"Over.\"\n"
	for _, row := range []struct {
		name, began, cfg string
		at, to           string   // the mode that is chosen at a question
		asked            []string // in order
	}{
		{name: "none", asked: []string{file, program, commit, second}},
		{name: "edits", began: "edits", asked: []string{program, commit, second}},
		{name: "auto", began: "auto", asked: []string{commit}},
		{name: "auto with network", began: "auto", cfg: "SANDBOX__NETWORK=true", asked: []string{program, commit, second}},
		{name: "auto without a sandbox", began: "auto", cfg: "SANDBOX__ENABLE=false", asked: []string{program, commit, second}},
		{name: "auto, and a program for a person", began: "auto", cfg: "TOOLS__SHELL_RUN__EXCLUSIVE=true", asked: []string{commit, program, second}},
		{name: "looser", at: file, to: "auto", asked: []string{file, commit}},
		{name: "looser for files", at: program, to: "edits", asked: []string{file, program, commit, second}},
		{name: "stricter", began: "auto", at: commit, to: "edits", asked: []string{commit, second, program}},
		{name: "strict", began: "auto", at: commit, to: "", asked: []string{commit, file, second, program}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Write("README.md", "changed\n")
			if row.cfg != "" {
				s.Environ = append(s.Environ, "JP_CFG_"+row.cfg)
			}
			request := s.Request(script, "Do it")
			request.Turn.Modes = &agent.ModeChange{}
			if row.began != "" {
				request.Turn.Profiles = []string{row.began}
			}
			var asked []string
			f := &front.Front{Person: &front.Person{Any: func(text string) string {
				for _, name := range []string{file, program, second, commit} {
					if strings.HasPrefix(text, "Run "+name) {
						asked = append(asked, name)
						if name == row.at {
							request.Turn.Modes.Choose(row.began, row.to)
						}
					}
				}
				return "run"
			}}}
			require.NoError(t, s.Ask(f, request))
			require.Equal(t, row.asked, asked)
			for _, e := range f.Events() {
				if b, ok := e.Body.(*conversation.InquiryResponse); ok && row.name == "auto" && b.By == conversation.ByConfig {
					require.Equal(t, "allow rule: mode auto", b.Reason)
				}
			}
		})
	}
}
