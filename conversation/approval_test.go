package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// What the user approved in advance holds in the conversation of the approval. In forks of it, shared or
// adopted, it needs a new approval.
func TestApprovalsEndAtAFork(t *testing.T) {
	all := conversation.ApproveAll()
	start := func(a conversation.Approval) conversation.Body { return &conversation.TurnStart{Approved: a} }
	resumed := func(a conversation.Approval) conversation.Body { return &conversation.Resumed{Approved: a} }
	fork, adoption := &conversation.ForkOrigin{}, &conversation.ForkOrigin{Adopted: true}
	for name, c := range map[string]struct {
		bodies []conversation.Body
		allows bool
	}{
		"never":                         {[]conversation.Body{start(nil)}, false},
		"at the start":                  {[]conversation.Body{start(all)}, true},
		"on a resume":                   {[]conversation.Body{start(nil), resumed(all)}, true},
		"this tool":                     {[]conversation.Body{start(conversation.Approval{"shell_run"})}, true},
		"another tool":                  {[]conversation.Body{start(conversation.Approval{"fs_create_file"})}, false},
		"a resume without":              {[]conversation.Body{start(all), resumed(nil)}, true},
		"a fork":                        {[]conversation.Body{start(all), fork}, false},
		"a fork of a resumed turn":      {[]conversation.Body{start(nil), resumed(all), fork}, false},
		"a fork that is resumed":        {[]conversation.Body{start(all), fork, resumed(nil)}, false},
		"a fork that is resumed with":   {[]conversation.Body{start(nil), fork, resumed(all)}, true},
		"a fork of a fork":              {[]conversation.Body{start(nil), fork, resumed(all), fork}, false},
		"an adoption":                   {[]conversation.Body{start(all), adoption}, false},
		"an adoption that is resumed":   {[]conversation.Body{start(all), adoption, resumed(all)}, true},
		"a new turn in a fork":          {[]conversation.Body{fork, start(all)}, true},
		"a new turn in a fork, without": {[]conversation.Body{fork, start(nil)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ledger := conversation.NewLedger()
			for seq, body := range c.bodies {
				ledger.Enter(&conversation.Event{Seq: seq, Turn: 1, Body: body})
			}
			require.Equal(t, c.allows, ledger.Approved.Allows("shell_run"))
		})
	}
}
