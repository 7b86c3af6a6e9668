package gittool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
)

func TestTrailers(t *testing.T) {
	call := tool.Call{Conversation: "jp-c17528832001-k3f9", Seq: 7}
	const trailers = "Jp-Conversation: jp-c17528832001-k3f9@7\nAssisted-by: jp:a/b\n"
	for message, want := range map[string]string{
		"Subject":                               "Subject\n\n" + trailers,
		"feat: subject\n":                       "feat: subject\n\n" + trailers,
		"Subject\n\nBody.\n":                    "Subject\n\nBody.\n\n" + trailers,
		"Subject\n\nBody.\n\nFixes: #1\n":       "Subject\n\nBody.\n\nFixes: #1\n" + trailers,
		"Subject\n\nFixes: #1\nand more words.": "Subject\n\nFixes: #1\nand more words.\n\n" + trailers,
	} {
		require.Equal(t, want, withTrailers(message, call, "a/b"), message)
	}
	require.NotContains(t, withTrailers("Subject", call, "a\nSigned-off-by: Eve"), "Eve")
}
