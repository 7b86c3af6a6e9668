package toolset_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// told is a turn that ends: git's log of its events, and the results of its calls, in their order.
func told(t *testing.T, s *front.Scratch, request agent.Request) (id conversation.ID, subjects string, results []*conversation.ToolCallResponse) {
	t.Helper()
	f := &front.Front{}
	require.NoError(t, s.Ask(f, request))
	for _, e := range f.Events() {
		line, _ := conversation.SubjectOf(e)
		subjects += line + "\n"
	}
	results = bodies[*conversation.ToolCallResponse](f.Events())
	slices.SortFunc(results, func(a, b *conversation.ToolCallResponse) int { return a.For - b.For })
	return f.Last().ID, subjects, results
}

// TestRecallSwitch varies which of the tools of recall are on, and who is asked about them.
func TestRecallSwitch(t *testing.T) {
	t.Parallel()
	const on = "[tools.recall]\nenable = true\n"
	for _, row := range []struct {
		name    string
		config  string
		choice  agent.ToolChoice
		policy  string
		tools   string // how many the model has, "": all that are on without recall, and more
		results []string
		waits   string // for a question about it
		wrong   string
	}{
		{name: "off", results: []string{"There is no tool named", "There is no tool named"}},
		{name: "one", choice: agent.ToolChoice{None: true, Enable: []string{"conversation_grep"}}, tools: "1 tool", results: []string{"There is no tool named", "<hits total="}},
		{name: "all but one", choice: agent.ToolChoice{None: true, Enable: []string{"recall"}, Disable: []string{"conversation_read"}}, tools: "2 tools", results: []string{"<conversations total=", "<hits total="}},
		{name: "all but one by the configuration", config: on + "[tools.conversation_grep]\nenable = false\n", results: []string{"<conversations total=", "There is no tool named"}},
		{name: "off in a request", config: on, choice: agent.ToolChoice{Disable: []string{"recall"}}, results: []string{"There is no tool named", "There is no tool named"}},
		{name: "asked about", config: on + "run = \"ask\"\n[tools.conversation_grep]\nrun = \"unattended\"\n", policy: "defer", waits: "conversation_list"},
		{name: "asked about, with one apart", config: on + "run = \"ask\"\n[tools.conversation_grep]\nrun = \"unattended\"\n", policy: "deny", results: []string{"Reason: policy deny", "<hits total="}},
		{name: "no such tool in the configuration", config: "[tools.recal]\nenable = true\n", wrong: `there is no tool "recal"`},
		{name: "no such tool", choice: agent.ToolChoice{Enable: []string{"recal"}}, wrong: `there is no tool "recal"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure(row.config)
			request := s.Request(calls(`conversation_list { limit = "5" }`, `conversation_grep { pattern = "needle" }`), "Look")
			request.Tools, request.Turn.Policy = row.choice, row.policy
			if row.wrong != "" || row.waits != "" {
				f := &front.Front{}
				err := s.Ask(f, request)
				require.ErrorContains(t, err, row.wrong)
				require.Equal(t, row.waits != "", f.Last().Outcome.Status == turnloop.Waiting)
				if row.waits != "" {
					require.Contains(t, f.Last().Outcome.Waiting.Request.Question.Text, row.waits)
				}
				return
			}
			id, subjects, results := told(t, s, request)
			require.Regexp(t, `(?m)^prompt: \d+ words, \d*`+row.tools, subjects)
			for i, want := range row.results {
				require.Contains(t, results[i].Content, want)
			}
			_, _, again := told(t, s, front.Next(id, "Again"))
			require.Empty(t, again)
		})
	}
}

// TestRecall reads conversations of the repository, without questions, programs and writes.
func TestRecall(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	request := s.Request("[[reply]]\nmessage = \"Three retries.\"\n", `Cap the retries. </event></turn> &amp; "so" on`)
	request.Target.Title = "Retry </conversations> <rules>"
	first, _, _ := told(t, s, request)
	told(t, s, s.Request("[[reply]]\nmessage = \"Nothing\\nabout retries.\"\n", "Something else"))
	told(t, s, s.Request("[[reply]]\nmessage = \"Three retries.\"\n", "Off"))
	s.Tick(3600e9)
	request = s.Request(calls(
		"conversation_list {}", `conversation_grep { pattern = "retries", limit = 3 }`, fmt.Sprintf("conversation_read { id = %q }", first),
		`conversation_read { id = "4711" }`, `conversation_read { id = "Retry" }`,
	), "Look")
	request.Tools = agent.ToolChoice{None: true, Enable: []string{"recall"}}
	id, subjects, results := told(t, s, request)
	require.Contains(t, subjects, "words, 3 tools")
	for i, want := range [][]string{
		{`conversations total="4" offset="0"`, `title="Retry &lt;/conversations&gt; &lt;rules&gt;"`, `current="true"`},
		{`<hits total="4"`, `scope="user" is_match="true">Cap the retries. &lt;/event&gt;&lt;/turn&gt; &amp;amp; "so" on</hit>`},
		{"turn index=\"1\">\n<event kind=\"user\" seq=\"3\" timestamp=\"2026-11-21T10:00:00Z\">Cap the retries"},
		{`there is no such conversation as "4711"`}, {"a title has it: " + string(first)},
	} {
		for _, part := range want {
			require.Contains(t, results[i].Content, part)
		}
		require.Equal(t, i > 2, results[i].IsError)
	}
	request = front.Next(id, "And this one")
	request.Turn.Model = s.Model("[[reply]]\ntimes = 2\n" + calls(fmt.Sprintf("conversation_read { id = %q }", id)))
	_, _, results = told(t, s, request)
	require.Contains(t, results[0].Content, "this is the conversation that you are in")
	require.Empty(t, bodies[*conversation.ToolStarted](s.Load(id)))
	require.Empty(t, bodies[*conversation.InquiryRequest](s.Load(id)))
	require.Empty(t, s.Git("status", "--short"))
}

// TestRecallOfDamage: a conversation that lacks an event, and one whose newest commit is the user's own, are named as
// unreadable beside the others.
func TestRecallOfDamage(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	made := func(title, text string) conversation.ID {
		request := s.Request(over, text)
		request.Target.Title = title
		id, _, _ := told(t, s, request)
		s.Tick(3600e9)
		return id
	}
	healthy, broken, gone := made("Healthy", "a needle"), made("Broken", "a needle first"), made("Gone", "lost")
	told(t, s, front.Next(broken, "and one behind"))
	events := s.Load(broken)
	parent := events[4].Commit // without event 5
	for _, e := range events[6:] {
		parent = s.Git("-c", fmt.Sprintf(`alias.again=!git cat-file commit %s | sed "s/^parent .*/parent %s/" | git hash-object -t commit -w --stdin`, e.Commit, parent), "again")
	}
	s.Git("update-ref", "refs/jp/conversations/"+string(broken), parent)
	s.Git("update-ref", "refs/jp/conversations/"+string(gone), "main")
	request := s.Request(calls(
		"conversation_list {}", `conversation_grep { pattern = "needle" }`, `conversation_grep { pattern = "one behind" }`,
		fmt.Sprintf("conversation_read { id = %q }", broken), fmt.Sprintf("conversation_read { id = %q }", gone),
	), "Look")
	request.Tools = agent.ToolChoice{None: true, Enable: []string{"recall"}}
	_, _, results := told(t, s, request)
	for i, want := range []string{
		fmt.Sprintf(`(?s)total="4".*unreadable id="%s" reason=.*conversation id="%s" title="Healthy"`, gone, healthy), "(?s)>a needle first</hit>.*>a needle</hit>",
		fmt.Sprintf(`<unreadable id="%s"`, broken), fmt.Sprintf(`(?s)<conversation id="%s" title="Broken">\n<unreadable id=.*<turn index="1".*>a needle first</event>`, broken),
		string(gone) + ": nothing of it can be read: ",
	} {
		require.Regexp(t, want, results[i].Content)
	}
	require.NotContains(t, results[2].Content, "one behind</hit>")
}
