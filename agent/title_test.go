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
	"jp/internal/testing/journaltest"
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

// The title of a fork is about its own turns, once it has one.
func TestMaterialOfAFork(t *testing.T) {
	t.Parallel()
	s := journaltest.NewScript(t).Turn("Cap the retries").Says("With 5.").Records(&conversation.ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 3})
	require.Contains(t, material(s.Events()), "Cap the retries")
	text := material(s.Turn("With 9").Says("Done.").Events())
	require.Regexp(t, `^This conversation branched off another one, whose title is "Cap the retries"\. Say what is different`, text)
	require.Contains(t, text, "\n\nWith 9\n")
	require.NotContains(t, text, "With 5.")
}

// A title is due once: after the first turn, and of a fork after its first own one.
func TestTitleDue(t *testing.T) {
	t.Parallel()
	fork, done := &conversation.ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 3}, &conversation.TurnDone{}
	model, user := &conversation.Metadata{Title: new("Its"), TitleSource: "model"}, &conversation.Metadata{Title: new("Mine"), TitleSource: "user"}
	for name, tt := range map[string]struct {
		script func(s *journaltest.Script) *journaltest.Script
		want   bool
	}{
		"a turn": {func(s *journaltest.Script) *journaltest.Script { return s.Turn("a").Says("b").Records(done) }, true},
		"a turn, written": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(model)
		}, false},
		"a fork": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(model, fork)
		}, false},
		"a turn of a fork": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(model, fork).Turn("c").Says("d").Records(done)
		}, true},
		"a fork of the user's": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(user, fork).Turn("c").Says("d").Records(done)
		}, false},
		"a fork with a title": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(fork, user).Turn("c").Says("d").Records(done)
		}, false},
		"a fork, written": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Records(model, fork).Turn("c").Says("d").Records(done).Records(model)
		}, false},
		"the second turn, soon": {func(s *journaltest.Script) *journaltest.Script {
			return s.Turn("a").Says("b").Records(done).Turn("c").Says("d").Records(done)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			events := tt.script(journaltest.NewScript(t)).Events()
			require.Equal(t, tt.want, titleDue(events, events[len(events)-1].Time))
		})
	}
}
