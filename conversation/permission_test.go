package conversation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

// askedCall is a tool call with questions: H and its answer of a hook, P and its
// answer of a person; an answer with a + has other arguments.
func askedCall(words string) *ToolCall {
	events := []*Event{
		{Seq: 0, Body: &TurnStart{}}, {Seq: 1, Body: &ChatRequest{Content: "do it"}},
		{Seq: 2, Body: &ToolCallRequest{Call: 1, ID: "a", Arguments: []byte(`"the model's"`)}},
	}
	for _, word := range strings.Fields(words) {
		who, answer, _ := strings.Cut(word, "=")
		kind := map[string]InquiryKind{"H": KindHook, "P": KindRunTool}[who]
		seq := len(events)
		events = append(events, &Event{Seq: seq, Body: &InquiryRequest{For: 2, Kind: kind}})
		if answer == "" {
			continue
		}
		b := &InquiryResponse{For: seq, Outcome: OutcomeAnswered}
		b.Answer, _ = json.Marshal(strings.TrimSuffix(answer, "+"))
		if strings.HasSuffix(answer, "+") {
			b.Arguments, _ = json.Marshal(who)
		}
		if answer == "cancelled" {
			b.Outcome, b.Answer = OutcomeCancelled, nil
		}
		events = append(events, &Event{Seq: seq + 1, Body: b})
	}
	return LedgerOf(events).ToolCall(2)
}

func TestWhatCountsOfTheQuestionsOfACall(t *testing.T) {
	for words, want := range map[string]struct {
		hook, permission int // seq, or 0
		arguments        string
	}{
		"":                       {0, 0, "the model's"},
		"P=run":                  {0, 3, "the model's"},
		"P=edit+":                {0, 3, "P"},
		"H=pass":                 {3, 0, "the model's"},
		"H=edit+":                {3, 0, "H"},
		"H=skip":                 {3, 0, "the model's"},
		"H=skip+":                {3, 0, "the model's"},
		"H":                      {3, 0, "the model's"},
		"H=edit+ P":              {3, 5, "H"},
		"H=edit+ P=run":          {3, 5, "H"},
		"H=edit+ P=edit+":        {3, 5, "P"},
		"P=edit+ H=pass":         {5, 0, "the model's"},
		"P=run H=edit+":          {5, 0, "H"},
		"P=cancelled H=edit+ P":  {5, 7, "H"},
		"H=cancelled":            {0, 0, "the model's"},
		"P=run H=cancelled":      {0, 3, "the model's"},
		"H=edit+ H=cancelled":    {3, 0, "H"},
		"H=edit+ P=run H=edit+":  {7, 0, "H"},
		"P=edit+ H=pass P=edit+": {5, 7, "P"},
	} {
		call := askedCall(words)
		seq := func(q *Inquiry) int {
			if q == nil {
				return 0
			}
			return q.Event.Seq
		}
		require.Equal(t, want.hook, seq(call.Hook()), words)
		require.Equal(t, want.permission, seq(call.Permission()), words)
		quoted, _ := json.Marshal(want.arguments)
		require.JSONEq(t, string(quoted), string(call.Arguments()), words)
	}
}
