package turnloop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	. "jp/turnloop"
)

// jp leaves out state that a provider refuses, and asks the model once more. A second refusal is the end.
func TestStateThatIsRefused(t *testing.T) {
	refused := &provider.Error{Class: provider.ClassState, Provider: "test", Message: "could not be verified"}
	thoughtful := once(thinks("Hm."), hasContent("Hello."), ends(conversation.FinishStop))
	for name, tt := range map[string]struct {
		second reply
		tries  int
		fails  bool
	}{
		"once":  {reply{{refused}, steps(hasContent("Well."), ends(conversation.FinishStop))}, 2, false},
		"twice": {reply{{refused}}, 2, true},
		"never": {answers("Well."), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, thoughtful, tt.second)
			r.done()
			_, err := r.start(t.Context())
			require.Equal(t, tt.fails, err != nil)
			asked := r.model.requests[1:]
			require.Len(t, asked, tt.tries)
			require.Equal(t, 1, states(asked[0]))
			if tt.tries > 1 {
				require.Zero(t, states(asked[1]))
				require.Contains(t, r.notices[0], "without the reasoning of earlier answers")
			}
			if tt.fails {
				var failed *ProviderError
				require.ErrorAs(t, err, &failed)
			}
		})
	}
}

// states is how much opaque state goes with a request.
func states(r *provider.Request) (n int) {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if len(b.Item) > 0 {
				n++
			}
		}
	}
	return n
}

// An absurd token count from a server leaves the sums sane.
func TestTokensThatCannotBe(t *testing.T) {
	lie := provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.FinishStop, Usage: &conversation.Usage{Input: -5, Output: 1<<63 - 1}}
	r := newRig(t, nil, once(hasContent("One."), lie), once(hasContent("Two."), lie))
	r.done()
	o := r.done()
	require.Zero(t, o.Usage.Input)
	require.Equal(t, 1<<40, o.Usage.Output)
	require.Equal(t, 2<<40, conversation.Summarize(r.stored()).Usage.Output)
}
