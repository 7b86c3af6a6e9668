package tool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The line of a resumed turn names no tool by its wire name.
func TestResumedInWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"resumed after 2 h: files as recorded; fs_read_file runs again; shell_run of unknown outcome; shell_run not started (2 times); lost_tool is no tool here": "resumed after 2 h: files as recorded; reading runs again; command of unknown outcome; command not started (2 times); lost_tool is no tool here",
		"resumed after 2 h: shell_run changed; HEAD moved": "resumed after 2 h: shell_run changed; HEAD moved",
	} {
		require.Equal(t, want, Resumed(line))
	}
}

func TestLine(t *testing.T) {
	for want, call := range map[string][2]string{
		"edit a.go":       {"fs_modify_file", " a.go"},
		"go test ./...":   {"shell_run", " go test ./..."},
		"run":             {"shell_run", ""},
		"mcp__srv__do it": {"mcp__srv__do", "it"},
		"delegate":        {"delegate", ""},
	} {
		require.Equal(t, want, Line(call[0], call[1]))
	}
}

func TestDone(t *testing.T) {
	for subject, want := range map[string]string{
		"fs_create_file a.go: +1 -0": "create a.go: +1 -0", "shell_run go test: exit 0": "go test: exit 0",
		"fs_create_file: not run": "create: not run", "mcp__srv__do: not run": "mcp__srv__do: not run",
	} {
		name, _, _ := strings.Cut(strings.TrimSuffix(subject, ": not run"), " ")
		require.Equal(t, want, Done(name, subject))
	}
}

func TestEffect(t *testing.T) {
	for subject, want := range map[string]string{
		"fs_modify_file a.go: +1 -5":          "+1 -5",
		"shell_run sh -c 'echo a: b': exit 0": "exit 0",
		"shell_run sh -c 'echo a…: exit 1":    "exit 1",
		"fs_modify_file a.go":                 "",
	} {
		call := map[bool]string{true: "fs_modify_file a.go", false: "shell_run sh -c 'echo a: b'"}[subject[0] == 'f']
		require.Equal(t, want, EffectIn(subject, call), subject)
	}
}

func TestAsked(t *testing.T) {
	for text, want := range map[string]string{
		"Run fs_modify_file a.go?":                                "Edit a.go?",
		"Run fs_create_file a.go? It exists.":                     "Create a.go? It exists.",
		"Run shell_run rm -rf x?":                                 "Run rm -rf x?",
		"Run shell_run?":                                          "Run the command?",
		"Run deploy to prod?":                                     "Run deploy to prod?",
		"Deliver the result of fs_read_file?":                     "Deliver the result of the reading?",
		"Deliver the result of deploy?":                           "Deliver the result of deploy?",
		"What does the tool-pre hook say to fs_create_file a.go?": "What does the tool-pre hook say to create a.go?",
		"Overwrite existing file?":                                "Overwrite existing file?",
		"Run ":                                                    "Run ",
		"":                                                        "",
	} {
		require.Equal(t, want, Asked(text), text)
	}
}

func TestAskedBy(t *testing.T) {
	for want, q := range map[string][3]string{
		"Edit a.go?":                      {"fs_modify_file", "a.go", "Run fs_modify_file a.go?"},
		"delegate → delegate → Run ls?":   {"delegate → delegate → shell_run", "", "Run shell_run ls?"},
		"delegate → create asks: Really?": {"delegate → fs_create_file", "", "Really?"},
		"deploy prod asks: Run it now?":   {"deploy", "prod", "Run it now?"},
		"Run deploy prod?":                {"deploy", "prod", "Run deploy prod?"},
	} {
		require.Equal(t, want, AskedBy(q[0], q[1], q[2]))
	}
	require.Equal(t, "delegate → create", Verbs("delegate → fs_create_file"))
	require.Equal(t, "deploy", Verbs("deploy"))
}

func TestEvent(t *testing.T) {
	for subject, want := range map[string]string{
		"call fs_modify_file a.txt":      "call edit a.txt",
		"start shell_run go test ./...":  "start go test ./...",
		"ask: run fs_create_file a.txt?": "ask: create a.txt?",
		"ask: run shell_run ls?":         "ask: run ls?",
		"ask: run fs_delete_file?":       "ask: delete?",
		"call word_count a.txt":          "call word_count a.txt",
		"call shell_run":                 "call run",
		"start here":                     "start here",
	} {
		require.Equal(t, want, Event(subject))
	}
}
