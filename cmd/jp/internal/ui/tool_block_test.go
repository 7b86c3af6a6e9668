package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// The line of a call names the last decision on it.
func TestTheLineOfACallSaysWhoAllowedIt(t *testing.T) {
	t.Parallel()
	answer := func(value string, by conversation.Cause, reason string) *conversation.InquiryResponse {
		return &conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: json.RawMessage(value), By: by, Reason: reason}
	}
	const declined = "write a.txt: declined by user"
	always, yes := answer(`"run"`, conversation.ByConfig, "allow rule: src"), answer(`"run"`, conversation.ByUser, "")
	for name, tt := range map[string]struct {
		run, asked *conversation.InquiryResponse // to the permission, and to a question of the tool; nil: none
		subject    string
		want       string
	}{
		"mode auto":                  {answer(`"run"`, conversation.ByConfig, "allow rule: mode auto"), nil, "write a.txt: +1 -1", "● write a.txt                         +1 −1 · mode auto @9"},
		"mode edits":                 {answer(`"run"`, conversation.ByConfig, "allow rule: profile edits"), nil, "write a.txt: +1 -1", "● write a.txt                        +1 −1 · mode edits @9"},
		"yes to several":             {answer(`"run"`, conversation.ByUser, turnloop.ReasonAlso), nil, "write a.txt: +1 -1", "● write a.txt                      +1 −1 · you said yes @9"},
		"a rule":                     {always, nil, "write a.txt: +1 -1", "● write a.txt                    +1 −1 · always allowed @9"},
		"yes":                        {yes, nil, "write a.txt: +1 -1", "● write a.txt                      +1 −1 · you said yes @9"},
		"no":                         {answer(`"skip"`, conversation.ByUser, ""), nil, declined, "– write a.txt · you said no                             @9"},
		"no, and why":                {answer(`"skip"`, conversation.ByUser, "use\nb.txt"), nil, declined, "– write a.txt · you said no: use b.txt                  @9"},
		"no, and why at length":      {answer(`"skip"`, conversation.ByUser, strings.Repeat("why ", 30)), nil, declined, "– write a.txt · you said no: why why why why why why w… @9"},
		"left without an answer":     {&conversation.InquiryResponse{Outcome: conversation.OutcomeCancelled, By: conversation.ByUser}, nil, "write a.txt: cancelled", "✗ write a.txt · cancelled                               @9"},
		"no, by a policy":            {answer(`"skip"`, conversation.ByPolicy, "deny"), nil, "write a.txt: declined by policy", "✗ write a.txt · declined by policy                      @9"},
		"a rule, then the tool: no":  {always, answer("false", conversation.ByUser, ""), "write a.txt: error: it is there", "✗ write a.txt · error: it is there          you said no @9"},
		"the same, declined":         {always, answer("false", conversation.ByUser, ""), declined, "– write a.txt · you said no                             @9"},
		"a rule, then the tool: yes": {always, answer("true", conversation.ByUser, ""), "write a.txt: +1 -1", "● write a.txt                      +1 −1 · you said yes @9"},
		"a rule, then the model: no": {always, answer("false", conversation.ByModel, ""), "write a.txt: error: it is there", "✗ write a.txt · error: it is there       always allowed @9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := &conversation.ToolCallResponse{For: 1, Name: "write", IsError: !strings.Contains(tt.subject, "+1")}
			events := []*conversation.Event{{Seq: 1, Subject: "call write a.txt", Body: &conversation.ToolCallRequest{Name: "write"}}}
			for i, response := range []*conversation.InquiryResponse{tt.run, tt.asked} {
				if response == nil {
					continue
				}
				request := &conversation.InquiryRequest{For: 1, Kind: conversation.KindRunTool}
				if i == 1 {
					request.Kind, request.Question.AnswerType.Type = conversation.KindToolQuestion, "boolean"
				}
				response.For = 2 + 2*i
				events = append(events, &conversation.Event{Seq: 2 + 2*i, Body: request}, &conversation.Event{Seq: 3 + 2*i, Body: response})
			}
			last := &conversation.Event{Seq: 9, Subject: tt.subject, Body: result}
			v := &ScreenView{View: &repo.View{Events: append(events, last)}, Width: 60}
			turn := NewTurn(v, nil, "full", false)
			require.Equal(t, "  "+tt.want, turn.blockLine(last, result, turn.record.callOf(last, result)))
		})
	}
}

// On a narrow screen a command is shortened, and who decided on it is not.
func TestANarrowLineOfACall(t *testing.T) {
	t.Parallel()
	const command, path = "go test ./cmd/jp/internal/prompt ./cmd/jp/internal/ui", "internal/testing/terminaltest/screen.go"
	for name, tt := range map[string]struct {
		tool, thing, effect string
		by                  conversation.InquiryResponse
		ms                  int64
		width               int
		want                string
	}{
		"yes":               {"shell_run", command, "exit 1, 3 lines", conversation.InquiryResponse{By: conversation.ByUser, Answer: []byte(`"run"`)}, 1200, 48, "✗ go test ./cmd/jp/… exit 1 · you said yes @49"},
		"yes, and narrower": {"shell_run", command, "exit 1, 3 lines", conversation.InquiryResponse{By: conversation.ByUser, Answer: []byte(`"run"`)}, 1200, 36, "✗ go test ./cmd/… you said yes @49"},
		"no, to a command":  {"shell_run", command, "declined by user", conversation.InquiryResponse{By: conversation.ByUser, Answer: []byte(`"skip"`)}, 0, 48, "– go test ./cmd/jp/internal… · you said no @49"},
		"no, to an edit":    {"fs_modify_file", path, "declined by user", conversation.InquiryResponse{By: conversation.ByUser, Answer: []byte(`"skip"`)}, 0, 48, "– edit internal/testing/ter… · you said no @49"},
		"no command":        {"shell_run", "", `not run: argument "argv": expected at least 1 item`, conversation.InquiryResponse{By: conversation.ByPolicy}, 0, 80, `✗ run · not run: argument "argv": expected at least 1 item @49`},
		"no, and why":       {"shell_run", command, "declined by user", conversation.InquiryResponse{By: conversation.ByUser, Answer: []byte(`"skip"`), Reason: "run those of ui alone"}, 0, 48, "– go test ./cmd/jp/in… · you said no: run… @49"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.by.For, tt.by.Outcome = 2, conversation.OutcomeAnswered
			arguments, err := json.Marshal(map[string]any{"argv": strings.Fields(tt.thing)})
			require.NoError(t, err)
			result := &conversation.ToolCallResponse{For: 1, Name: tt.tool, IsError: true, DurationMS: tt.ms}
			last := &conversation.Event{Seq: 49, Subject: strings.TrimSpace(tt.tool+" "+tt.thing) + ": " + tt.effect, Body: result}
			v := &ScreenView{View: &repo.View{Events: []*conversation.Event{
				{Seq: 1, Subject: strings.TrimSpace("call " + tt.tool + " " + tt.thing), Body: &conversation.ToolCallRequest{Name: tt.tool, Arguments: arguments}},
				{Seq: 2, Body: &conversation.InquiryRequest{For: 1, Kind: conversation.KindRunTool}}, {Seq: 3, Body: &tt.by}, last,
			}}, Width: tt.width}
			turn := NewTurn(v, nil, "full", false)
			row := turn.blockLine(last, result, turn.record.callOf(last, result))
			require.LessOrEqual(t, safetext.Columns(row), tt.width)
			require.Equal(t, tt.want, strings.Join(strings.Fields(row), " "))
		})
	}
}

// The block of a call that was edited shows the arguments of its run.
func TestTheBlockOfAnEditedCall(t *testing.T) {
	t.Parallel()
	answer := func(choice, arguments string) *conversation.InquiryResponse {
		return &conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: json.RawMessage(`"` + choice + `"`), By: conversation.ByUser, Arguments: json.RawMessage(arguments)}
	}
	for name, tt := range map[string]struct {
		kind          conversation.InquiryKind
		tool, thing   string
		asked, edited string // arguments
		subject, want string
	}{
		"a new file": {
			conversation.KindRunTool, "fs_create_file", "a.txt", `{"path":"a.txt","content":"theirs\nb"}`, `{"path":"a.txt","content":"OURS\nb\nc"}`, "fs_create_file a.txt: +3 -0, edited by you",
			"● create a.txt +3 −0 · you edited it @9 1 + OURS 2 + b 3 + c",
		},
		"by a hook": {
			conversation.KindHook, "fs_create_file", "a.txt", `{"path":"a.txt","content":"theirs"}`, `{"path":"a.txt","content":"OURS"}`, "fs_create_file a.txt: +1 -0",
			"● create a.txt +1 −0 @9 1 + OURS",
		},
		"at another path": {
			conversation.KindRunTool, "fs_create_file", "a.txt", `{"path":"a.txt","content":"x"}`, `{"path":"b.txt","content":"x"}`, "fs_create_file b.txt: +1 -0, edited by you",
			"● create b.txt +1 −0 · you edited it @9 1 + x",
		},
		"a command": {
			conversation.KindRunTool, "shell_run", "rm a", `{"argv":["rm","a"]}`, `{"argv":["rm","b"]}`, "shell_run rm b: exit 0, 0 lines, edited by you",
			"● rm b you edited it @9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := answer("edit", tt.edited)
			if tt.kind == conversation.KindHook {
				response.By = conversation.ByConfig
			}
			response.For = 2
			result := &conversation.ToolCallResponse{For: 1, Name: tt.tool}
			last := &conversation.Event{Seq: 9, Subject: tt.subject, Body: result}
			var out strings.Builder
			v := &ScreenView{View: &repo.View{Events: []*conversation.Event{
				{Seq: 1, Subject: "call " + tt.tool + " " + tt.thing, Body: &conversation.ToolCallRequest{Name: tt.tool, Arguments: json.RawMessage(tt.asked)}},
				{Seq: 2, Body: &conversation.InquiryRequest{For: 1, Kind: tt.kind}}, {Seq: 3, Body: response}, last,
			}}, Width: 60}
			v.Whole(&out, last)
			require.Equal(t, tt.want, strings.Join(strings.Fields(out.String()), " "))
		})
	}
}
