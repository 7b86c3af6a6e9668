package turnloop_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func TestDurableBeforeWhatDependsOnIt(t *testing.T) {
	r := newRig(t, []*fakeTool{reads("read"), changes("write").asking()}, asksFor("read", "write"), answers("ok"))
	r.answering(quoted("run"))
	r.done()
	r.requireOrder(
		"append turn_start prompt chat_request", "recorded", "model",
		"append tool_call_request", "append tool_call_request",
		"run read", "append tool_call_response",
		"append inquiry_request", "ask run_tool", "append inquiry_response",
		"append tool_started", "run write", "append tool_call_response", "recorded",
		"model", "append chat_response", "append turn_done",
	)
}

func TestReadsRunSideBySideAndChangesAlone(t *testing.T) {
	both := make(chan struct{}, 2)
	meet := make(chan struct{})
	first, second := reads("first"), reads("second")
	together := func(context.Context, tool.Call) (tool.Result, error) {
		both <- struct{}{}
		if len(both) == 2 {
			close(meet)
		}
		<-meet
		return tool.Result{Content: []byte("met")}, nil
	}
	r := newRig(t, []*fakeTool{first.doing(together), second.doing(together), changes("write"), reads("last")},
		asksFor("first", "second", "write", "last"), answers("ok"))
	r.done()
	r.requireOrder("run", "run", "append tool_call_response", "append tool_call_response", "append tool_started",
		"run write", "append tool_call_response", "run last", "append tool_call_response")
	require.Equal(t, 4, len(r.results()))
}

func TestAResultIsRecordedWhileAnotherToolStillRuns(t *testing.T) {
	recorded := make(chan struct{})
	slow := reads("slow").doing(func(context.Context, tool.Call) (tool.Result, error) {
		<-recorded
		return tool.Result{Content: []byte("slow")}, nil
	})
	r := newRig(t, []*fakeTool{slow, reads("quick")}, asksFor("slow", "quick"), answers("ok"))
	r.journal.after = func(int) {
		if r.trace.count("append tool_call_response") == 1 {
			r.journal.after = nil
			close(recorded)
		}
	}
	r.done()
	require.Equal(t, "quick", r.stored()[5].Body.(*conversation.ToolCallResponse).Name, "in the order in which they end")
	require.Equal(t, "slow", r.results()[0].Content)
}

func TestOutputIsMadeStorable(t *testing.T) {
	huge := bytes.Repeat([]byte("a line of it\n"), 30_000)
	sum := sha256.Sum256(huge)
	cases := []struct {
		name   string
		output []byte
		check  func(*testing.T, *conversation.ToolCallResponse)
	}{
		{"huge", huge, func(t *testing.T, b *conversation.ToolCallResponse) {
			require.Equal(t, &conversation.Truncated{Bytes: int64(len(huge)), SHA256: hex.EncodeToString(sum[:])}, b.Truncated)
			require.LessOrEqual(t, len(b.Content), 32<<10)
			require.Greater(t, len(b.Content), 32<<10-400)
		}},
		{"NUL and invalid UTF-8", []byte("a\x00b\xff\xfe"), func(t *testing.T, b *conversation.ToolCallResponse) {
			require.Nil(t, b.Truncated)
		}},
		{"nothing", nil, func(t *testing.T, b *conversation.ToolCallResponse) { require.Empty(t, b.Content) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, []*fakeTool{reads("read").returning(string(c.output))}, asksFor("read"), answers("ok"))
			r.done()
			c.check(t, r.result())
			r.reload()
			require.NotNil(t, r.results()[0])
			for _, b := range r.model.requests[1].Messages[2].Blocks {
				require.NotContains(t, b.Text, "\x00")
				require.NotEmpty(t, b.Text)
			}
		})
	}
}

func TestToolsThatGoWrong(t *testing.T) {
	cases := []struct {
		name string
		do   func(context.Context, tool.Call) (tool.Result, error)
		want string
	}{
		{"says so", func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: []byte("no such file"), IsError: true}, nil
		}, "no such file"},
		{"cannot be run", func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("no wc") }, "The tool could not be run to its end: no wc"},
		{"panics", func(context.Context, tool.Call) (tool.Result, error) { panic("index out of range") }, "it has a defect: index out of range"},
		{"takes too long", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}, "timed out after 20 ms"},
	}
	for _, c := range cases {
		for _, f := range []*fakeTool{reads("bad"), changes("bad")} {
			t.Run(c.name, func(t *testing.T) {
				r := newRig(t, []*fakeTool{f.doing(c.do), reads("good")}, asksFor("bad", "good"), answers("ok"))
				r.opts.Limits.ToolTimeout = 20 * time.Millisecond
				o := r.done()
				require.Equal(t, "ok", o.Message, "the turn goes on")
				require.True(t, r.results()[0].IsError)
				require.Contains(t, r.results()[0].Content, c.want)
				require.False(t, r.results()[1].IsError)
			})
		}
	}
}

func TestInterruptWhileAToolReads(t *testing.T) {
	ctx, interrupt := interrupting(t)
	ran := make(chan struct{})
	quick := reads("quick").doing(func(context.Context, tool.Call) (tool.Result, error) {
		close(ran)
		return tool.Result{Content: []byte("ok")}, nil
	})
	read := reads("read").blocking(func() { <-ran; interrupt() })
	r := newRig(t, []*fakeTool{read, quick}, asksFor("read", "quick"), answers("ok"))
	r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
	require.Nil(t, r.results()[0])
	require.NotNil(t, r.results()[1], "a finished result is kept")
	require.Equal(t, "chat_request tool_call_request tool_call_request tool_call_response turn_interrupted", r.turn())

	read.do = nil
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Len(t, read.runs, 2, "what only reads runs again")
	require.Len(t, quick.runs, 1)
}

// jp ended the tool and saw its end: its response is recorded in one step with the
// interruption, with what it changed, and it never runs again.
func TestInterruptWhileAToolChanges(t *testing.T) {
	for signal, by := range map[string]conversation.Cause{"SIGINT": conversation.ByUser, "SIGTERM": conversation.BySignal, "SIGHUP": conversation.BySignal} {
		for name, c := range map[string]struct {
			output  string
			writes  string // a file
			calls   []string
			snaps   bool
			content string
		}{
			"silent, nothing changed": {"", "", []string{"write"}, true, "Cancelled after it had started: check before repeating."},
			"output, a file changed": {"1 of 9\n", "half.go", []string{"write"}, true,
				"Cancelled after it had started: check before repeating. Its output until then:\n1 of 9\n"},
			"without snapshots":    {"", "half.go", []string{"write"}, false, "Cancelled after it had started: check before repeating."},
			"more calls behind it": {"", "half.go", []string{"write", "later"}, true, "Cancelled after it had started: check before repeating."},
		} {
			t.Run(signal+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				w := newWorkspace()
				write := changes("write").doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
					if c.writes != "" {
						w.files[c.writes] = "package"
					}
					cancel(&Interrupt{Signal: signal})
					<-ctx.Done()
					return tool.Result{Content: []byte(c.output)}, ctx.Err()
				})
				later := changes("later")
				r := newRig(t, []*fakeTool{write, later}, asksFor(c.calls...), answers("ok"))
				if c.snaps {
					r.opts.Files.Workspace = w
				}
				r.requireInterrupted(ctx, signal, by, conversation.PhaseExecuting)
				require.Contains(t, r.trace.lines, "append tool_call_response turn_interrupted", "in one step")
				result := r.results()[0]
				require.Equal(t, c.content, result.Content)
				require.True(t, result.IsError && result.Cancelled)
				var changed []string
				for _, f := range result.Changed {
					changed = append(changed, f.Path)
				}
				if c.writes != "" && c.snaps {
					require.Equal(t, []string{c.writes}, changed)
					require.Equal(t, w.tree(), eventOf[*conversation.ToolCallResponse](r.stored()).Tree)
				} else {
					require.Empty(t, changed)
				}

				write.do = nil
				o, err := r.resume(t.Context())
				require.NoError(t, err)
				require.Equal(t, "ok", o.Message)
				require.Len(t, write.runs, 1, "it never runs again by itself")
				require.Len(t, later.runs, len(c.calls)-1)
				require.NotContains(t, r.turn(), "resumed")
			})
		}
	}
}

// If the disk is full, the end of the tool stays unknown.
func TestInterruptThatCannotBeRecorded(t *testing.T) {
	ctx, interrupt := interrupting(t)
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	write.blocking(func() { r.kill(); interrupt() })
	_, err := r.start(ctx)
	require.ErrorContains(t, err, "could not be recorded")
	r.journal.fault = nil
	write.do = nil
	_, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, write.runs, 1)
	require.Contains(t, r.result().Content, "The outcome of this call is unknown")
}

func TestAnUnknownOutcomeIsDecidedBySomebody(t *testing.T) {
	crashed := func(t *testing.T) (*rig, *fakeTool) {
		write := changes("write")
		r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
		write.doing(func(context.Context, tool.Call) (tool.Result, error) { r.kill(); return tool.Result{}, nil })
		r.requireKilled()
		write.do = nil
		return r, write
	}
	t.Run("run it again", func(t *testing.T) {
		r, write := crashed(t)
		r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) { return Resolution{Again: true}, nil }
		_, err := r.resume(t.Context())
		require.NoError(t, err)
		require.Len(t, write.runs, 2)
		require.Equal(t, 2, write.runs[1].Attempt)
		require.Equal(t, 2, last[*conversation.ToolStarted](r).Attempt)
		require.False(t, r.result().IsError)
	})
	t.Run("run it again, which is interrupted too", func(t *testing.T) {
		r, write := crashed(t)
		asked := 0
		r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) {
			asked++
			return Resolution{Again: asked == 1, Text: "not again"}, nil
		}
		write.doing(func(context.Context, tool.Call) (tool.Result, error) { r.kill(); return tool.Result{}, nil })
		r.reload()
		loop := New(r.opts)
		_, err := loop.Run(t.Context())
		require.ErrorIs(t, err, errKilled)
		r.journal.fault = nil
		_, err = loop.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, asked, "one word is for one run")
		require.Len(t, write.runs, 2)
		require.Equal(t, "not again", r.result().Content)
	})
	t.Run("report it", func(t *testing.T) {
		r, write := crashed(t)
		r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) {
			return Resolution{Text: "look at main.go"}, nil
		}
		_, err := r.resume(t.Context())
		require.NoError(t, err)
		require.Len(t, write.runs, 1)
		require.Equal(t, "look at main.go", r.result().Content)
		require.True(t, r.result().IsError)
	})
	t.Run("the user knows it", func(t *testing.T) {
		r, write := crashed(t)
		r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) {
			return Resolution{Text: "it wrote main.go", ByUser: true}, nil
		}
		_, err := r.resume(t.Context())
		require.NoError(t, err)
		require.Len(t, write.runs, 1)
		require.Equal(t, "it wrote main.go", r.result().Content)
		require.False(t, r.result().IsError)
	})
	t.Run("leave it", func(t *testing.T) {
		r, write := crashed(t)
		r.opts.User.Unknown = func(context.Context, *conversation.ToolCall) (Resolution, error) {
			return Resolution{}, errors.New("quit")
		}
		_, err := r.resume(t.Context())
		require.EqualError(t, err, "quit")
		require.Len(t, write.runs, 1)
		require.Nil(t, r.results()[0])
	})
}

func TestToolLock(t *testing.T) {
	write := changes("write").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		require.NotNil(t, call.Lock)
		return tool.Result{}, nil
	})
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	r.opts.Tools.Lock = func(seq int) (*os.File, func(), error) {
		require.Equal(t, 3, seq)
		r.trace.add("lock")
		return os.Stdin, func() { r.trace.add("unlock") }, nil
	}
	r.done()
	r.requireOrder("lock", "append tool_started", "run write", "append tool_call_response", "unlock")
}

func TestTheLockOfALostRunIsRemoved(t *testing.T) {
	r, _, _ := halfWritten(t)
	r.opts.Tools.Lock = func(seq int) (*os.File, func(), error) {
		r.trace.add(fmt.Sprint("lock ", seq))
		return os.Stdin, func() { r.trace.add("unlock") }, nil
	}
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	r.requireOrder("append resumed tool_call_response", "lock 3", "unlock", "model")
}

// Every read-only call holds a lock, so that others see it run. Only a program gets it.
func TestAReadOnlyCallHoldsALock(t *testing.T) {
	locked := false
	count := reads("count").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		locked = call.Lock != nil
		return tool.Result{}, nil
	})
	count.def.Command = []string{"wc"}
	plain := reads("plain").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		require.Nil(t, call.Lock, "it starts no program")
		return tool.Result{}, nil
	})
	r := newRig(t, []*fakeTool{count, plain}, asksFor("plain", "count", "count"), answers("ok"))
	r.opts.Tools.Lock = func(seq int) (*os.File, func(), error) {
		r.trace.add(fmt.Sprint("lock ", seq))
		return os.Stdin, func() { r.trace.add("unlock") }, nil
	}
	r.done()
	require.True(t, locked)
	require.Equal(t, []string{"lock 3", "lock 4", "lock 5"}, r.trace.only("lock"))
	r.requireOrder("lock 4", "run count", "append tool_call_response", "unlock", "model")
	require.Equal(t, 3, r.trace.count("unlock"))

	r = newRig(t, []*fakeTool{plain}, asksFor("plain"), answers("ok"))
	r.opts.Tools.Lock = func(int) (*os.File, func(), error) { return nil, nil, errors.New("too many open files") }
	r.done() // one without a program runs all the same

	r = newRig(t, []*fakeTool{count}, asksFor("count", "count"), answers("ok"))
	alive := errors.New("it still lives")
	r.opts.Tools.Lock = func(seq int) (*os.File, func(), error) {
		if seq == 4 {
			return nil, nil, alive
		}
		return os.Stdin, func() { r.trace.add("unlock") }, nil
	}
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, alive)
	require.Equal(t, 1, r.trace.count("unlock"))
	require.Zero(t, r.trace.count("run count"))
}

func TestAToolThatCannotBeLockedIsNotStarted(t *testing.T) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	alive := errors.New("it still lives")
	r.opts.Tools.Lock = func(int) (*os.File, func(), error) { return nil, nil, alive }
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, alive)
	require.Empty(t, write.runs)
	require.NotContains(t, r.turn(), "tool_started")
}

func TestTheRightToChangeFilesIsHeldWhileAToolMayUseIt(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write").questioning(), reads("read")}, asksFor("read", "write"), answers("ok"))
	r.opts.Files.Workspace = newWorkspace()
	r.opts.Files.Hold = func(context.Context) (func(), error) {
		r.trace.add("hold")
		return func() { r.trace.add("release") }, nil
	}
	r.answering(Answer{Outcome: conversation.OutcomeAnswered, Value: []byte("true")})
	r.done()
	require.Equal(t, 2, r.trace.count("hold"))
	r.requireOrder("run read", "hold", "append tool_started", "run write", "append inquiry_request", "release", "ask tool_question",
		"hold", "append tool_started", "run write", "append tool_call_response", "release")
}

func TestNothingRunsWithoutTheRightToChangeFiles(t *testing.T) {
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	ctx, interrupt := interrupting(t)
	r.opts.Files.Hold = func(ctx context.Context) (func(), error) {
		interrupt()
		return nil, ctx.Err()
	}
	r.requireInterrupted(ctx, "SIGINT", conversation.ByUser, conversation.PhaseExecuting)
	require.Empty(t, write.runs)
	require.NotContains(t, r.turn(), "tool_started")
}

// Secrets are found before an output is cut, wherever the cut falls.
func TestSecretsAreFoundBeforeAnOutputIsCut(t *testing.T) {
	for _, place := range []int{0, 7 << 10, 8<<10 - 110, 8<<10 - 100, 40 << 10, 59_000, 60_000} {
		text := strings.Repeat("x", place) + "\nthe-secret-" + strings.Repeat("0123456789\n", 12) + strings.Repeat("y", 60_000-place) + "\n"
		r := newRig(t, []*fakeTool{reads("read").returning(text)}, asksFor("read"), answers("ok"))
		r.opts.Secrets.RedactOutput = func(text string) string {
			head, tail, found := strings.Cut(text, "the-secret-")
			require.True(t, found)
			return head + "[secret:x]" + tail[132:]
		}
		r.done()
		for _, e := range r.stored() {
			whole, _ := e.Text()
			if p := e.Payload(conversation.PayloadOutput); p != nil {
				data, here, err := r.journal.Payload(t.Context(), *p)
				require.NoError(t, err)
				require.True(t, here)
				require.Contains(t, string(data), "[secret:x]")
				whole += string(data)
			}
			require.NotContains(t, whole, "the-secret", "%d", place)
			require.NotContains(t, whole, "0123456789", "%d", place)
		}
	}
}

// The model reads the rest of an output by its event, and sees only its own events.
func TestEventsThatAModelReads(t *testing.T) {
	var read func(context.Context, int) (tool.EventText, error)
	long := strings.Repeat("a line of it\n", 10_000)
	looks := reads("look").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
		read = call.Event
		return tool.Result{Content: []byte("seen")}, nil
	})
	withheld := reads("held").returning("a result that the user withholds")
	withheld.def.Result = tool.Ask
	r := newRig(t, []*fakeTool{reads("read").returning(long), withheld, looks}, asksFor("read", "held"), asksFor("look"), answers("ok"))
	r.answering(quoted("withhold"))
	r.done()
	for _, e := range r.stored() {
		found, err := read(t.Context(), e.Seq)
		switch b := e.Body.(type) {
		case *conversation.ToolCallResponse:
			switch b.Name {
			case "read":
				require.NoError(t, err)
				require.Equal(t, tool.EventText{Of: "result of read", Text: long}, found)
			case "held":
				require.ErrorContains(t, err, "not released")
			}
		case *conversation.ChatRequest:
			require.NoError(t, err)
			require.Equal(t, "message of the user", found.Of)
		case *conversation.Prompt:
			require.ErrorContains(t, err, "no event of this number")
		}
	}
}

// The model reads the output of a program as a terminal shows it last, in the turn and after a resume, and
// the event keeps the bytes. The content of a file stays as it is. The limit counts the shown bytes.
func TestTheModelReadsOutputAsATerminalShowsIt(t *testing.T) {
	progress := ""
	for i := range 20_000 {
		progress += fmt.Sprintf("\r%d%% of it", i/200)
	}
	lines := strings.Repeat("\x1b[32mok\x1b[0m a line\n", 2000)
	for name, tc := range map[string]struct{ tool, output, reads string }{
		"colours":        {"shell_run", "\x1b[31mred\x1b[0m\n", "red\n"},
		"a progress bar": {"build", progress + "\ndone\n", "99% of it\ndone\n"},
		"more than fits": {"shell_run", lines, strings.Repeat("ok a line\n", 2000)},
		"plain":          {"shell_run", "a\tb  \n", "a\tb  \n"},
		"a file":         {"fs_read_file", "a\r\n\x1b[31m\f\n", "a\r\n\x1b[31m\f\n"},
		"nothing":        {"shell_run", "50%\r\x1b[K", "(no output)"},
	} {
		t.Run(name, func(t *testing.T) {
			var read func(context.Context, int) (tool.EventText, error)
			looks := reads("look").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
				read = call.Event
				return tool.Result{}, nil
			})
			r := newRig(t, []*fakeTool{reads(tc.tool).returning(tc.output), looks}, asksFor(tc.tool), asksFor("look"), answers("ok"))
			r.journal.fault = func(int) error {
				if len(r.model.requests) == 2 {
					return errKilled
				}
				return nil
			}
			r.requireKilled()
			_, err := r.resume(t.Context())
			require.NoError(t, err)
			for i, request := range r.model.requests[1:] {
				got := ""
				for _, m := range request.Messages {
					for _, b := range m.Blocks {
						if b.Kind == provider.BlockResult && got == "" {
							got = b.Text
						}
					}
				}
				require.Equal(t, tc.reads, got, "request %d", i+1)
			}
			for _, e := range r.stored() {
				b, is := e.Body.(*conversation.ToolCallResponse)
				if !is || b.Name != tc.tool {
					continue
				}
				stored := []byte(b.Content)
				if p := e.Payload(conversation.PayloadOutput); p != nil {
					require.NotNil(t, b.Truncated)
					stored, _, err = r.journal.Payload(t.Context(), *p)
					require.NoError(t, err)
				}
				require.Equal(t, tc.output, string(stored))
				found, err := read(t.Context(), e.Seq)
				require.NoError(t, err)
				require.Equal(t, strings.TrimPrefix(tc.reads, "(no output)"), found.Text)
			}
		})
	}
}
