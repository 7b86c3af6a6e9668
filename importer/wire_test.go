package importer

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/wirecheck"
	"jp/provider"
	"jp/provider/anthropic"
	"jp/provider/google"
	"jp/provider/openai"
)

// A wire is one of the four protocols, and the validator that judges its requests.
type wire struct {
	model string
	api   string
	open  func(*http.Client) provider.Provider
	judge func([]byte, wirecheck.Capability) []wirecheck.Violation
	able  wirecheck.Capability
}

var wires = []wire{
	{"claude-sonnet-4-5", anthropic.API, func(c *http.Client) provider.Provider {
		return anthropic.New(anthropic.Options{Key: "k", Client: c, Thinking: anthropic.EffortHigh})
	}, wirecheck.Anthropic, wirecheck.Capability{Anthropic: wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingManual}}},
	{"m", openai.APIChat, func(c *http.Client) provider.Provider {
		return openai.NewChat(openai.Options{Key: "k", Client: c})
	}, wirecheck.Chat, wirecheck.Capability{}},
	{"gpt-5.1", openai.APIResponses, func(c *http.Client) provider.Provider {
		return openai.NewResponses(openai.Options{Key: "k", Client: c})
	}, wirecheck.Responses, wirecheck.Capability{}},
	{"gemini-3-pro", google.API, func(c *http.Client) provider.Provider {
		return google.New(google.Options{Key: "k", Client: c})
	}, wirecheck.Gemini, wirecheck.Capability{Gemini: wirecheck.GeminiModel{Major: 3}}},
}

var errCaught = errors.New("caught")

// A catcher keeps the body of a request.
type catcher struct{ body []byte }

func (c *catcher) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	if c.body, err = io.ReadAll(r.Body); err == nil {
		err = errCaught
	}
	return nil, err
}

// requireValid sends a conversation to each protocol, as it is and with a new question.
func requireValid(t *testing.T, events []*conversation.Event, words string) {
	t.Helper()
	last := events[len(events)-1]
	asked := slices.Concat(events, []*conversation.Event{
		{Seq: last.Seq + 1, Turn: last.Turn, Time: last.Time, Body: &conversation.ForkOrigin{Adopted: true}},
		{Seq: last.Seq + 2, Turn: last.Turn + 1, Time: last.Time, Body: &conversation.TurnStart{}},
		{Seq: last.Seq + 3, Turn: last.Turn + 1, Time: last.Time.Add(time.Second), Body: &conversation.ChatRequest{Content: "Go on."}},
	})
	for _, w := range wires {
		for _, history := range [][]*conversation.Event{events, asked} {
			request, err := provider.Build(history, provider.Options{
				Model: w.api + "/" + w.model, API: w.api, System: "Be brief.",
				Tools: []provider.Tool{{Name: "tool", Description: "A tool.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
			})
			if errors.Is(err, provider.ErrNothingToAsk) {
				continue
			}
			require.NoError(t, err, words)
			var caught catcher
			for _, err := range w.open(&http.Client{Transport: &caught}).Stream(t.Context(), request) {
				require.Error(t, err)
			}
			require.NotEmpty(t, caught.body, words)
			w.able.Received, w.able.Given = []json.RawMessage{}, []string{}
			require.Empty(t, w.judge(caught.body, w.able), "%s, %s:\n%s\n%s", words, w.api, tell(history), caught.body)
		}
	}
}

// cuts are numbers of records at which a session is cut: all of a short one, and some of a
// long one, unless all are wanted.
func cuts(lines int) (at []int) {
	const most = 60
	step := 1
	if os.Getenv("JP_SAMPLES") == "" {
		step = max(1, lines/most)
	}
	for n := lines; n > 0; n -= step {
		at = append(at, n)
	}
	return at
}

// samples are session files: those of testdata, and those below the folder in JP_SAMPLES.
func samples(t *testing.T) (files map[string]Format) {
	files = map[string]Format{}
	for _, name := range fixtures(t) {
		files[filepath.Join("testdata", name)] = formatOf(name)
	}
	if dir := os.Getenv("JP_SAMPLES"); dir != "" {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			for _, f := range Formats {
				if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") && strings.Contains(path, f.Name()) {
					files[path] = f
				}
			}
			return err
		}))
	}
	return files
}

// A session that is cut at any record can be imported, and its next request is valid for
// each protocol.
func TestEachCutOfASessionIsValidOnTheWire(t *testing.T) {
	for path, f := range samples(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			lines := strings.SplitAfter(string(text), "\n")
			for _, n := range cuts(len(lines)) {
				_, there, err := importText(t, f, strings.Join(lines[:n], ""), path, nil)
				require.NoError(t, err)
				there.audit(t, "%d lines", n)
				for id, events := range there {
					requireValid(t, events, string(id))
				}
			}
		})
	}
}
