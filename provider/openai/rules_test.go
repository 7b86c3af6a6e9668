package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/wirecheck"
	"jp/provider"
	"jp/provider/openai"
)

// drawDialogue makes messages as a projection leaves them: the user begins,
// every call has its result directly behind its message, and the end asks
// something.
func drawDialogue(t *rapid.T) []provider.Message {
	var messages []provider.Message
	calls := 0
	for range rapid.IntRange(1, 5).Draw(t, "steps") {
		if n := len(messages); n == 0 || messages[n-1].Role == conversation.RoleAssistant || rapid.Bool().Draw(t, "interrupts") {
			messages = append(messages, user(drawSaid(t)...))
		}
		answer, answered := drawAnswer(t, &calls)
		messages = append(messages, assistant(answer...))
		if len(answered) > 0 {
			messages = append(messages, results(answered...))
		}
	}
	if messages[len(messages)-1].Role == conversation.RoleAssistant || rapid.Bool().Draw(t, "says more") {
		messages = append(messages, user(drawSaid(t)...))
	}
	return messages
}

func drawSaid(t *rapid.T) []provider.Block {
	said := []provider.Block{text("words"), text("näher"), file("a.png", "image/png", png), file("b.txt", "", "text"), file("c.pdf", "", pdf), file("d", "", "\x00")}
	return rapid.SliceOfN(rapid.SampledFrom(said), 1, 3).Draw(t, "said")
}

// drawAnswer draws the blocks of an answer, most of them with items as they
// were received, and the results of its calls.
func drawAnswer(t *rapid.T, calls *int) (answer, answered []provider.Block) {
	wants := rapid.IntRange(0, 3).Draw(t, "calls")
	if wants == 0 || rapid.Bool().Draw(t, "speaks") {
		answer = append(answer, drawItem(t, text("I look."), strings.Replace(commentItem, "msg_1", fmt.Sprintf("msg_%d", *calls), 1)))
	}
	for range wants {
		*calls++
		id := fmt.Sprintf("call_%d", *calls)
		item := strings.NewReplacer("fc_1", fmt.Sprintf("fc_%d", *calls), `"c1"`, `"`+id+`"`).Replace(callItem)
		answer = append(answer, drawItem(t, call(id, `{"p":1}`), item))
		answered = append(answered, result(id, "seen"))
		if rapid.Bool().Draw(t, "shows") {
			shown := file("a.png", "image/png", png)
			shown.ID = id
			answered = append(answered, shown)
		}
	}
	if rapid.Bool().Draw(t, "thinks") {
		item := rapid.SampledFrom([]string{reasoningItem, `{"reasoning":"hm"}`, `{"reasoning_details":[{"type":"x"}]}`, `{"type":"reasoning","id":"rs_2"}`}).Draw(t, "thought")
		answer = slices.Insert(answer, rapid.IntRange(0, len(answer)-1).Draw(t, "at"), thought(item))
	}
	return answer, answered
}

func drawItem(t *rapid.T, b provider.Block, item string) provider.Block {
	return with(b, rapid.SampledFrom([]string{item, item, ``, `{"extra_content":{}}`}).Draw(t, "item"))
}

func drawOptions(t *rapid.T) openai.Options {
	names := append(openai.Dialects(), "openai")
	d, _ := openai.DialectNamed(rapid.SampledFrom(names).Draw(t, "dialect"))
	return openai.Options{Dialect: d}
}

func TestBodiesKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &provider.Request{Model: "m", System: "s", Tools: []provider.Tool{lookTool}, Messages: drawDialogue(t)}
		o := drawOptions(t)
		body := openai.ChatBody(r, o)
		require.Empty(t, chatFaults(body, o.Dialect), "%s", body)
		require.Empty(t, wirecheck.Responses(openai.ResponsesBody(r, o), wirecheck.Capability{}))
	})
}

// The messages before an answer are sent again, byte for byte, before that answer.
func TestBodiesOnlyGrow(t *testing.T) {
	inner := func(t *rapid.T, body []byte, name string) string {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &members))
		return strings.TrimSuffix(string(members[name]), "]")
	}
	rapid.Check(t, func(t *rapid.T) {
		messages, o := drawDialogue(t), drawOptions(t)
		whole := &provider.Request{Model: "m", System: "s", Messages: messages}
		for i, m := range messages {
			if m.Role != conversation.RoleAssistant {
				continue
			}
			before := &provider.Request{Model: "m", System: "s", Messages: messages[:i]}
			require.True(t, strings.HasPrefix(inner(t, openai.ChatBody(whole, o), "messages"), inner(t, openai.ChatBody(before, o), "messages")))
			require.True(t, strings.HasPrefix(inner(t, openai.ResponsesBody(whole, o), "input"), inner(t, openai.ResponsesBody(before, o), "input")))
		}
	})
}

// chatFaults are the rules that a body breaks. A body does not show which messages of a turn with tools had
// reasoning that could go back.
func chatFaults(body []byte, d openai.Dialect) []wirecheck.Violation {
	faults := wirecheck.Chat(body, ableOf(d))
	if d.ReasoningBack == openai.ReasoningToolTurns {
		faults = slices.DeleteFunc(faults, func(v wirecheck.Violation) bool { return v.Rule == "C7" })
	}
	return faults
}

// ableOf describes a dialect to the validator.
func ableOf(d openai.Dialect) wirecheck.Capability {
	able := wirecheck.ChatDialect{
		AlnumIDs: d.IDs == openai.AlnumIDs, NumberedIDs: d.IDs == openai.NumberedIDs, ImagesInTool: d.ImagesInTool, ReasoningDetails: d.ReasoningDetails, ExtraContent: d.ExtraContent, EmptyContent: d.EmptyContent,
		ParallelToolCalls: d.ParallelCalls, MaxTokens: d.MaxTokensField,
	}
	if d.UserAfterTool == openai.UserFolded {
		able.UserAfterTool = wirecheck.UserFolded
	}
	switch d.ReasoningBack {
	case openai.ReasoningToolTurns:
		able.ReasoningBack = wirecheck.ReasoningToolTurns
	case openai.ReasoningAll:
		able.ReasoningBack = wirecheck.ReasoningAll
	}
	return wirecheck.Capability{Chat: able}
}
