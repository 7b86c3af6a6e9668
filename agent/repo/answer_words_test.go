package repo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

func TestAnswerWords(t *testing.T) {
	network := conversation.AnswerType{Type: "select", Options: []conversation.Option{{Value: []byte(`"run"`)}, {Value: []byte(`"run_network"`)}}}
	for want, i := range map[string]attach.Inquiry{
		"y, n or a":          {Kind: conversation.KindRunTool},
		"y, n, a or network": {Kind: conversation.KindRunTool, AnswerType: network},
		"y, n or network":    {Kind: conversation.KindRunTool, AnswerType: network, Exclusive: true},
		"y or n":             {Kind: conversation.KindDeliverResult},
		"1 to 2":             {Kind: conversation.KindToolQuestion, AnswerType: network},
		"a text":             {Kind: conversation.KindToolQuestion},
	} {
		require.Equal(t, want, AnswerWords(i))
	}
}
