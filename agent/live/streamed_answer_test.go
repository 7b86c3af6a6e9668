package live

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
)

// A shown is an observer that reads the file of an answer whenever text is shown.
type shown struct {
	turnloop.Observer
	read func() string
	all  []string
}

func (s *shown) Streamed(turnloop.Delta)        { s.all = append(s.all, s.read()) }
func (s *shown) Recorded([]*conversation.Event) {}
func (s *shown) Noticed(string)                 {}
func (s *shown) Working(turnloop.Activity)      {}

// Text is in the file before it is shown, and can be read from there as it was, also behind a line that a kill cut off.
func TestStreamedTextIsKeptBeforeItIsShown(t *testing.T) {
	t.Parallel()
	const id = conversation.ID("jp-c17957779804-n03p")
	dir := t.TempDir()
	own := safefile.StateDir{GitDir: dir, Key: func() ([]byte, error) { return []byte("k"), nil }}
	file := filepath.Join(dir, "jp", "drafts", string(id)+".answer")
	s := &shown{read: func() string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}}
	k := KeepAnswer(s, own, id, true)
	event := func(seq int, body conversation.Body) *conversation.Event {
		return &conversation.Event{Seq: seq, Turn: 1, Body: body}
	}
	asked := []*conversation.Event{event(2, &conversation.ChatRequest{Content: "?"})}
	stream := func(seq, at int, part conversation.Part, text string) {
		k.Streamed(turnloop.Delta{Seq: seq, Call: 1, Part: part, At: at, Text: text})
	}
	kept := func() (texts []string) {
		for _, text := range StreamedTexts(own, id, asked) {
			texts = append(texts, string(text.Part)+" "+text.Text)
		}
		return texts
	}

	stream(3, 0, conversation.PartReasoning, "I th")
	require.Contains(t, s.all[0], "I th")
	stream(3, 4, conversation.PartReasoning, "ink.")
	stream(4, 0, conversation.PartMessage, "Yes")
	require.Equal(t, []string{"reasoning I think.", "message Yes"}, kept())
	require.Equal(t, "Yes", StreamedAnswer(own, id, asked))

	thought := event(3, &conversation.ChatResponse{Part: conversation.PartReasoning, Text: "I think."})
	k.Recorded([]*conversation.Event{thought})
	asked = append(asked, thought)
	stream(4, 3, conversation.PartMessage, ", so")
	require.Equal(t, []string{"message Yes, so"}, kept(), "what is recorded is no draft")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"seq":4,"at":7,"te`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, []string{"message Yes, so"}, kept(), "a line that was cut off says nothing")

	stream(4, 0, conversation.PartMessage, "No")
	k.Close()
	require.Contains(t, s.all[len(s.all)-1], "No")

	again := KeepAnswer(s, own, id, true)
	again.Streamed(turnloop.Delta{Seq: 4, Call: 2, Part: conversation.PartMessage, Text: "Perhaps"})
	require.Equal(t, []string{"message Perhaps"}, kept(), "the model was asked again")
	again.Recorded([]*conversation.Event{event(4, &conversation.ChatResponse{Part: conversation.PartMessage, Text: "Perhaps"})})
	require.NoFileExists(t, file)
	again.Close()
}
