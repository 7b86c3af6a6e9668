package turnloop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	. "jp/turnloop"
)

// A message that comes while the model answers goes on with the turn; any other end ends it.
func TestMessagesBehindAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		first reply
		want  Status
	}{
		"an answer": {answers("ok"), Complete},
		"a refusal": {once(hasContent("No."), ends(conversation.FinishRefusal)), Refused},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, c.first, answers("and more"))
			left := []string{"one more thing"}
			r.opts.Input.More = func() (texts []string) {
				texts, left = left, nil
				return texts
			}
			o := r.done()
			require.Equal(t, c.want, o.Status)
			var said []string
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.ChatRequest); ok && b.Interrupt {
					said = append(said, b.Content)
				}
			}
			if c.want == Complete {
				require.Equal(t, "and more", o.Message)
				require.Equal(t, []string{"one more thing"}, said)
				return
			}
			require.Empty(t, said)
			require.NotEmpty(t, left, "it was taken and not recorded")
		})
	}
}
