package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
)

// TestCutAmongCalls: of an answer that breaks off among tool calls those that arrived run, and user and model hear of it.
func TestCutAmongCalls(t *testing.T) {
	t.Parallel()
	three := "[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"README.md\" }\n" + strings.Repeat("[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n", 2)
	for fails, want := range map[string]int{"fail = \"disconnect\"\nfail_after = 2\n": 2, "": 3} {
		s, f := front.New(t), &front.Front{}
		require.NoError(t, s.Ask(f, s.Request("[[reply]]\n"+fails+three+says, "Look")))
		require.Equal(t, "Over.", f.Last().Outcome.Message)
		require.Len(t, bodies[*conversation.ToolCallResponse](f.Events()), want)
		cut := bodies[*conversation.Note](f.Events())
		require.Equal(t, want == 2, strings.Contains(strings.Join(f.Notices(), "\n"), "the answer was cut off while it asked for tools, and jp goes on with the calls that arrived"))
		require.Equal(t, want == 2, len(cut) == 1)
		if want == 2 {
			require.Equal(t, "Your answer was cut off while it asked for tools: the calls above are all that arrived. Ask again for any that are missing.", cut[0].Content)
		}
	}
}

// TestModelOfResume: a model that takes over in the middle of a turn stays the conversation's.
func TestModelOfResume(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request("[[reply]]\nmessage = \"a1\"\n[[reply]]\nfail = \"auth\"\n[[reply]]\nmessage = \"a3\"\n", "One")))
	id := f.Last().ID
	require.Error(t, s.Ask(f, front.Next(id, "Two")))
	request := front.Resume(id)
	request.Turn.Model = s.Model("[[reply]]\nmessage = \"b1\"\n[[reply]]\nmessage = \"b2\"\n[[reply]]\nmessage = \"b3\"\n")
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "b2", f.Last().Outcome.Message)
	require.NoError(t, s.Ask(f, front.Next(id, "Three")))
	require.Equal(t, "b3", f.Last().Outcome.Message)
	require.Equal(t, request.Turn.Model, conversation.Summarize(s.Load(id)).Model)
}

// TestForkInHook: a fork in the middle of the record of a hook runs it again.
func TestForkInHook(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[hooks]\ntool-pre = [\"echo\", '{\"arguments\":{\"path\":\"safe.txt\",\"content\":\"changed\"}}']\n")
	require.NoError(t, s.Ask(f, approved(s.Request(makeFile, "Make a file"))))
	asked := -1
	for _, e := range s.Load(f.Last().ID) {
		if b, is := e.Body.(*conversation.InquiryRequest); is && b.Kind == conversation.KindHook {
			asked = e.Seq
		}
	}
	require.NoError(t, s.Ask(f, front.Next(f.Last().ID, "Again")))
	s.Git("clean", "-qf")
	id := s.Fork(f.Last().ID, asked)
	before := len(f.Events())
	request := approved(front.Resume(id))
	request.Resume.Anyway = true
	require.NoError(t, s.Ask(f, request))
	require.Empty(t, bodies[*conversation.InquiryRequest](f.Events()[before:]))
	require.JSONEq(t, `"edit"`, string(bodies[*conversation.InquiryResponse](f.Events()[before:])[0].Answer))
	require.Equal(t, "changed", s.Read("safe.txt"))
	require.False(t, s.Exists("made.txt"))
}

// TestUntrackedOnResume: the model is told once of the user's changes to untracked files, with those that
// came since.
func TestUntrackedOnResume(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Write(".git/info/exclude", "*.log\n")
	s.Write("old.txt", "old\n")
	request := s.Request(strings.Replace(oneCall("fs_create_file", `{ path = "a.txt", content = "a\n" }`), "[[reply]]\nmessage", "[[reply]]\nfail = \"auth\"\nfail_times = 2\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"b.txt\", content = \"b\\n\" }\n[[reply]]\nmessage", 1), "Make")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	id := f.Last().ID
	resumes := func(policy string) (words string, notes int) {
		request := front.Resume(id)
		request.Turn.Policy = policy
		if err := s.Ask(f, request); policy == "auto" && len(f.Resumed()) > 3 {
			require.NoError(t, err)
		} else {
			require.Error(t, err)
		}
		return f.Resumed()[len(f.Resumed())-1], len(bodies[*conversation.Resumed](s.Load(id)))
	}
	s.Write("handmade.go", "mine\n")
	s.Write("old.txt", "older\n")
	s.Write("skip.log", "x\n")
	words, notes := resumes("auto")
	require.Contains(t, words, "files as recorded; untracked: handmade.go new, old.txt changed; fs_create_file waits for a permission")
	require.Equal(t, 1, notes)
	require.Contains(t, bodies[*conversation.Resumed](s.Load(id))[0].Message, "These files were not tracked by git, and not as before:\n  new \"handmade.go\"\n  changed \"old.txt\"\n")
	words, notes = resumes("auto")
	require.Contains(t, words, "untracked: handmade.go new")
	require.Equal(t, 1, notes, "the same bytes are sent again")
	s.Write("second.go", "mine\n")
	s.Write("third.go", "mine\n")
	words, notes = resumes("defer")
	require.Contains(t, words, "untracked: handmade.go new, old.txt changed, second.go new and 1 more")
	require.Equal(t, 2, notes)
	s.Git("-c", "alias.gone=!rm second.go", "gone")
	words, _ = resumes("auto")
	require.Contains(t, words, "untracked: second.go gone")
	require.NotContains(t, words, "handmade", "the model has answered")
	require.Equal(t, "Over.", f.Last().Outcome.Message)
	require.NotContains(t, s.Git("-c", "alias.drafts=!find .git/jp/drafts -name '*.untracked'", "drafts"), ".untracked")
}
