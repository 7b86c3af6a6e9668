package agent_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// TestBeside varies the state of a conversation for a question beside it. The conversation stays as it is,
// and an archived fork has the question, its answer and its usage.
func TestBeside(t *testing.T) {
	t.Parallel()
	const (
		first  = "[[reply]]\nmessage = \"First.\"\n"
		failed = first + "[[reply]]\nfail = \"auth\"\n"
	)
	for _, row := range []struct {
		name, script string
		stopped      bool // the newest turn is incomplete
		kept         bool
		answer       string
		refused      int // calls of tools
	}{
		{name: "an answer", script: first + "[[reply]]\nmessage = \"Beside.\"\n", kept: true, answer: "Beside."},
		{name: "a tool, and an answer", script: first + makeFile, kept: true, answer: "Over.", refused: 1},
		{name: "a failure", script: failed, kept: true},
		{name: "behind a turn that stopped", script: first + "[[reply]]\nmessage = \"Beside.\"\n", stopped: true, kept: true, answer: "Beside."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			model := s.Model(row.script)
			require.NoError(t, s.Ask(f, newTurn(model, "One")))
			of := f.Last().ID
			if row.stopped {
				require.Error(t, s.Ask(f, agent.Request{Target: agent.Target{ID: string(of)}, Input: agent.Input{Text: []string{"Two"}}, Turn: agent.TurnOptions{Model: s.Model(failed)}}))
			}
			before := s.Load(of)
			r := s.Open()
			defer r.Close()
			o := agent.Request{Input: agent.Input{Text: []string{"And this?"}}, Turn: agent.TurnOptions{Model: model, Yes: true}}
			id, err := agent.AskBeside(t.Context(), r, of, o, f)
			require.Equal(t, row.answer == "", err != nil, "%v", err)
			require.Equal(t, before, s.Load(of), "the conversation is as it was")
			visited, err := r.Find().Visited(t.Context(), s.Host(), 0)
			require.NoError(t, err)
			require.Equal(t, of, visited, "the session stays in its conversation")
			require.Equal(t, row.kept, id != "")
			archived, err := r.Store.List(t.Context(), conversation.ScopeArchived)
			require.NoError(t, err)
			live, err := r.Store.List(t.Context(), conversation.ScopeLive)
			require.NoError(t, err)
			require.Len(t, live, 1)
			require.Len(t, archived, 1)
			require.Equal(t, id, archived[0].ID)
			require.Equal(t, "Beside: And this?", archived[0].Summary.Title)
			refused, answer := 0, ""
			for _, e := range s.Load(id)[len(before):] {
				switch b := e.Body.(type) {
				case *conversation.ToolCallResponse:
					require.True(t, b.IsError)
					refused++
				case *conversation.ChatResponse:
					answer = b.Text
				}
			}
			require.Equal(t, row.refused, refused)
			require.False(t, s.Exists("made.txt"))
			if row.answer != "" {
				require.Equal(t, row.answer, answer)
				require.Equal(t, turnloop.Complete, f.Last().Outcome.Status)
			}
		})
	}
}

// TestBesideKeepsThePrefix: the model's input before the question is the same as in the conversation, so that
// its provider's cache has it.
func TestBesideKeepsThePrefix(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Write("AGENTS.md", "Be brief.\n")
	s.Commit()
	model := s.Model("[[reply]]\nmessage = \"First.\"\n[[reply]]\nmessage = \"Beside.\"\n")
	require.NoError(t, s.Ask(f, newTurn(model, "One")))
	of := f.Last().ID
	next := func(id conversation.ID) []string {
		r := s.Open()
		defer r.Close()
		p, err := agent.Preview(t.Context(), r, agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{Text: []string{"x"}}, Turn: agent.TurnOptions{Model: model}}, f)
		require.NoError(t, err)
		var parts []string
		for _, part := range []any{p.Request.System, p.Request.Tools, p.Request.Messages[0].Blocks, p.Request.Messages[1]} {
			text, err := json.Marshal(part)
			require.NoError(t, err)
			parts = append(parts, string(text))
		}
		return parts
	}
	before := next(of)
	r := s.Open()
	defer r.Close()
	id, err := agent.AskBeside(t.Context(), r, of, agent.Request{Input: agent.Input{Text: []string{"And this?"}}, Turn: agent.TurnOptions{Model: model}}, f)
	require.NoError(t, err)
	require.Equal(t, before, next(id))
	require.Equal(t, before, next(of))
	notes := slices.DeleteFunc(s.Load(id), func(e *conversation.Event) bool { return e.Type() != conversation.TypeNote })
	require.Len(t, notes, 1)
}

// TestBesideWithoutContext: a conversation has no context if its first turn is incomplete.
func TestBesideWithoutContext(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	model := s.Model("[[reply]]\nfail = \"auth\"\n")
	require.Error(t, s.Ask(f, newTurn(model, "One")))
	r := s.Open()
	defer r.Close()
	_, err := agent.AskBeside(t.Context(), r, f.Last().ID, agent.Request{Input: agent.Input{Text: []string{"And this?"}}, Turn: agent.TurnOptions{Model: model}}, f)
	require.ErrorContains(t, err, "has no context yet")
	archived, err := r.Store.List(t.Context(), conversation.ScopeArchived)
	require.NoError(t, err)
	require.Empty(t, archived)
}
