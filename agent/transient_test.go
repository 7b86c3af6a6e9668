package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/problem"
	"jp/internal/testing/front"
)

// TestUnrecordedFailure varies the source of an unrecorded turn's question, and the turns before it. The turn
// leaves no record, and a text from an editor is kept in a file.
func TestUnrecordedFailure(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		editor bool
		behind bool // a complete turn
	}{
		{name: "words"},
		{name: "an editor", editor: true},
		{name: "words behind a turn", behind: true},
		{name: "an editor behind a turn", editor: true, behind: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := s.Request(says, "First")
			if row.behind {
				require.NoError(t, s.Ask(f, request))
				request = front.Next(f.Last().ID, "Second")
			}
			refs := s.Git("for-each-ref")
			request.NoPersist, request.Turn.Model = true, s.Model("[[reply]]\nfail = \"auth\"\ntimes = 9\n")
			if row.editor {
				request.Input = agent.Input{}
				f.Editor = func(string) string { return "Written with care\n" }
			}
			var failed *problem.Error
			require.ErrorAs(t, s.Ask(f, request), &failed)
			require.Contains(t, failed.Message, "Nothing is recorded.")
			require.Equal(t, refs, s.Git("for-each-ref"))
			require.NotContains(t, hints(failed), "jp continue")
			require.Equal(t, request.Target.ID, string(failed.Conversation), "the error names the id of the request")
			_, path, kept := strings.Cut(strings.Join(failed.Details, "\n"), "What you wrote is in ")
			require.Equal(t, row.editor, kept)
			if kept {
				text, err := os.ReadFile(strings.TrimSuffix(path, "."))
				require.NoError(t, err)
				require.Equal(t, "Written with care\n", string(text))
			}
		})
	}
}
