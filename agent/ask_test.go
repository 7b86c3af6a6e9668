package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

func TestMain(m *testing.M) { front.Main(m) }

const makeFile = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "Over."
[[reply]]
message = "Again."
`

// newTurn is a request for a new conversation.
func newTurn(model, text string) agent.Request {
	return agent.Request{Target: agent.Target{New: true}, Input: agent.Input{Text: []string{text}}, Turn: agent.TurnOptions{Model: model}}
}

// TestPermission varies who decides about a tool call, and how.
func TestPermission(t *testing.T) {
	t.Parallel()
	const question = "Run fs_create_file made.txt?"
	for _, row := range []struct {
		name   string
		person *front.Person
		change func(*agent.Request)
		asked  []string
		status turnloop.Status
		made   bool
	}{
		{name: "the user runs it", person: &front.Person{Answers: map[string]string{question: conversation.AnswerRun}}, asked: []string{question}, status: turnloop.Complete, made: true},
		{name: "the user skips it", person: &front.Person{Answers: map[string]string{question: conversation.AnswerSkip}}, asked: []string{question}, status: turnloop.Complete},
		{name: "approved in advance", person: &front.Person{}, change: func(r *agent.Request) { r.Turn.Yes = true }, status: turnloop.Complete, made: true},
		{name: "denied without a user", change: func(r *agent.Request) { r.Turn.Policy = "deny" }, status: turnloop.Complete},
		{name: "deferred without a user", change: func(r *agent.Request) { r.Turn.Policy = "defer" }, status: turnloop.Waiting},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Person: row.person}
			request := newTurn(s.Model(makeFile), "Make a file")
			if row.change != nil {
				row.change(&request)
			}
			err := s.Ask(f, request)
			require.Len(t, f.Ended(), 1)
			require.Equal(t, row.status, f.Ended()[0].Outcome.Status)
			if row.status == turnloop.Complete {
				require.NoError(t, err)
				require.Equal(t, "Over.", f.Ended()[0].Outcome.Message)
			} else {
				require.Error(t, err)
				require.Equal(t, question, f.Ended()[0].Outcome.Waiting.Request.Question.Text)
			}
			if row.person != nil {
				require.Equal(t, row.asked, row.person.Asked())
			}
			require.Equal(t, row.made, s.Exists("made.txt"))
		})
	}
}

// TestNextTurn: a request by id goes on with the conversation, and adds to its events.
func TestNextTurn(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	first := newTurn(s.Model(makeFile), "Make a file")
	first.Turn.Yes = true
	require.NoError(t, s.Ask(f, first))
	id := f.Ended()[0].ID
	before := s.Load(id)

	require.NoError(t, s.Ask(f, agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{Text: []string{"And now?"}}}))
	require.Equal(t, id, f.Ended()[1].ID)
	require.Equal(t, 1, f.Ended()[1].Outcome.Turn-f.Ended()[0].Outcome.Turn)
	require.Equal(t, "Again.", f.Ended()[1].Outcome.Message)
	after := s.Load(id)
	require.Greater(t, len(after), len(before))
	require.Len(t, f.Events(), len(after), "each event is told once, and all are there")
	for i, e := range f.Events() {
		require.Equal(t, e.Seq, after[i].Seq)
		require.Equal(t, e.Body.Type(), after[i].Body.Type())
	}
}

// TestRefusedRequest: a refused request leaves no record.
func TestRefusedRequest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*agent.Request)
		words  string
	}{
		{"unknown tool", func(r *agent.Request) { r.Tools.Enable = []string{"fs_raed_file"} }, "fs_raed_file"},
		{"unknown tool off", func(r *agent.Request) { r.Tools.Disable = []string{"nonsense"} }, "nonsense"},
		{"tool on and off", func(r *agent.Request) {
			r.Tools.Enable, r.Tools.Disable = []string{"fs_read_file"}, []string{"fs_read_file"}
		}, "exclude each other"},
		{"unknown policy", func(r *agent.Request) { r.Turn.Policy = "sometimes" }, `invalid --policy "sometimes"`},
		{"unknown pending", func(r *agent.Request) { r.Resume.Pending = "later" }, `invalid --pending "later"`},
		{"resumed and discarded", func(r *agent.Request) { r.Resume.Continue, r.Resume.Discard = true, true }, "exclude each other"},
		{"resumed with text", func(r *agent.Request) { r.Resume.Continue = true }, "takes no text"},
		{"nothing kept of a waiting turn", func(r *agent.Request) { r.NoPersist, r.Turn.Policy = true, "defer" }, "a question waits"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := newTurn(s.Model(makeFile), "Make a file")
			row.change(&request)
			require.ErrorContains(t, s.Ask(f, request), row.words)
			require.Empty(t, f.Events())
			require.False(t, s.Exists("made.txt"))
		})
	}
}
