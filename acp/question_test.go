package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/tool"
	"jp/turnloop"
)

// asks is a user of a client with forms or without, in /work.
func asks(forms bool) *user {
	s := &session{server: &server{}}
	if forms {
		s.server.client = map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
	}
	return &user{front: &front{session: s, updates: newUpdates(s, &repo.Repo{At: gitcmd.Repository{TopLevel: "/work"}, Config: &config.Config{}})}}
}

func question(kind conversation.InquiryKind, call *conversation.ToolCallRequest, change func(q *turnloop.Question)) turnloop.Question {
	event := &conversation.Event{Seq: 7, Commit: "c", Body: call, Subject: "call " + call.Name + " \"a.txt\""}
	q := turnloop.Question{Inquiry: &conversation.Inquiry{
		Request: &conversation.InquiryRequest{Kind: kind, Question: conversation.Question{Text: "Which one?"}},
		Call:    &conversation.ToolCall{Event: event, Request: call},
	}, Arguments: json.RawMessage(`{"path":"a.txt"}`)}
	if change != nil {
		change(&q)
	}
	return q
}

// TestOptions varies a question and the client's abilities, and checks the user's options. The denial stands
// first.
func TestOptions(t *testing.T) {
	t.Parallel()
	file, command := &conversation.ToolCallRequest{Name: "fs_create_file"}, &conversation.ToolCallRequest{Name: "shell_run"}
	options := func(all ...conversation.Option) func(q *turnloop.Question) {
		return func(q *turnloop.Question) {
			q.Inquiry.Request.Question.AnswerType = conversation.AnswerType{Type: "select", Options: all}
		}
	}
	for _, row := range []struct {
		name  string
		kind  conversation.InquiryKind
		call  *conversation.ToolCallRequest
		set   func(q *turnloop.Question)
		forms bool
		want  []string
	}{
		{name: "a run", kind: conversation.KindRunTool, call: file, want: []string{"No", "Yes, this once", "Yes, and every new file this turn"}},
		{name: "a run, with forms", kind: conversation.KindRunTool, call: file, forms: true, want: []string{"No", "No, and say why", "Yes, this once", "Yes, and every new file this turn"}},
		{name: "a run that only a person may allow", kind: conversation.KindRunTool, call: file, set: func(q *turnloop.Question) { q.Inquiry.Request.Exclusive = true }, want: []string{"No", "Yes, this once"}},
		{name: "a run without the network", kind: conversation.KindRunTool, call: command, set: func(q *turnloop.Question) {
			q.Tool = &tool.Definition{Offline: true, Parameters: json.RawMessage(`{}`)}
		}, want: []string{"No", "Yes, this once", "Yes, this once with the network", "Yes, and every command this turn"}},
		{name: "a run with the network", kind: conversation.KindRunTool, call: command, set: func(q *turnloop.Question) { q.Tool = &tool.Definition{Parameters: json.RawMessage(`{}`)} }, want: []string{"No", "Yes, this once", "Yes, and every command this turn"}},
		{name: "a result", kind: conversation.KindDeliverResult, call: file, want: []string{"Withhold the result", "Give it to the model"}},
		{name: "a yes or no", kind: conversation.KindToolQuestion, call: file, set: func(q *turnloop.Question) { q.Inquiry.Request.Question.AnswerType.Type = "boolean" }, want: []string{"No", "Yes, this once", "Yes, each time in this turn"}},
		{name: "a yes or no of a person", kind: conversation.KindToolQuestion, call: file, set: func(q *turnloop.Question) {
			q.Inquiry.Request.Question.AnswerType.Type, q.Inquiry.Request.Exclusive = "boolean", true
		}, want: []string{"No", "Yes, this once"}},
		{name: "a choice", kind: conversation.KindToolQuestion, call: file, set: options(conversation.Option{Value: json.RawMessage(`"a"`)}, conversation.Option{Value: json.RawMessage(`"b"`), Description: "the second"}), want: []string{"No answer", "a", "b – the second"}},
		{name: "a choice of numbers", kind: conversation.KindToolQuestion, call: file, set: options(conversation.Option{Value: json.RawMessage(`1`)}, conversation.Option{Value: json.RawMessage(`"c"`), Description: "c"}), want: []string{"No answer", "1", "c"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var names []string
			for i, a := range asks(row.forms).answers(t.Context(), question(row.kind, row.call, row.set)) {
				names = append(names, a.option.Name)
				require.Equal(t, strings.HasPrefix(a.option.Name, "No") || i == 0, strings.HasPrefix(a.option.Kind, "reject"))
			}
			require.Equal(t, row.want, names)
		})
	}
}

// TestQuestionCall varies a question, and checks the call that the client shows with it.
func TestQuestionCall(t *testing.T) {
	t.Parallel()
	content := "new\n"
	file := &conversation.ToolCallRequest{Name: "fs_create_file"}
	for _, row := range []struct {
		name  string
		kind  conversation.InquiryKind
		call  *conversation.ToolCallRequest
		set   func(q *turnloop.Question)
		title string
		shown string // the kind
		texts []string
		paths []string
	}{
		{name: "a run", kind: conversation.KindRunTool, call: file, title: "create \"a.txt\"", shown: "edit", paths: []string{"/work/a.txt"}},
		{name: "a warning and a detail", kind: conversation.KindRunTool, call: file, set: func(q *turnloop.Question) { q.Warning, q.Detail = "Careful.", " All of it.\n" }, title: "create \"a.txt\"", shown: "edit", texts: []string{"! Careful.", "All of it."}, paths: []string{"/work/a.txt"}},
		{name: "a detail of blanks", kind: conversation.KindRunTool, call: file, set: func(q *turnloop.Question) { q.Detail = " \n" }, title: "create \"a.txt\"", shown: "edit", paths: []string{"/work/a.txt"}},
		{name: "a result", kind: conversation.KindDeliverResult, call: file, set: func(q *turnloop.Question) { q.Result = "It is so." }, title: "Which one?", shown: "edit", texts: []string{"It is so."}, paths: []string{"/work/a.txt"}},
		{name: "a tool of the user's own", kind: conversation.KindRunTool, call: &conversation.ToolCallRequest{Name: "mine"}, title: "mine \"a.txt\"", shown: "other", paths: []string{"/work/a.txt"}},
		{name: "a file outside", kind: conversation.KindRunTool, call: file, set: func(q *turnloop.Question) {
			q.Arguments = json.RawMessage(`{"path":"/etc/x","source":"../y","target":"b"}`)
		}, title: "create \"a.txt\"", shown: "edit", paths: []string{"/work/b"}},
		{name: "arguments that are none", kind: conversation.KindRunTool, call: &conversation.ToolCallRequest{Name: "fs_create_file", Malformed: true}, set: func(q *turnloop.Question) { q.Arguments = json.RawMessage(`"x`) }, title: "create \"a.txt\"", shown: "edit"},
		{name: "a new file", kind: conversation.KindRunTool, call: file, set: func(q *turnloop.Question) { q.Arguments = json.RawMessage(`{"path":"a.txt","content":"new\n"}`) }, title: "create \"a.txt\"", shown: "edit", texts: []string{"/work/a.txt → " + content}, paths: []string{"/work/a.txt"}},
		{name: "edits", kind: conversation.KindRunTool, call: &conversation.ToolCallRequest{Name: "fs_modify_file"}, set: func(q *turnloop.Question) {
			q.Arguments = json.RawMessage(`{"path":"a.txt","edits":[{"old":"1","new":"2"},{"old":"3","new":"4"}]}`)
		}, title: "edit \"a.txt\"", shown: "edit", texts: []string{"/work/a.txt 1 → 2", "/work/a.txt 3 → 4"}, paths: []string{"/work/a.txt"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			u := asks(false)
			q := question(row.kind, row.call, row.set)
			for _, known := range []bool{false, true} {
				if known {
					u.front.updates.calls[7] = q.Inquiry.Call.Event
				}
				call, madeUp := u.call(q)
				require.Equal(t, !known, madeUp)
				require.Equal(t, known, call.ToolCallID == "call-7", "a client shows one call twice")
				require.Equal(t, row.title, call.Title)
				require.Equal(t, row.shown, call.ToolKind)
				require.Equal(t, row.call.Malformed, call.RawInput == nil)
				var texts, paths []string
				for _, c := range call.Content {
					switch {
					case c.Content != nil:
						texts = append(texts, c.Content.Text)
					case c.OldText != nil:
						texts = append(texts, c.Path+" "+*c.OldText+" → "+*c.NewText)
					default:
						texts = append(texts, c.Path+" → "+*c.NewText)
					}
				}
				for _, l := range call.Locations {
					paths = append(paths, l.Path)
				}
				require.Equal(t, row.texts, texts)
				require.Equal(t, row.paths, paths)
			}
		})
	}
}
