package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func TestWithoutFence(t *testing.T) {
	for text, want := range map[string]string{
		"```\na\n```":               "a\n",
		"\n ```json\n{}\n```\n\n":   "{}\n",
		"````md\n```\na\n```\n````": "```\na\n```\n",
		"```\n```":                  "",
		"```json\r\n{}\r\n```":      "{}\r\n",
		"~~~json\n{}\n~~~":          "{}\n",
		"~~~\n```\na\n```\n~~~":     "```\na\n```\n",
		"   ~~~JSON5\n{}\n   ~~~":   "{}\n",
		"```json\n{}\n`````\n":      "{}\n",
		"``` {.json}\n{}\n ```":     "{}\n",
	} {
		got, ok := conversation.WithoutFence(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "a", "```", "```json", "```json {}```", "```\na", "a\n```\nb\n```", "```\na\n```\nb", "```\na\n```\n```\nb\n```", "``\na\n``", "```\na```", "```a b\nc\n```",
		"~~\na\n~~", "```\na\n~~~", "~~~\na\n```", "````\na\n```", "```\na\n    ```", "~~~\na\n~~~\n~~~\nb\n~~~", "~~~\na\n~~~ b", "\n",
	} {
		_, ok := conversation.WithoutFence(text)
		require.False(t, ok, text)
	}
}
