package google

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/wirecheck"
	"jp/provider"
)

// drawMessages draws a dialogue as the projection makes them.
func drawMessages(t *rapid.T) []provider.Message {
	words := rapid.StringMatching(`[a-z<é\n]{0,5}[a-z]`)
	id := 0
	var messages []provider.Message
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		asked := user(text(words.Draw(t, "asked")))
		if rapid.Bool().Draw(t, "attached") {
			asked.Blocks = append(asked.Blocks, file("", "f", rapid.SampledFrom([]string{"image/png", "text/plain", ""}).Draw(t, "media"), png))
		}
		messages = append(messages, asked)
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			step, answers := said(), results()
			for range rapid.IntRange(0, 2).Draw(t, "words") {
				step.Blocks = append(step.Blocks, drawSaid(t, words))
			}
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				id++
				step.Blocks = append(step.Blocks, drawCall(t, id))
				answers.Blocks = append(answers.Blocks, drawResults(t, id, words)...)
			}
			messages = append(messages, step, answers)
		}
		if rapid.Bool().Draw(t, "answered") {
			messages = append(messages, said(drawSaid(t, words), text(words.Draw(t, "last"))))
		} else if messages[len(messages)-1].Role == conversation.RoleUser {
			break
		}
	}
	return messages
}

func drawSaid(t *rapid.T, words *rapid.Generator[string]) provider.Block {
	b := text(words.Draw(t, "text"))
	items := []string{``, `{"text":"","thoughtSignature":"cw"}`, `[{"text":"a"},{"text":"b","thoughtSignature":"cw"},{"text":" "}]`, `[`, `5`}
	b.Item = json.RawMessage(rapid.SampledFrom(items).Draw(t, "item"))
	if rapid.Bool().Draw(t, "reasoning") {
		b.Kind = provider.BlockReasoning
		items = []string{`{"text":"x","thought":true}`, `[{"text":"x","thought":true},{"text":"","thoughtSignature":"cw"}]`}
		b.Item = json.RawMessage(rapid.SampledFrom(items).Draw(t, "state"))
	}
	return b
}

func drawCall(t *rapid.T, id int) provider.Block {
	b := call(fmt.Sprintf("c%d", id), "read", `{"n":12345678901234567890,"a":"<"}`)
	items := []string{``, ``, `{"functionCall":{"name":"read","args":{}}}`, fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"read","args":{}}}`, id), `{"text":"x"}`}
	b.Item = json.RawMessage(rapid.SampledFrom(items).Draw(t, "item"))
	return b
}

func drawResults(t *rapid.T, id int, words *rapid.Generator[string]) []provider.Block {
	b := result(fmt.Sprintf("c%d", id), "read", words.Draw(t, "result"))
	b.IsError = rapid.Bool().Draw(t, "failed")
	blocks := []provider.Block{b}
	if rapid.Bool().Draw(t, "file") {
		blocks = append(blocks, file(b.ID, "f", rapid.SampledFrom([]string{"image/png", "application/zip"}).Draw(t, "media"), png))
	}
	return blocks
}

// Every dialogue makes contents that the API takes, twice the same bytes, and a
// longer dialogue only adds to those of a shorter one.
func TestEveryDialogueIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		name := rapid.SampledFrom([]string{"gemini-2.5-pro", "gemini-3-flash"}).Draw(t, "model")
		request := &provider.Request{Model: name, Tools: drawnTools(), Messages: messages}
		before := fmt.Sprint(messages)

		fields := sentBody(t, request, Options{})
		require.Equal(t, fields, sentBody(t, request, Options{}))
		body, err := json.Marshal(fields)
		require.NoError(t, err)
		able := wirecheck.Capability{Gemini: wirecheck.GeminiModel{Major: 2}}
		if name == "gemini-3-flash" {
			able.Gemini = wirecheck.GeminiModel{Major: 3, ResponseParts: true}
		}
		require.Empty(t, wirecheck.Gemini(body, able), "%s", body)

		require.Equal(t, before, fmt.Sprint(messages), "the request is left as it was")
		for i, message := range messages {
			if message.Role != conversation.RoleAssistant {
				continue
			}
			shorter := sentBody(t, &provider.Request{Model: name, Tools: drawnTools(), Messages: messages[:i]}, Options{})["contents"]
			prefix := bytes.TrimSuffix(shorter, []byte("]"))
			require.True(t, bytes.HasPrefix(fields["contents"], prefix), "%s\n%s", prefix, fields["contents"])
		}
	})
}

// drawnTools are the tools that the dialogues call.
func drawnTools() []provider.Tool {
	var tools []provider.Tool
	for _, name := range []string{"read", "write"} {
		tools = append(tools, provider.Tool{Name: name, Description: "A tool.", Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return tools
}
