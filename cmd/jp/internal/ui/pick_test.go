package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
)

// A row has the parts that fit: the title first, then age, turns, model and the last line.
func TestPickRows(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	choice := func(title, model, last string, turns int, ago time.Duration) repo.Choice {
		return repo.Choice{Info: conversation.Info{ID: "jp-c17959965397-m5sy", Summary: conversation.Summary{Title: title, Model: model, Turns: turns, LastEventAt: now.Add(-ago)}}, Last: last}
	}
	choices := []repo.Choice{
		choice("Clean isSpace", "anthropic/claude-sonnet-5-5", "Done: isSpace is one line, and the tests pass.", 1, 3*time.Minute),
		choice("Find out why the parser of the shell words fails on tabs", "openai/gpt-6.1-sol", "", 12, 2*time.Hour),
		choice("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", "", "a\x1b[31m", 3, 48*time.Hour),
		choice("", "", "", 0, 0),
	}
	for width, want := range map[int]string{
		116: "Clean isSpace 3 min 1 turn claude-sonnet-5-5 Done: isSpace is one line, an…",
		76:  "Clean isSpace 3 min 1 turn claude-sonnet-5-5 Done: isSpace…",
		44:  "Clean isSpace 3 min 1 turn",
		36:  "Clean isSpace 3 min",
		20:  "Clean isSpace",
	} {
		rows := pickRows(choices, width, now)
		require.Len(t, rows, len(choices))
		require.Equal(t, want, strings.Join(strings.Fields(rows[0]), " "), width)
		require.True(t, strings.HasPrefix(rows[3], "m5sy"), rows[3])
		for _, row := range rows {
			require.LessOrEqual(t, safetext.Columns(row), width, row)
			require.NotContains(t, row, "\x1b")
		}
	}
}

// Titles with the same beginning show the words in which they differ, and equal ones the id.
func TestPickRowsDiffer(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	var choices []repo.Choice
	idOf := func(n int) conversation.ID { return conversation.ID(fmt.Sprintf("jp-c17952550000-k3f%d", n)) }
	for i, title := range []string{"Make the parser of the shell words faster", "Make the parser of the shell words easier to read", "Fix tests", "Hello", "Hello"} {
		choices = append(choices, repo.Choice{Info: conversation.Info{ID: idOf(i), Summary: conversation.Summary{Title: title, Turns: 1, LastEventAt: now}}})
	}
	for width, want := range map[int][]string{
		116: {"Make the parser of the shell words faster", "Make the parser of the shell words easier to read", "Fix tests", "Hello · " + idOf(3).Short(), "Hello · " + idOf(4).Short()},
		44:  {"Make the parser of the…faster now 1 turn", "Make the parse…easier to read now 1 turn", "Fix tests", "Hello · " + idOf(3).Short(), "Hello · " + idOf(4).Short()},
		20:  {"Make the pars…faster", "Make …easier to read", "Fix tests", "Hello · " + idOf(3).Short(), "Hello · " + idOf(4).Short()},
	} {
		for i, row := range pickRows(choices, width, now) {
			require.LessOrEqual(t, safetext.Columns(row), width, row)
			require.True(t, strings.HasPrefix(strings.Join(strings.Fields(row), " "), want[i]), row)
		}
	}
}
