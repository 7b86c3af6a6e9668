package journaltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// step is a group of events, behind those of a stream, that the rules allow.
type step func(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error

// group draws events that may come next.
func (m *machine) group(t *rapid.T, events []*conversation.Event) (group []*conversation.Event) {
	s := conversation.JoinTail(conversation.SplitTail(clones(events)))
	s.SetClock(m.clock)
	possible := steps(s)
	next := possible[rapid.SampledFrom(sortedKeys(possible)).Draw(t, "step")]
	require.NoError(t, next(t, s, func(events []*conversation.Event) error {
		group = events
		return nil
	}))
	require.NotEmpty(t, group)
	return group
}

func steps(s *conversation.Stream) map[string]step {
	tail := s.Tail()
	switch {
	case s.Len() == 0:
		return map[string]step{"request": request, "turn": wholeTurn}
	case tail.Complete() || tail.Empty():
		return map[string]step{"request": request, "turn": wholeTurn, "metadata": metadata}
	case len(tail.Open()) > 0:
		return map[string]step{"result": result, "metadata": metadata}
	}
	return map[string]step{"answer": answer, "call": call, "metadata": metadata}
}

// words draws a text: mostly short, sometimes with everything in it.
func words(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind of text") {
	case 0:
		return texts[rapid.SampledFrom(sortedKeys(texts)).Draw(t, "text")]
	case 1:
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	}
	return rapid.StringN(0, 40, -1).Draw(t, "words")
}

func request(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	b := conversation.ChatRequest{Content: words(t)}
	var payload []conversation.Payload
	if rapid.Bool().Draw(t, "attached") {
		b.Attachments = []conversation.Attachment{{Name: "a.bin", MediaType: "application/octet-stream"}}
		payload = []conversation.Payload{{Name: "a.bin", MediaType: "application/octet-stream", Data: []byte(words(t) + "!")}}
	}
	return s.StartTurn(conversation.TurnStart{Model: Model, JP: "test"}, b).
		Draft(1, func(e *conversation.Event) { e.Payloads = payload }).Build(commit)
}

// wholeTurn is a request with its answer, in one group.
func wholeTurn(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	return s.StartTurn(conversation.TurnStart{Model: Model, JP: "test"}, conversation.ChatRequest{Content: words(t)}).
		AddChatResponse(saying(t, 1)).AddRecord(&conversation.TurnDone{Calls: 1, Input: 120, Output: 34}).Build(commit)
}

func saying(t *rapid.T, call int) conversation.ChatResponse {
	return conversation.ChatResponse{Call: call, Part: conversation.PartMessage, Text: words(t), CallEnd: end(conversation.FinishStop)}
}

func answer(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	return s.CurrentTurn().AddChatResponse(saying(t, s.Tail().NextCall())).Build(commit)
}

// call asks for some tools, behind some reasoning.
func call(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	ordinal := s.Tail().NextCall()
	m := s.CurrentTurn().AddChatResponse(
		conversation.ChatResponse{Call: ordinal, Part: conversation.PartReasoning, Text: words(t)},
		conversation.WithProvider(json.RawMessage(`{"api":"script","item":{"signature":"c2lnbmVk"}}`)))
	n := rapid.IntRange(1, 3).Draw(t, "calls")
	for i := range n {
		b := conversation.ToolCallRequest{Call: ordinal, ID: fmt.Sprintf("call_%d_%d", ordinal, i), Name: "fs_read_file", Arguments: arguments(t)}
		if i == n-1 {
			b.CallEnd = end(conversation.FinishToolCalls)
		}
		m.AddToolCallRequest(b)
	}
	return m.Build(commit)
}

func arguments(t *rapid.T) json.RawMessage {
	path, err := json.Marshal(strings.ToValidUTF8(words(t), "?"))
	require.NoError(t, err)
	return json.RawMessage(`{"path":` + string(path) + `}`)
}

// result answers the first open call.
func result(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	open := s.Tail().Open()[0]
	return s.CurrentTurn().AddToolCallResponse(conversation.ToolCallResponse{
		For: open.Event.Seq, ID: open.Request.ID, Name: open.Request.Name, Content: words(t),
		IsError: rapid.Bool().Draw(t, "error"), DurationMS: 12,
	}).Build(commit)
}

// metadata renames, pins or labels.
func metadata(t *rapid.T, s *conversation.Stream, commit conversation.Commit) error {
	title := rapid.StringN(0, 60, -1).Draw(t, "title")
	b := &conversation.Metadata{Title: &title, TitleSource: "user"}
	if rapid.Bool().Draw(t, "pinned") {
		b.PinnedAt = &conversation.OptionalTime{Time: s.Last().Time}
	}
	if rapid.Bool().Draw(t, "labelled") {
		b.Labels = map[string]string{"area": title}
	}
	return s.Append(commit, &conversation.Event{Body: b})
}

// sameGroup reports whether two groups are stored as the same bytes.
func sameGroup(t *rapid.T, a, b []*conversation.Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if header(t, a[i]) != header(t, b[i]) {
			return false
		}
	}
	return true
}
