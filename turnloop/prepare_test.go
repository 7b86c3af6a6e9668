package turnloop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// bothEffects runs a test for a tool that reads and for one that changes things.
func bothEffects(t *testing.T, test func(*testing.T, *fakeTool)) {
	for name, f := range map[string]*fakeTool{"reads": reads("remote"), "changes": changes("remote")} {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

func TestGettingReadyIsNoTimeOfTheTool(t *testing.T) {
	bothEffects(t, func(t *testing.T, f *fakeTool) {
		f.ready = func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			require.False(t, limited)
			return nil
		}
		limited := false
		f.do = func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			_, limited = ctx.Deadline()
			return tool.Result{Content: []byte("ran")}, nil
		}
		r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
		r.opts.Limits.ToolTimeout = time.Hour
		r.done()
		require.True(t, limited)
		require.Equal(t, "ran", r.result().Content)
	})
}

func TestAToolThatDoesNotGetReady(t *testing.T) {
	for want, ready := range map[string]func(context.Context) error{
		"The tool was not run: no such program":                             func(context.Context) error { return errors.New("no such program") },
		"The tool was not run: it has a defect: index out of range":         func(context.Context) error { panic("index out of range") },
		"The tool was not run: start it: context deadline exceeded in vain": func(context.Context) error { return fmt.Errorf("start it: %w in vain", context.DeadlineExceeded) },
	} {
		bothEffects(t, func(t *testing.T, f *fakeTool) {
			f.ready = ready
			r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
			require.Equal(t, "ok", r.done().Message)
			require.Empty(t, f.runs)
			require.True(t, r.result().IsError)
			require.Equal(t, want, r.result().Content)
		})
	}
}

func TestATimeThatEndsBeforeTheCallIsSent(t *testing.T) {
	for want, sent := range map[string]bool{
		"The tool was not run: its time was up before it started":                                          false,
		"The tool could not be run to its end: timed out after 20 ms; what it did until then is not known": true,
	} {
		bothEffects(t, func(t *testing.T, f *fakeTool) {
			f.do = func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				<-ctx.Done()
				if sent {
					return tool.Result{}, context.Cause(ctx)
				}
				return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrNotRun, context.Cause(ctx))
			}
			r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
			r.opts.Limits.ToolTimeout = 20 * time.Millisecond
			r.done()
			require.Equal(t, want, r.result().Content)
		})
	}
}

func TestCancelledWhileItGetsReady(t *testing.T) {
	for kind, want := range map[CommandKind]string{
		CommandCancelTool: "The tool was not run: the user cancelled it before it started",
		CommandStop:       "Not run: the user cancelled it before it started.",
		CommandReply:      "Not run: the user cancelled it before it started.",
	} {
		var loop *Loop
		f := changes("remote")
		f.ready = func(ctx context.Context) error {
			loop.Interrupt(UserCommand{Kind: kind, Text: "and now?"})
			<-ctx.Done()
			return context.Cause(ctx)
		}
		r := newRig(t, []*fakeTool{f}, asksFor("remote"), answers("ok"))
		loop = New(r.opts)
		_, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "Do it"}})
		require.NoError(t, err)
		require.Empty(t, f.runs)
		require.Equal(t, want, r.result().Content)
		require.True(t, r.result().Cancelled)
	}
}
