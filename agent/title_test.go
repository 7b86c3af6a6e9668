package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                                     "",
		"\n\n":                                 "",
		"...":                                  "",
		"Cap the login retries":                "Cap the login retries",
		"\"Cap the login retries.\"\n\nMore.":  "Cap the login retries",
		"## Cap `retries` in auth":             "Cap `retries` in auth",
		"TITLE: Cap the login retries":         "Cap the login retries",
		"**Title:** Cap the login retries":     "Cap the login retries",
		"Cap\tthe\x1b[31m  login\x00 retries ": "Cap the login retries",
		"„Grüße an 漢字“":                        "Grüße an 漢字",
	} {
		require.Equal(t, want, cleanTitle(said), "%q", said)
	}
}

func TestCleanTitleFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := cleanTitle(rapid.String().Draw(t, "said"))
		require.LessOrEqual(t, safetext.Columns(title), conversation.TitleColumns)
		require.Equal(t, problem.OneLine(title), title)
		require.Equal(t, strings.TrimSpace(title), title)
	})
}

func TestMaterialOfATitle(t *testing.T) {
	t.Parallel()
	stream := conversation.NewStream(time.Now)
	durable := func([]*conversation.Event) error { return nil }
	for i, question := range []string{"First " + strings.Repeat("漢", titleMaterial), "Second", "Third"} {
		require.NoError(t, stream.StartTurn(conversation.TurnStart{}, conversation.ChatRequest{Content: question}).
			AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: "Hm."}).
			AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "Answer.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}).
			Build(durable), i)
	}
	text := material(stream.Events())
	require.True(t, strings.HasPrefix(text, "The user's first request:\n\nFirst 漢"))
	require.Equal(t, titleAnswers, strings.Count(text, "Answer."))
	require.NotContains(t, text, "Second")
	require.NotContains(t, text, "Hm.")
	require.Less(t, len(text), titleMaterial+500)
	require.Empty(t, material(nil))
}
