package tool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
		"Run fs_modify_file a.go?":            "Edit a.go?",
		"Run fs_create_file a.go? It exists.": "Create a.go? It exists.",
		"Run shell_run rm -rf x?":             "Run rm -rf x?",
		"Run shell_run?":                      "Run shell_run?",
		"Run deploy to prod?":                 "Run deploy to prod?",
		"Overwrite existing file?":            "Overwrite existing file?",
		"Run ":                                "Run ",
		"":                                    "",
	} {
		require.Equal(t, want, Asked(text), text)
	}
}
