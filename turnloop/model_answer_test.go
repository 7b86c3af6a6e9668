package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func TestTheModelAnswersOnlyWhatTheQuestionTakes(t *testing.T) {
	colours := conversation.AnswerType{Type: "select", Options: []conversation.Option{
		{Value: json.RawMessage(`"red"`)}, {Value: json.RawMessage(`{"b": 1, "a": 2}`)},
	}}
	boolean, text := conversation.AnswerType{Type: "boolean"}, conversation.AnswerType{Type: "text"}
	cases := []struct {
		kind   conversation.AnswerType
		says   string
		answer string // optional
	}{
		{boolean, `{"answer":true}`, `true`},
		{boolean, `{"answer":"true"}`, ""},
		{boolean, `{"answer":1}`, ""},
		{boolean, `{"yes":true}`, ""},
		{boolean, `true`, ""},
		{boolean, ``, ""},
		{boolean, `{"answer":`, ""},
		{text, `{"answer":"a word"}`, `"a word"`},
		{text, `{"answer":5}`, ""},
		{colours, `{"answer":"red"}`, `"red"`},
		{colours, `{"answer":{"a":2,"b":1}}`, `{"a":2,"b":1}`},
		{colours, `{"answer":"green"}`, ""},
	}
	for _, c := range cases {
		t.Run(c.kind.Type+" "+c.says, func(t *testing.T) {
			paint := changes("paint").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
				if answer, ok := call.Answers["q"]; ok {
					return tool.Result{Content: answer}, nil
				}
				return tool.Result{Question: &tool.Question{ID: "q", Question: conversation.Question{Text: "Which?", AnswerType: c.kind}}}, nil
			})
			paint.def.Questions = map[string]tool.QuestionTo{"q": {Assistant: true}}
			side := once(part(provider.ChunkData, c.says), ends(conversation.FinishStop))
			r := newRig(t, []*fakeTool{paint, reads("last")}, asksFor("paint", "last"), side, answers("ok"))
			r.done()
			require.Equal(t, c.answer == "", r.results()[0].IsError)
			if c.answer != "" {
				require.Equal(t, c.answer, r.results()[0].Content)
			}
			require.True(t, json.Valid(r.model.requests[1].Schema))
			require.NoError(t, validRequest(r.model.requests[1]), "every call has a stand-in for its result")
		})
	}
}

func TestInterruptWhileTheModelAnswersAQuestion(t *testing.T) {
	ctx, interrupt := interrupting(t)
	write := changes("write").questioning()
	write.def.Questions = map[string]tool.QuestionTo{"overwrite": {Assistant: true}}
	yes := steps(part(provider.ChunkData, `{"answer":true}`), ends(conversation.FinishStop))
	r := newRig(t, []*fakeTool{write}, asksFor("write"), reply{steps(func(context.Context) { interrupt() }), yes}, answers("ok"))
	r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
	require.Nil(t, last[*conversation.InquiryResponse](r).Usage)
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "overwrite: true", r.result().Content)
}

func TestAToolThatDoesNotListenIsNotAskedForEver(t *testing.T) {
	deaf := changes("deaf").doing(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Question: overwrite()}, nil
	})
	deaf.def.Questions = map[string]tool.QuestionTo{"overwrite": {Answer: json.RawMessage("true")}}
	r := newRig(t, []*fakeTool{deaf}, asksFor("deaf"), answers("ok"))
	r.done()
	require.Len(t, deaf.runs, 2)
	require.Contains(t, r.result().Content, "it asked again what it was told: Overwrite it?")
}

func TestADeclinedAnswerIsNotRemembered(t *testing.T) {
	write := changes("write").questioning()
	r := newRig(t, []*fakeTool{write}, asksFor("write", "write"), answers("ok"))
	p := r.answering(Answer{Outcome: conversation.OutcomeDeclined, Value: json.RawMessage("true"), Remember: true})
	r.done()
	require.Len(t, p.asked, 2)
	for _, result := range r.results() {
		require.True(t, result.IsError)
	}
	require.Empty(t, last[*conversation.InquiryResponse](r).Answer)
}

func TestWhatGoesWithAResult(t *testing.T) {
	whole := &conversation.Truncated{Bytes: 1 << 30, SHA256: strings.Repeat("0", 64)}
	look := reads("look").doing(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{
			Content: []byte("a picture"), Effect: "1 picture", Truncated: whole,
			Attachments: []tool.Attachment{{Name: "a.png", MediaType: "image/png", Data: []byte("png")}},
		}, nil
	})
	r := newRig(t, []*fakeTool{look}, asksFor("look"), answers("ok"))
	r.done()
	require.Equal(t, whole, r.result().Truncated)
	require.Equal(t, []conversation.Attachment{{Name: "a.png", MediaType: "image/png"}}, r.result().Attachments)
	blocks := r.model.requests[1].Messages[2].Blocks
	require.Equal(t, "png", string(blocks[len(blocks)-1].Data))
}

func TestListsOfPathsAreBounded(t *testing.T) {
	w := newWorkspace()
	fill := func(dir string) {
		for i := range 250 {
			w.files[fmt.Sprintf("%s/%03d", dir, i)] = "x"
		}
	}
	write := changes("write").doing(func(context.Context, tool.Call) (tool.Result, error) {
		fill("by-tool")
		return tool.Result{}, nil
	})
	r := newRig(t, []*fakeTool{write}, answers("ok"), asksFor("write", "write"), answers("ok"))
	r.opts.Files.Workspace = w
	r.done()
	fill("by-hand")
	r.done()
	outside := last[*conversation.Workspace](r)
	require.Len(t, outside.Paths, 200)
	require.Equal(t, 50, outside.More)
	require.Len(t, r.results()[0].Changed, 200)
	require.Len(t, last[*conversation.TurnDone](r).Files, 200)
}

func TestALongMalformedArgumentIsQuotedInPart(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read")}, once(calls("read", "_1", `{"path": "`+strings.Repeat("é", 2000)), ends(conversation.FinishToolCalls)), answers("ok"))
	r.done()
	require.Less(t, len(r.result().Content), 2200)
	require.True(t, strings.HasSuffix(r.result().Content, "…"))
}

func TestAnUnknownChunkStopsTheTurn(t *testing.T) {
	r := newRig(t, nil, once(hasContent("x"), provider.Chunk{Kind: 99}))
	o, err := r.start(t.Context())
	require.ErrorIs(t, err, provider.ErrChunk)
	require.Equal(t, Incomplete, o.Status)
}

func TestAnInterruptThatCannotBeRecorded(t *testing.T) {
	r := newRig(t, nil, once(failure(provider.ClassAuth)))
	r.journal.fault = func(n int) error {
		if n > 1 {
			return errDisk
		}
		return nil
	}
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, errDisk)
	var cause *provider.Error
	require.ErrorAs(t, err, &cause, "the first error is not lost")
}
