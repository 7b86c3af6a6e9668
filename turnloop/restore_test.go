package turnloop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// restoring puts "hunter2" in the place of <1>, and does not know <2>.
func restoring(value json.RawMessage) (json.RawMessage, error) {
	if bytes.Contains(value, []byte("<2>")) {
		return nil, errors.New("the value of <2> is not known here")
	}
	return bytes.ReplaceAll(value, []byte("<1>"), []byte("hunter2")), nil
}

func TestOnlyTheToolGetsTheValue(t *testing.T) {
	for _, write := range []*fakeTool{reads("login"), changes("login").asking()} {
		write.def.Subject = func(arguments json.RawMessage) string { return string(arguments) }
		write.def.Paths = func(arguments json.RawMessage) ([]string, bool) {
			require.NotContains(t, string(arguments), "<1>", "the files are those that the tool will write")
			return nil, false
		}
		r := newRig(t, []*fakeTool{write}, once(calls("login", "_1", `{"path":"<1>"}`), ends(conversation.FinishToolCalls)), answers("ok"))
		r.opts.Secrets.Restore = restoring
		r.answering(quoted("run"))
		r.done()
		require.JSONEq(t, `{"path":"hunter2"}`, string(write.runs[0].Arguments))
		for _, e := range r.stored() {
			line, err := conversation.ViewJSON(e, testID, false)
			require.NoError(t, err)
			require.NotContains(t, string(line)+e.Subject, "hunter2")
		}
	}
}

func TestAnAnswerIsRestored(t *testing.T) {
	ask := reads("ask")
	ask.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		if answer, ok := call.Answers["q"]; ok {
			return tool.Result{Content: []byte("got " + string(answer[1:4]))}, nil
		}
		return tool.Result{Question: &tool.Question{ID: "q", Question: conversation.Question{Text: "?", AnswerType: conversation.AnswerType{Type: "text"}}}}, nil
	})
	r := newRig(t, []*fakeTool{ask}, asksFor("ask"), answers("ok"))
	r.opts.Secrets.Restore = restoring
	r.answering(Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(`"<1>"`)})
	r.done()
	require.JSONEq(t, `"hunter2"`, string(ask.runs[1].Answers["q"]))
}

func TestWithoutTheValueNothingRuns(t *testing.T) {
	write := changes("login").asking()
	r := newRig(t, []*fakeTool{write}, once(calls("login", "_1", `{"path":"<1><2>"}`), ends(conversation.FinishToolCalls)), answers("ok"))
	r.opts.Secrets.Restore = restoring
	r.done()
	require.Empty(t, write.runs)
	require.True(t, r.result().IsError)
	require.Equal(t, "The tool was not run: the value of <2> is not known here.", r.result().Content)
}

// holding are the placeholders, known to restoring or not.
func holding(value json.RawMessage) (held []string) {
	for _, p := range []string{"<1>", "<2>"} {
		if bytes.Contains(value, []byte(p)) {
			held = append(held, p)
		}
	}
	return held
}

func TestTheDestinationDecidesAboutSecrets(t *testing.T) {
	for name, tt := range map[string]struct {
		destination, path string
		want              string // the tool's argument; "" if it did not run
		says              string
	}{
		"here":                      {"", "<1>", "hunter2", ""},
		"elsewhere, no secret":      {"the server s", "plain", "plain", ""},
		"elsewhere":                 {"the server s", "a <1>", "", "<1> stands for a secret, and jp gives the server s no secrets. Leave it out"},
		"elsewhere, of unknown one": {"the server s", "<2>", "", "<2> stands for a secret, and jp gives the server s no secrets. Leave it out"},
		"elsewhere, both":           {"the server s", "<1><2>", "", "<1>, <2> stands for a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, login := range []*fakeTool{reads("login"), changes("login").asking()} {
				login.def.Destination, login.def.Instead = tt.destination, "Leave it out"
				arguments, err := json.Marshal(map[string]string{"path": tt.path})
				require.NoError(t, err)
				r := newRig(t, []*fakeTool{login}, once(calls("login", "_1", string(arguments)), ends(conversation.FinishToolCalls)), answers("ok"))
				r.opts.Secrets.Restore, r.opts.Secrets.Placeholders = restoring, holding
				r.answering(quoted("run"))
				r.done()
				if tt.want == "" {
					require.Empty(t, login.runs)
					require.True(t, r.result().IsError)
					require.Contains(t, r.result().Content, tt.says)
					return
				}
				require.Len(t, login.runs, 1)
				require.JSONEq(t, `{"path":"`+tt.want+`"}`, string(login.runs[0].Arguments))
			}
		})
	}
}

func TestADelegateGetsPlaceholders(t *testing.T) {
	child := changes("delegate")
	child.def.Resumes = true
	r := newRig(t, []*fakeTool{child}, once(calls("delegate", "_1", `{"path":"<1><2>"}`), ends(conversation.FinishToolCalls)), answers("ok"))
	r.opts.Secrets.Restore = restoring
	r.done()
	require.JSONEq(t, `{"path":"<1><2>"}`, string(child.runs[0].Arguments))
}
