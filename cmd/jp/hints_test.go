package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/action"
)

// actedOn is the first character of a command, outside quotes, that is special to a shell, or 0.
func actedOn(command string) rune {
	var quote rune
	skip := false
	for _, r := range command {
		switch {
		case skip:
			skip = false
		case r == '\\' && quote != '\'':
			skip = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune("|&;<>()`*?[]{}!#~\n", r):
			return r
		}
	}
	return quote
}

// pasteable returns an error for an advised command on stderr that a shell would take apart.
func pasteable(stderr string) error {
	for _, command := range advised(stderr) {
		if r := actedOn(command); r != 0 {
			return fmt.Errorf("the advice %s has %q outside quotes", command, r)
		}
	}
	return nil
}

// advised are the commands beside an error, as it is printed for people or as
// JSON.
func advised(stderr string) (commands []string) {
	said := false
	for line := range strings.Lines(stderr) {
		var object struct {
			Error struct{ Hints []advice }
		}
		if json.Unmarshal([]byte(line), &object) == nil {
			for _, h := range object.Error.Hints {
				commands = append(commands, h.Command)
			}
		}
		said = said || strings.HasPrefix(line, "Error: ")
		if command, ok := strings.CutPrefix(line, "    "); ok && said {
			command, _, _ = strings.Cut(strings.TrimSuffix(command, "\n"), "   ")
			commands = append(commands, command)
		}
	}
	return commands
}

func TestActedOn(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]rune{
		"jp answer 2lte@4":                         0,
		"jp answer 2lte@4 y|n|a":                   '|',
		"jp continue && jp ls":                     '&',
		"jp query </dev/null":                      '<',
		`jp query "what | is; it?"`:                0,
		`jp query 'it'\''s'`:                       0,
		`jp query 'open`:                           '\'',
		`rm "$(git rev-parse --git-common-dir)/x"`: 0,
		"git fetch R 'refs/*:refs/*'":              0,
		"git fetch R refs/*:refs/*":                '*',
	} {
		require.Equal(t, want, actedOn(command), command)
	}
	require.Equal(t, []string{"jp ls", `jp query "…"`}, advised("Error: no.\n  More:\n\n    jp ls          all\n    jp query \"…\"   ask\n"))
	require.Equal(t, []string{"jp ls"}, advised(`{"error":{"hints":[{"command":"jp ls","text":"all | of them"}]}}`))
}

// advice is a hint in JSON.
type advice struct{ Command, Text string }

// No command of the list has a character that is special to a shell.
func TestTheListIsPasteable(t *testing.T) {
	t.Parallel()
	for kind, command := range action.Kinds() {
		if !slices.Contains([]action.Kind{action.SetRefs("", "", "", "").Kind(), action.KeepRef("").Kind()}, kind) { // two commands, on purpose
			require.Zero(t, actedOn(strings.NewReplacer("{", "", "}", "").Replace(command)), kind)
		}
	}
}
