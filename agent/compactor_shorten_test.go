package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/provider"
)

// A story grows event by event.
type story []*conversation.Event

func (s *story) add(b conversation.Body) int {
	*s = append(*s, &conversation.Event{Seq: len(*s), Turn: 1, Version: 1, Model: "test/m", Body: b})
	return len(*s) - 1
}

func (s *story) asks(text string) {
	s.add(&conversation.TurnStart{Model: "test/m"})
	s.add(&conversation.ChatRequest{Content: text})
	for i := len(*s) - 2; i < len(*s); i++ {
		(*s)[i].Turn = 1
	}
}

// result has so many bytes in lines that say which result it is.
func result(name string, bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "%s line %d\n", name, i)
	}
	return b.String()[:bytes]
}

// reads is one model call that asks for results of these sizes, with them.
func (s *story) reads(call int, files int, sizes ...int) {
	var at []int
	for i := range sizes {
		b := &conversation.ToolCallRequest{Call: call, ID: fmt.Sprintf("c%d_%d", call, i), Name: "read", Arguments: json.RawMessage(`{}`)}
		if i == len(sizes)-1 {
			b.Finish = conversation.FinishToolCalls
		}
		at = append(at, s.add(b))
	}
	for i, size := range sizes {
		b := &conversation.ToolCallResponse{For: at[i], ID: fmt.Sprintf("c%d_%d", call, i), Name: "read", Content: result(fmt.Sprintf("r%d", i), size)}
		seq := s.add(b)
		for f := range files {
			name := fmt.Sprintf("p%d.png", f)
			b.Attachments = append(b.Attachments, conversation.Attachment{Name: name, MediaType: "image/png"})
			(*s)[seq].Payloads = append((*s)[seq].Payloads, conversation.Payload{Name: name, MediaType: "image/png", Data: []byte("x"), Bytes: 1})
		}
	}
}

// room makes room as the loop does, and returns the events with those that it records.
func (s story) room(t *testing.T, m *model, window int) story {
	t.Helper()
	c := &agent.Compactor{Model: "test/m", Provider: m, Window: window, At: 0.8, Keep: 4, Auto: true, Notice: func(string) {}, Now: time.Now}
	bodies, err := c.MakeRoom(t.Context(), room(s, nil))
	require.NoError(t, err)
	after := append(story(nil), s...)
	for _, b := range bodies {
		after.add(b)
	}
	return after
}

func (s story) sent(t *testing.T) (text string, tokens int) {
	t.Helper()
	request, err := provider.Build(s, room(s, nil).Request)
	require.NoError(t, err)
	for _, m := range request.Messages {
		for _, b := range m.Blocks {
			text += b.Text + "\n"
		}
	}
	return text, request.Estimate()
}

// The model gets the beginning and the end of each unread result, of any size: they fit, and the newest are
// whole if that leaves the others their share.
func TestResultsThatWereNotReadAreShortened(t *testing.T) {
	for _, window := range []int{8192, 12_000, 32_768, 200_000} {
		for name, sizes := range map[string][]int{
			"four files":    {32 << 10, 32 << 10, 32 << 10, 32 << 10},
			"one huge":      {900 << 10},
			"small and big": {200, 500 << 10, 300, 4000},
			"many":          {9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000},
			"too many":      {90_000, 90_000, 90_000, 90_000, 90_000, 90_000, 90_000, 90_000, 90_000},
		} {
			for _, before := range []int{0, 6} {
				t.Run(fmt.Sprint(window, " ", name, " behind ", before), func(t *testing.T) {
					var s story
					s.asks("Read it all.")
					for i := range before {
						s.reads(i+1, 0, window/4)
					}
					s.reads(before+1, 0, sizes...)
					m := &model{answer: good}
					after := s.room(t, m, window)
					text, tokens := after.sent(t)
					require.LessOrEqual(t, tokens, window*85/100)
					for i := range sizes {
						lines := strings.Split(strings.TrimSpace(result(fmt.Sprintf("r%d", i), sizes[i])), "\n")
						require.Contains(t, text, lines[0]+"\n", "the beginning of result %d", i)
						require.Contains(t, text, lines[len(lines)-1], "the end of result %d", i)
					}
					newest := result(fmt.Sprintf("r%d", len(sizes)-1), sizes[len(sizes)-1])
					if len(newest) <= window && before == 0 {
						require.Contains(t, text, newest, "the newest is whole")
					}
					for _, r := range m.asked {
						require.LessOrEqual(t, r.Estimate(), window*92/100, "the writer of summaries can read what it is sent")
					}
				})
			}
		}
	}
}

// Pictures that do not fit are named.
func TestPicturesThatDoNotFit(t *testing.T) {
	var s story
	s.asks("Look.")
	s.reads(1, 1, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
	after := s.room(t, &model{answer: good}, 12_000)
	text, tokens := after.sent(t)
	require.LessOrEqual(t, tokens, 10_000)
	require.Contains(t, text, "file of this result not sent]")
	require.Contains(t, text, "r0 line 0", "its text is sent")
}

// The request for a summary fits with any content: answers, long requests, results.
func TestTheRequestForASummaryFits(t *testing.T) {
	for _, window := range []int{8192, 12_000, 32_768} {
		for name, fill := range map[string]func(s *story, i int){
			"answers": func(s *story, i int) {
				s.add(&conversation.ChatResponse{Call: i, Part: conversation.PartMessage, Text: result(fmt.Sprint("answer", i), 12_000), CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}})
			},
			"short answers": func(s *story, i int) {
				s.add(&conversation.ChatResponse{Call: i, Part: conversation.PartMessage, Text: result(fmt.Sprint("answer", i), 1500), CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}})
			},
			"results": func(s *story, i int) {
				s.reads(i, 1, 32<<10)
				s.add(&conversation.ChatResponse{Call: i + 1, Part: conversation.PartMessage, Text: "Read.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}})
			},
		} {
			for _, n := range []int{2, 5, 40} {
				t.Run(fmt.Sprint(window, " ", n, " ", name), func(t *testing.T) {
					var s story
					for i := range n {
						turn := len(s)
						s.asks("Go on with " + fmt.Sprint(i))
						fill(&s, 1)
						for _, e := range s[turn:] {
							e.Turn = i + 1
						}
					}
					turn := len(s)
					s.asks("And now?")
					for _, e := range s[turn:] {
						e.Turn = n + 1
					}
					if _, tokens := s.sent(t); tokens <= window {
						t.Skip("there is room")
					}
					m := &model{answer: `{"items":[{"text":"It was read.","cites":[1]}]}`}
					after := s.room(t, m, window)
					require.NotEmpty(t, m.asked)
					for _, r := range m.asked {
						require.LessOrEqual(t, r.Estimate(), window*92/100)
						require.Equal(t, conversation.RoleUser, r.Messages[0].Role)
					}
					_, tokens := after.sent(t)
					require.LessOrEqual(t, tokens, window*85/100)
				})
			}
		}
	}
}

// A conversation can be compacted even if its server reports too small a count, or none.
func TestTooSmallReports(t *testing.T) {
	for _, tt := range []struct {
		input, window int
		basis         string // "": no compaction
	}{
		{0, 28_000, conversation.BasisEstimated},
		{105, 28_000, conversation.BasisEstimated},
		{29_000, 28_000, conversation.BasisReported},
		{10_500, 16_000, conversation.BasisEstimated}, // about 24,000 tokens in a small window
		{15_000, 40_000, ""},
		{18_000, 28_000, ""},
	} {
		var s story
		s.asks("Read it all.")
		for i := range 8 {
			s.reads(i+1, 0, 12_000)
			call := s[len(s)-2].Body.(*conversation.ToolCallRequest)
			call.Usage = &conversation.Usage{Input: min(tt.input, tt.input*(i+1)/8+1), Output: 1}
		}
		after := s.room(t, &model{answer: good}, tt.window)
		if tt.basis == "" {
			require.Len(t, after, len(s), tt.input)
			continue
		}
		require.Greater(t, len(after), len(s), tt.input)
		require.Equal(t, tt.basis, after[len(s)].Body.(*conversation.Compaction).Basis, tt.input)
	}
}
