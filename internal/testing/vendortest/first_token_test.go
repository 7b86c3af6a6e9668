package vendortest_test

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/internal/testing/vendortest"
	"jp/provider/catalog"
	"jp/tool"
	"jp/turnloop"
)

// A stopwatch is an observer that notes when the first text came.
type stopwatch struct{ first time.Time }

func (s *stopwatch) Recorded([]*conversation.Event) {}
func (s *stopwatch) Noticed(string)                 {}
func (s *stopwatch) Working(turnloop.Activity)      {}
func (s *stopwatch) Streamed(turnloop.Delta) {
	if s.first.IsZero() {
		s.first = time.Now()
	}
}

// TestTheFirstTokenIsNotHeldBack compares when the first token of an answer reaches the observer of a turn
// with when it reaches a reader that only copies: the medians of 200 answers of one run, asked in turns.
// Other work of the machine may delay either, so the best of three attempts counts. An answer that is held
// back is late in each.
func TestTheFirstTokenIsNotHeldBack(t *testing.T) {
	const attempts, rounds, most = 3, 200, 5 * time.Millisecond
	var sent atomic.Int64
	for _, name := range []string{"anthropic", "openai", "google", "work"} {
		v := vendortest.VendorNamed(name)
		whole := v.Plain(vendortest.Reply{Text: "token and more"})
		at := strings.Index(whole, "token")
		from := strings.LastIndex(whole[:at], "data:")
		to := at + strings.Index(whole[at:], "\n\n") + len("\n\n")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			flush := func(text string) {
				_, _ = io.WriteString(w, text) // the client may be gone
				_ = http.NewResponseController(w).Flush()
			}
			flush(whole[:from])
			sent.Store(time.Now().UnixNano())
			flush(whole[from:to])
			flush(whole[to:])
		}))
		settings := catalog.Settings{BaseURL: server.URL + "/v1"}
		if name == "work" {
			settings.Dialect = "openai-chat"
		}
		found, err := catalog.Find(v.Name, settings)
		require.NoError(t, err)
		p := found.Open(v.Key(), catalog.Options{Client: server.Client()})
		tools, err := tool.NewRegistry()
		require.NoError(t, err)

		copies := func() time.Duration {
			response, err := server.Client().Post(server.URL, "application/json", strings.NewReader("{}"))
			require.NoError(t, err)
			defer response.Body.Close()
			var got []byte
			part := make([]byte, 4096)
			for !strings.Contains(string(got), "token") {
				n, err := response.Body.Read(part)
				got = append(got, part[:n]...)
				require.True(t, err == nil || n > 0, err)
			}
			took := time.Since(time.Unix(0, sent.Load()))
			_, _ = io.Copy(io.Discard, response.Body)
			return took
		}
		turns := func() time.Duration {
			watch := &stopwatch{}
			loop := turnloop.New(turnloop.Options{
				Conversation: turnloop.ConversationOptions{
					Journal: journaltest.NewMemory(),
					ID:      "jp-c17528832001-k3f9",
					Stream:  conversation.NewStream(nil),
				},
				Model: turnloop.ModelOptions{
					Provider: p,
					API:      p.API,
					Name:     v.Asked(),
				},
				Tools: turnloop.ToolOptions{
					Registry: tools,
				},
				Observer: watch,
			})
			_, err := loop.Start(context.Background(), turnloop.Request{Chat: conversation.ChatRequest{Content: "Say it."}})
			require.NoError(t, err)
			return watch.first.Sub(time.Unix(0, sent.Load()))
		}
		later := time.Duration(math.MaxInt64)
		for range attempts {
			var copied, observed []time.Duration
			for range rounds {
				copied, observed = append(copied, copies()), append(observed, turns())
			}
			slices.Sort(copied)
			slices.Sort(observed)
			t.Logf("%s: the first token reaches a reader that copies after %v and the observer after %v (medians of %d)", name, copied[rounds/2], observed[rounds/2], rounds)
			later = min(later, observed[rounds/2]-copied[rounds/2])
			if later < most {
				break
			}
		}
		server.Close()
		require.Less(t, later, most, "in the best of %d attempts", attempts)
	}
}
