package turnloop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// stoppedRig has a turn whose model call failed.
func stoppedRig(t *testing.T, tools []*fakeTool, w *workspace) *rig {
	t.Helper()
	r := newRig(t, tools, asksFor("write"), answers("ok"))
	if w != nil {
		r.opts.Files.Workspace = w
	}
	o, err := r.start(t.Context())
	require.NoError(t, err)
	require.Equal(t, Waiting, o.Status)
	r.reload()
	return r
}

func TestResumeSaysWhatWasFound(t *testing.T) {
	w := newWorkspace()
	r := stoppedRig(t, []*fakeTool{changes("write").asking()}, w)
	w.files["mine.go"] = "package mine"
	r.answering(quoted("run"))
	loop := New(r.opts)
	o, err := loop.Resume(t.Context(), Resume{
		Resumed:  &conversation.Resumed{Phase: conversation.PhaseExecuting, Message: "[SESSION_RESUMED] …"},
		Approved: conversation.ApproveAll(),
		Records:  []*conversation.Event{{Body: &conversation.ConfigDelta{Delta: []byte(`{"model":"test/model"}`)}}},
	})
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Contains(t, r.turn(), "inquiry_request config_delta workspace resumed inquiry_response")
	require.True(t, last[*conversation.Resumed](r).Approved.All())
	require.Contains(t, r.model.sent(), "[SESSION_RESUMED]")
}

// An approval that comes with the resume answers the question that waits; a question for a person alone is
// asked again, also if only its record or only the configuration makes it one.
func TestResumeAnswersByApproval(t *testing.T) {
	for _, tt := range []struct {
		was, is bool // exclusive
		asked   int
	}{{false, false, 0}, {false, true, 1}, {true, false, 1}, {true, true, 1}} {
		write := changes("write").asking()
		write.def.Exclusive = tt.was
		r := stoppedRig(t, []*fakeTool{write}, newWorkspace())
		write.def.Exclusive = tt.is
		p := r.answering(quoted("run"))
		_, err := New(r.opts).Resume(t.Context(), Resume{
			Resumed: &conversation.Resumed{Phase: conversation.PhaseExecuting}, Approved: conversation.ApproveAll(),
		})
		require.NoError(t, err)
		require.Len(t, write.runs, 1)
		require.Len(t, p.asked, tt.asked, "%+v", tt)
	}
}

func TestResumeWithNothingToSay(t *testing.T) {
	r := stoppedRig(t, []*fakeTool{changes("write").asking()}, newWorkspace())
	r.answering(quoted("run"))
	_, err := New(r.opts).Resume(t.Context(), Resume{})
	require.NoError(t, err)
	require.NotContains(t, r.turn(), "resumed")
}

// A change during a tool without a result has no author.
func TestResumeAfterAStart(t *testing.T) {
	r, write, _ := halfWritten(t)
	r.reload()
	r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) {
		return Resolution{Text: "Nobody knows."}, nil
	}
	_, err := New(r.opts).Resume(t.Context(), Resume{})
	require.NoError(t, err)
	require.Contains(t, r.turn(), "tool_started resumed tool_call_response chat_response")
	require.NotContains(t, r.turn(), "workspace")
	require.Equal(t, "Nobody knows.", r.result().Content)
	require.Len(t, write.runs, 1)
}

func TestDiscard(t *testing.T) {
	r := stoppedRig(t, []*fakeTool{changes("write").asking()}, nil)
	require.NoError(t, New(r.opts).Discard(t.Context()))
	r.reload()
	require.True(t, r.opts.Conversation.Stream.Tail().Complete())
	require.Empty(t, r.opts.Conversation.Stream.Tail().Open())
}

func TestReplace(t *testing.T) {
	r := newRig(t, nil, answers("ok"))
	r.opts.Limits.ModelCalls = 1
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&Interrupt{Signal: "SIGTERM"})
	files := []conversation.Attachment{{Name: "a.txt", MediaType: "text/plain"}}
	_, err := r.request(ctx, Request{
		Chat:        conversation.ChatRequest{Content: "do it", Attachments: files},
		Attachments: []conversation.Payload{{Name: "a.txt", MediaType: "text/plain", Data: []byte("enclosed")}},
	})
	require.Error(t, err)
	r.reload()
	loop := New(r.opts)
	require.NoError(t, loop.Replace(t.Context(), r.opts.Conversation.Stream.Tail().Request(), conversation.ChatRequest{Content: "better", Attachments: files}))
	_, err = loop.Resume(t.Context(), Resume{})
	require.NoError(t, err)
	require.Equal(t, "enclosed", string(r.model.requests[0].Messages[0].Blocks[0].Data))
	require.Contains(t, r.model.sent(), "better")
	require.NotContains(t, r.model.sent(), "do it")
}

func TestSteer(t *testing.T) {
	tests := []struct {
		command UserCommand
		turn    string
		status  Status
	}{
		{UserCommand{Kind: CommandStop}, "tool_call_response turn_stopped turn_done", Stopped},
		{UserCommand{Kind: CommandReply, Text: "Only read."}, "tool_call_response chat_request chat_response turn_done", Complete},
		{UserCommand{Kind: CommandCancelTool}, "tool_call_response chat_response turn_done", Complete},
	}
	for _, c := range tests {
		t.Run(c.command.Error(), func(t *testing.T) {
			var loop *Loop
			w := newWorkspace()
			write := changes("write").doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				w.files["new.go"] = "half of it"
				doing, ok := loop.Doing()
				require.True(t, ok)
				require.Equal(t, "write", doing.Name)
				require.True(t, loop.Interrupt(c.command))
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			})
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace = w
			loop = New(r.opts)
			require.False(t, loop.Interrupt(c.command), "nothing runs")
			o, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
			require.NoError(t, err)
			require.Equal(t, c.status, o.Status)
			require.Regexp(t, c.turn+"$", r.turn()+" turn_done")
			require.True(t, r.result().Cancelled)
			require.Equal(t, "new.go", r.result().Changed[0].Path, "what it did until its end is its doing")
			_, ok := loop.Doing()
			require.False(t, ok)
		})
	}
}
