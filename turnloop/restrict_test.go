package turnloop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A restriction during a turn holds for each call that has not begun, also for those of later answers and for
// calls with any kind of approval.
func TestARestrictionHoldsForEachCallThatHasNotBegun(t *testing.T) {
	for name, allow := range map[string]func(r *rig, write *fakeTool, now *Restriction) Request{
		"by the configuration": func(*rig, *fakeTool, *Restriction) Request { return Request{} },
		"in advance": func(_ *rig, write *fakeTool, _ *Restriction) Request {
			write.asking()
			return Request{Approved: conversation.ApproveAll()}
		},
		"by a mode": func(_ *rig, write *fakeTool, now *Restriction) Request {
			write.asking().def.Rule = func(json.RawMessage, []*conversation.Event) string {
				if now.Asks {
					return ""
				}
				return "profile edits"
			}
			return Request{}
		},
	} {
		for _, to := range []Restriction{{ReadsOnly: true}, {Asks: true}} {
			for _, at := range []string{"the first model call", "a call of the batch", "the second model call"} {
				t.Run(name+", "+at, func(t *testing.T) {
					var now Restriction
					write := changes("write")
					tighten := func(context.Context) { now = to }
					first, second := []any{calls("write", "_1", "{}"), calls("write", "_2", "{}"), ends(conversation.FinishToolCalls)}, []any{calls("write", "_3", "{}"), ends(conversation.FinishToolCalls)}
					ran := map[string]int{"the first model call": 0, "a call of the batch": 1, "the second model call": 2}[at]
					switch at {
					case "the first model call":
						first = append([]any{tighten}, first...)
					case "the second model call":
						second = append([]any{tighten}, second...)
					default:
						write.doing(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
							tighten(ctx)
							return tool.Result{Content: []byte("ok")}, nil
						})
					}
					r := newRig(t, []*fakeTool{write}, once(first...), once(second...), answers("ok"))
					r.opts.User.Restrict = func() Restriction { return now }
					p := r.answering(quoted("skip"))
					request := allow(r, write, &now)
					request.Chat = conversation.ChatRequest{Content: "do it"}
					_, err := r.request(t.Context(), request)
					require.NoError(t, err)
					if name == "by the configuration" && to.Asks {
						require.Len(t, write.runs, 3, "what needs no permission needs none")
						return
					}
					require.Len(t, write.runs, ran)
					refused := 0
					for _, result := range r.results() {
						if strings.HasPrefix(result.Content, "Plan mode: not run") {
							refused++
						}
					}
					if to.ReadsOnly {
						require.Equal(t, 3-ran, refused)
						require.Empty(t, p.asked)
						return
					}
					require.Len(t, p.asked, 3-ran)
				})
			}
		}
	}
}

// Tools that read run in every mode.
func TestARestrictionLeavesReadsAlone(t *testing.T) {
	read := reads("read")
	r := newRig(t, []*fakeTool{read}, asksFor("read"), answers("ok"))
	r.opts.User.Restrict = func() Restriction { return Restriction{ReadsOnly: true, Asks: true} }
	r.done()
	require.Len(t, read.runs, 1)
}

// A call that the user allowed and later restricted is not a declined one.
func TestARestrictionAfterAYes(t *testing.T) {
	for word, want := range map[string]string{"run": "write: not run: plan mode", "skip": "write: declined by user"} {
		var now Restriction
		r := newRig(t, []*fakeTool{changes("write").asking()}, asksFor("write"), answers("ok"))
		r.opts.User.Restrict = func() Restriction { return now }
		r.prompting(func(context.Context, Question) (Answer, error) {
			now.ReadsOnly = word == "run"
			return quoted(word), nil
		})
		r.done()
		subjects := []string{}
		for _, e := range r.stored() {
			if e.Type() == conversation.TypeToolCallResponse {
				subjects = append(subjects, e.Subject)
			}
		}
		require.Equal(t, []string{want}, subjects)
	}
}
