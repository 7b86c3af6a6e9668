package turnloop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/provider"
)

func TestACallThatComesAgainRunsOnce(t *testing.T) {
	stop := ends(conversation.FinishToolCalls)
	const args = `{"path":"a"}`
	cases := []struct {
		name  string
		reply reply
		runs  int
	}{
		{"at once", once(calls("write", "_1", args), calls("write", "_1", args), stop), 1},
		{"when the first is durable", once(calls("write", "_1", args), hasContent("Again."), calls("write", "_1", args), stop), 1},
		{"the last part, so that its end is said apart", once(hasContent("Now."), calls("write", "_1", args), calls("write", "_1", args), calls("write", "_1", args), stop), 1},
		{"before the stream breaks", once(calls("write", "_1", args), calls("write", "_1", args), hasContent("and"), failure(provider.ClassDisconnect)), 1},
		{"with other arguments", once(calls("write", "_1", args), calls("write", "_1", `{"path":"b"}`), stop), 2},
	}
	for _, c := range cases {
		for _, verbose := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				write := changes("write")
				r := newRig(t, []*fakeTool{write}, c.reply, answers("ok"))
				r.opts.Verbose = verbose
				r.done()
				require.Len(t, write.runs, c.runs)
				require.Len(t, r.results(), c.runs)
				if c.runs == 1 && verbose {
					require.Contains(t, r.notices, "The answer has the call write_1 of write twice; jp runs it once.")
				} else {
					require.NotContains(t, strings.Join(r.notices, "\n"), "jp runs it once")
				}
				ids := map[string]bool{}
				for _, b := range r.model.requests[len(r.model.requests)-1].Messages[1].Blocks {
					if b.Kind == provider.BlockToolCall {
						ids[b.ID] = true
					}
				}
				require.Len(t, ids, c.runs, "each call has an id of its own on the wire")
			})
		}
	}
}

// A call of a later answer is another call, also under the id of an earlier one.
func TestACallOfALaterAnswerRuns(t *testing.T) {
	write := changes("write")
	again := once(calls("write", "_1", "{}"), ends(conversation.FinishToolCalls))
	r := newRig(t, []*fakeTool{write}, again, again, answers("ok"))
	r.done()
	require.Len(t, write.runs, 2)
}

// A journal can hold a call twice: an earlier jp wrote both.
func TestACallThatIsRecordedTwiceRunsOnce(t *testing.T) {
	for _, first := range []string{"open", "answered"} {
		t.Run(first, func(t *testing.T) {
			write := changes("write")
			r := newRig(t, []*fakeTool{write}, reply{nil}, answers("ok"))
			stream := conversation.NewStream(r.opts.Clock.Now)
			turn := stream.StartTurn(conversation.TurnStart{Model: "test/model"}, conversation.ChatRequest{Content: "do it"}).
				AddToolCallRequest(conversation.ToolCallRequest{Call: 1, ID: "c", Name: "write", Arguments: []byte(`{"path":"a"}`)}).
				AddToolCallRequest(conversation.ToolCallRequest{Call: 1, ID: "c", Name: "write", Arguments: []byte(`{ "path": "a" }`),
					CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}})
			if first == "answered" {
				turn.AddToolCallResponse(conversation.ToolCallResponse{For: 2, ID: "c", Name: "write", Content: "done"})
			}
			r.journal.Memory = journaltest.NewMemory()
			require.NoError(t, turn.Build(func(events []*conversation.Event) error {
				_, err := r.journal.Memory.Create(context.Background(), testID, "", events)
				return err
			}))
			_, err := r.resume(t.Context())
			require.NoError(t, err)
			require.Len(t, write.runs, map[string]int{"open": 1, "answered": 0}[first])
			require.Contains(t, r.results()[1].Content, "your answer has this call twice")
			require.True(t, r.results()[1].IsError)
		})
	}
}
