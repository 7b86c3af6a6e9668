package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// The line of an answer names the tool or the question, as far as they are among the events.
func TestLineOfAnAnswer(t *testing.T) {
	t.Parallel()
	call := &conversation.Event{Seq: 4, Subject: "call shell_run make", Body: &conversation.ToolCallRequest{Name: "shell_run"}}
	answer := &conversation.Event{Seq: 6, Subject: "answer: yes (user)", Body: &conversation.InquiryResponse{For: 5}}
	for name, tt := range map[string]struct {
		kind conversation.InquiryKind
		call string
		want string
	}{
		"a tool":              {conversation.KindRunTool, "call shell_run make", "answer: yes (user), to make"},
		"a hook":              {conversation.KindHook, "call shell_run make", "answer: yes (user), to make"},
		"a tool with control": {conversation.KindRunTool, "call x \x1b[2Jy", "answer: yes (user), to x y"},
		"a tool's question":   {conversation.KindToolQuestion, "call shell_run make", `answer: yes (user), to "Overwrite a.txt?"`},
		"a result":            {conversation.KindDeliverResult, "call shell_run make", `answer: yes (user), to "Overwrite a.txt?"`},
		"a long tool": {
			conversation.KindRunTool, "call shell_run go test -run 'TestOfAVeryLongNameIndeed' ./...",
			"answer: yes (user), to go test -run 'TestOfAVeryLongNameIndeed…",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := *call
			of.Subject = tt.call
			asked := &conversation.Event{Seq: 5, Body: &conversation.InquiryRequest{For: 4, Kind: tt.kind, Question: conversation.Question{Text: "Overwrite a.txt?\nIt exists."}}}
			all := []*conversation.Event{&of, asked, answer}
			require.Equal(t, tt.want, (&ScreenView{View: &repo.View{Events: all}}).Line(answer))
			require.Equal(t, "answer: yes (user)", (&ScreenView{View: &repo.View{Events: all[2:]}}).Line(answer))
		})
	}
}

func TestEndMark(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"x a: declined by user": "–", "x a: denied by a hook": "✗", "x a: declined by policy": "✗", "x a: error: declined by user": "✗", "x a: exit 1, 0 lines": "✗",
	} {
		require.Equal(t, want, endMark(terminal.Palette{}, &conversation.Event{Subject: subject, Body: &conversation.ToolCallResponse{IsError: true}}), subject)
	}
	require.Equal(t, "–", endMark(terminal.Palette{}, &conversation.Event{Subject: "x a: 3 lines", Body: &conversation.ToolCallResponse{Cancelled: true}}))
	require.Equal(t, "·", endMark(terminal.Palette{}, &conversation.Event{Subject: "x a: 3 lines", Body: &conversation.ToolCallResponse{}}))
	require.Equal(t, "·", endMark(terminal.Palette{}, &conversation.Event{Subject: "a.txt changed", Body: &conversation.Workspace{}}))
}
