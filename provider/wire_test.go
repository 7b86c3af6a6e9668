package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/wirecheck"
	"jp/provider"
	"jp/provider/anthropic"
	"jp/provider/google"
	"jp/provider/openai"
)

// A wire is one way to a model: the maker of a request's body, and the validator that judges it.
type wire struct {
	api, model string
	open       func(*http.Client) provider.Provider
	item       func(*conversation.Event) json.RawMessage
	format     wirecheck.API
	judge      func([]byte, wirecheck.Capability) []wirecheck.Violation
	able       wirecheck.Capability
}

func claude(model string, thinking wirecheck.Thinking) wire {
	return wire{
		api: anthropic.API, model: model, item: anthropicItem,
		open: func(c *http.Client) provider.Provider {
			return anthropic.New(anthropic.Options{Key: "k", Client: c, Thinking: anthropic.EffortHigh})
		},
		format: wirecheck.AnthropicMessages, judge: wirecheck.Anthropic,
		able: wirecheck.Capability{Anthropic: wirecheck.AnthropicModel{Thinking: thinking}},
	}
}

func chat(dialect string, able wirecheck.ChatDialect) wire {
	d, _ := openai.DialectNamed(dialect)
	return wire{
		api: openai.APIChat, model: "m-" + dialect, item: func(*conversation.Event) json.RawMessage { return nil },
		open: func(c *http.Client) provider.Provider {
			return openai.NewChat(openai.Options{Key: "k", Client: c, Dialect: d})
		},
		format: wirecheck.OpenAIChat, judge: wirecheck.Chat, able: wirecheck.Capability{Chat: able},
	}
}

func gemini(model string, major int) wire {
	return wire{
		api: google.API, model: model, item: geminiItem,
		open:   func(c *http.Client) provider.Provider { return google.New(google.Options{Key: "k", Client: c}) },
		format: wirecheck.GeminiContents, judge: wirecheck.Gemini, able: wirecheck.Capability{Gemini: wirecheck.GeminiModel{Major: major}},
	}
}

// wires are the four formats, in the dialects that differ in their prohibitions.
func wires() map[string]wire {
	return map[string]wire{
		"anthropic, manual thinking":   claude("claude-sonnet-4-5", wirecheck.ThinkingManual),
		"anthropic, adaptive thinking": claude("claude-opus-4-7", wirecheck.ThinkingAdaptive),
		"chat":                         chat("openai", wirecheck.ChatDialect{}),
		"chat, mistral":                chat("mistral", wirecheck.ChatDialect{UserAfterTool: wirecheck.UserFolded, AlnumIDs: true}),
		"chat, deepseek":               chat("deepseek", wirecheck.ChatDialect{ReasoningBack: wirecheck.ReasoningAll, EmptyContent: true}),
		"responses": {
			api: openai.APIResponses, model: "gpt-5.1", item: responsesItem,
			open: func(c *http.Client) provider.Provider {
				return openai.NewResponses(openai.Options{Key: "k", Client: c})
			},
			format: wirecheck.OpenAIResponses, judge: wirecheck.Responses,
		},
		"gemini 3":   gemini("gemini-3-pro", 3),
		"gemini 2.5": gemini("gemini-2.5-flash", 2),
	}
}

// maker is the wire as the maker of a conversation's events.
func (w wire) maker() provider.Maker {
	return provider.NewMaker(provider.Target{API: w.api, Model: w.model}, w.item)
}

// options are those of a request, with the tools that the histories use.
func (w wire) options() provider.Options {
	o := provider.Options{Model: w.api + "/" + w.model, API: w.api, System: "Be brief."}
	for _, name := range []string{"tool", "tool_1", "tool_2"} {
		o.Tools = append(o.Tools, provider.Tool{Name: name, Description: "A tool.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)})
	}
	return o
}

// errCaught ends a request whose body is all that was wanted.
var errCaught = errors.New("caught")

// A catcher keeps the body of a request as it would go over the wire.
type catcher struct{ body []byte }

// RoundTrip implements [http.RoundTripper].
func (c *catcher) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.body = body
	return nil, errCaught
}

// A line is an open way to a model.
type line struct {
	wire
	provider provider.Provider
	caught   catcher
}

func (w wire) line() *line {
	l := &line{wire: w}
	l.provider = w.open(&http.Client{Transport: &l.caught})
	return l
}

// body is the body of a request.
func (l *line) body(t require.TestingT, ctx testContext, r *provider.Request) []byte {
	l.caught.body = nil
	for _, err := range l.provider.Stream(ctx.Context(), r) {
		require.Error(t, err)
	}
	require.NotEmpty(t, l.caught.body, "nothing was sent")
	return l.caught.body
}

// sent are the messages of a request. Only Anthropic continues a paused answer.
func (l *line) sent(r *provider.Request) []provider.Message {
	messages := r.Messages
	for l.format != wirecheck.AnthropicMessages && len(messages) > 0 && messages[len(messages)-1].Role == conversation.RoleAssistant {
		messages = messages[:len(messages)-1]
	}
	return messages
}

// received are the items that the request's own history holds, for the rules
// that want them back unchanged.
func (l *line) received(r *provider.Request) []json.RawMessage {
	items := []json.RawMessage{}
	messages := l.sent(r)
	for at, m := range messages {
		if l.able.Anthropic.Thinking == wirecheck.ThinkingManual && !beginsWithThought(messages, at) {
			continue // such a model reads it only once
		}
		for _, b := range m.Blocks {
			wanted := b.Kind == provider.BlockReasoning || l.format == wirecheck.OpenAIResponses ||
				l.format == wirecheck.GeminiContents && bytes.Contains(b.Item, []byte("thoughtSignature"))
			if len(b.Item) > 0 && wanted {
				items = append(items, b.Item)
			}
		}
	}
	return items
}

// given are the ids of a request that its endpoint gave. The items that histories
// are made with say so too.
func (l *line) given(r *provider.Request) []string {
	var ids []string
	for _, m := range l.sent(r) {
		for _, b := range m.Blocks {
			if b.Kind == provider.BlockToolCall && b.Given && l.format != wirecheck.GeminiContents { // its items have ids of their own
				ids = append(ids, b.ID)
			}
		}
	}
	return ids
}

// beginsWithThought reports whether the answer around a message, with those that it continues, begins with
// reasoning.
func beginsWithThought(messages []provider.Message, at int) bool {
	for at > 0 && messages[at-1].Role == conversation.RoleAssistant && messages[at].Role == conversation.RoleAssistant {
		at--
	}
	return len(messages[at].Blocks) > 0 && messages[at].Blocks[0].Kind == provider.BlockReasoning
}

// paused is the content that a request lets the model continue, nil if the user has the last word.
func (l *line) paused(r *provider.Request) json.RawMessage {
	var items [][]byte
	unread := l.able.Anthropic.Thinking == wirecheck.ThinkingManual && !beginsWithThought(r.Messages, len(r.Messages)-1)
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != conversation.RoleAssistant {
			break
		}
		for _, b := range slices.Backward(m.Blocks) {
			if b.Kind != provider.BlockReasoning || !unread {
				items = append(items, b.Item)
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	slices.Reverse(items)
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// broken are the rules that a request's body breaks, or "".
func (l *line) broken(t require.TestingT, ctx testContext, r *provider.Request) string {
	able := l.able
	able.Received, able.Given = l.received(r), l.given(r)
	able.Anthropic.Paused = l.paused(r)
	body := l.body(t, ctx, r)
	var found []string
	for _, v := range l.judge(body, able) {
		found = append(found, v.String())
	}
	if len(found) == 0 {
		return ""
	}
	return strings.Join(found, "\n") + "\n" + string(body)
}

// shapes are the places that a short history can have in a conversation.
var shapes = []struct{ before, after string }{
	{"T Q ", ""},            // resumed as it is
	{"T Q ", " S T Q"},      // stopped, and a new question
	{"T Q ", " X T Q"},      // discarded, and a new question
	{"T Q ", " r"},          // with a report
	{"T Q M. T Q ", ""},     // behind a complete turn
	{"T Q R M. T Q R ", ""}, // with reasoning before it
	{"T Q ", " T Q"},        // imported, broken off in the middle
}

// TestEveryShortHistoryIsValidOnTheWire sends every short history, in every place, to the model that wrote
// it, and judges the requests.
func TestEveryShortHistoryIsValidOnTheWire(t *testing.T) {
	depth := 2
	if os.Getenv("JP_CRASH") == "full" {
		depth = 3
	}
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, seen, sent := w.line(), map[string]bool{}, 0
			for _, shape := range shapes {
				provider.Every(nil, depth, func(words []string) {
					written := shape.before + strings.Join(words, " ") + shape.after
					request, err := provider.Build(provider.EventsBy(w.maker(), written), w.options())
					if errors.Is(err, provider.ErrNothingToAsk) || err == nil && seen[request.Prefix()] {
						return
					}
					require.NoError(t, err, written)
					seen[request.Prefix()] = true
					sent++
					require.Empty(t, l.broken(t, t, request), written)
				})
			}
			require.Greater(t, sent, 100)
			t.Logf("%d different requests", sent)
		})
	}
}

// TestEverySwitchIsValidOnTheWire continues with another model: of the same vendor, and of every other.
func TestEverySwitchIsValidOnTheWire(t *testing.T) {
	all := wires()
	for from, writer := range all {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			for to, w := range all {
				l, seen := w.line(), map[string]bool{}
				provider.Every(nil, 2, func(words []string) {
					written := "T Q R C1+ D1 R M. T Q " + strings.Join(words, " ")
					request, err := provider.Build(provider.EventsBy(writer.maker(), written), w.options())
					if errors.Is(err, provider.ErrNothingToAsk) || err == nil && seen[request.Prefix()] {
						return
					}
					require.NoError(t, err, written)
					seen[request.Prefix()] = true
					require.Empty(t, l.broken(t, t, request), "%s, then %s: %s", from, to, written)
				})
			}
		})
	}
}

// TestSessionsOnTheWire plays whole sessions: the request before an answer is repeated with the answer, to
// the byte, and so is a request that failed.
func TestSessionsOnTheWire(t *testing.T) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				l := w.line()
				sent := map[string][]byte{} // by a word of the answer
				s := provider.NewSessionBy(rt, w.maker(), func(answer string, r *provider.Request) {
					require.Empty(rt, l.broken(rt, t, r))
					sent[answer] = l.body(rt, t, r)
				})
				for range rapid.IntRange(1, 25).Draw(rt, "steps") {
					s.Step()
				}
				request, err := provider.Build(s.Events(), s.Options())
				if errors.Is(err, provider.ErrNothingToAsk) {
					return
				}
				require.NoError(rt, err)
				require.Empty(rt, l.broken(rt, t, request))
				body := l.body(rt, t, request)
				require.Empty(rt, wirecheck.Same(body, w.line().body(rt, t, request)))
				for _, answer := range l.answersIn(request) {
					if before := sent[answer]; before != nil {
						require.Empty(rt, wirecheck.AppendOnly(w.format, before, body), "%s\n%s", before, body)
					}
				}
			})
		})
	}
}

// answersIn are the texts of the model that a request sends.
func (l *line) answersIn(r *provider.Request) []string {
	var texts []string
	for _, m := range l.sent(r) {
		if m.Role == conversation.RoleAssistant {
			for _, b := range m.Blocks {
				texts = append(texts, b.Text)
			}
		}
	}
	return texts
}

// A testContext gives the context of a test.
type testContext interface{ Context() context.Context }
