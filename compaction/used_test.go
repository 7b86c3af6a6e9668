package compaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/compaction"
	"jp/conversation"
)

// Events since the newest call count by their kind: text by its length, a picture as a picture, and unsent
// payloads not at all.
func TestUsedCountsWhatIsSent(t *testing.T) {
	text := conversation.Payload{Name: conversation.PayloadText, Bytes: 40_000}
	file := func(name, media string, bytes int64) (conversation.Payload, []conversation.Attachment) {
		return conversation.Payload{Name: name, Bytes: bytes}, []conversation.Attachment{{Name: name, MediaType: media}}
	}
	for name, test := range map[string]struct {
		add  func(*story)
		want int
	}{
		"nothing":                {func(*story) {}, 110},
		"a short text":           {func(s *story) { s.asks(strings.Repeat("x", 400)) }, 210},
		"a text that is payload": {func(s *story) { s.asks("begin"); last(s).Payloads = []conversation.Payload{text} }, 10_110},
		"a picture": {func(s *story) {
			s.asks("look")
			p, a := file("shot.png", "image/png", 2_000_000)
			last(s).Payloads, last(s).Body.(*conversation.ChatRequest).Attachments = []conversation.Payload{p}, a
		}, 1711},
		"a picture of a tool": {func(s *story) {
			p, a := file("shot.jpg", "image/jpeg", 2_000_000)
			e := s.runs("shot", "seen")
			e.Payloads, e.Body.(*conversation.ToolCallResponse).Attachments = []conversation.Payload{p}, a
		}, 1715},
		"a text file": {func(s *story) {
			s.asks("look")
			p, a := file("a.go", "text/x-go; charset=utf-8", 4_000)
			last(s).Payloads, last(s).Body.(*conversation.ChatRequest).Attachments = []conversation.Payload{p}, a
		}, 1111},
		"data": {func(s *story) {
			s.asks("look")
			p, a := file("a.json", "application/json", 4_000)
			last(s).Payloads, last(s).Body.(*conversation.ChatRequest).Attachments = []conversation.Payload{p}, a
		}, 1111},
		"the whole output of a tool": {func(s *story) {
			e := s.runs("seq", strings.Repeat("x", 400))
			e.Payloads = []conversation.Payload{{Name: conversation.PayloadOutput, Bytes: 8 << 20}}
		}, 214},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{}
			s.asks("One")
			s.answers("Done.").Body.(*conversation.ChatResponse).Usage = &conversation.Usage{Input: 100, Output: 10}
			test.add(s)
			used, known := compaction.Used(s.events)
			require.True(t, known)
			require.Equal(t, test.want, used)
		})
	}
}

func last(s *story) *conversation.Event { return s.events[len(s.events)-1] }

// A report that is less than the texts can be does not count.
func TestUsedDoubtsReportsThatAreTooSmall(t *testing.T) {
	for name, test := range map[string]struct {
		bytes, input int
		known        bool
	}{
		"whole":      {40_000, 10_000, true},
		"dense text": {40_000, 4_100, true},
		"partial":    {40_000, 105, false},
		"none":       {40_000, 0, false},
		"short":      {400, 105, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{}
			s.asks("One")
			s.runs("read", strings.Repeat("x", test.bytes))
			s.answers("Done.").Body.(*conversation.ChatResponse).Usage = &conversation.Usage{Input: test.input, Output: 1}
			s.asks("Two")
			_, known := compaction.Used(s.events)
			require.Equal(t, test.known, known)
			summary := s.compacts(0, 0)
			s.asks("Three")
			s.answers("Done.").Body.(*conversation.ChatResponse).Usage = &conversation.Usage{Input: 50, Output: 1}
			require.NotNil(t, summary)
			_, known = compaction.Used(s.events)
			require.True(t, known, "what a summary stands for is not sent")
		})
	}
}

// The text of a call without a report from its server counts by its length.
func TestUsedCountsAnswersWithoutReports(t *testing.T) {
	s := &story{}
	s.asks("One")
	s.answers("Done.").Body.(*conversation.ChatResponse).Usage = &conversation.Usage{Input: 100, Output: 10}
	s.asks("Two!")
	s.answers(strings.Repeat("y", 4000))
	used, known := compaction.Used(s.events)
	require.True(t, known)
	require.Equal(t, 1111, used)
}
