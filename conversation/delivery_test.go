package conversation_test

import (
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

func TestDelivery(t *testing.T) {
	answered := func(answer, arguments string, how conversation.Outcome) *conversation.InquiryResponse {
		return &conversation.InquiryResponse{Outcome: how, Answer: json.RawMessage(answer), Arguments: json.RawMessage(arguments), Reason: "reason"}
	}
	for name, tc := range map[string]struct {
		held   bool
		answer *conversation.InquiryResponse
		want   conversation.Delivery
		words  string
	}{
		"never held":          {false, nil, conversation.Delivered, ""},
		"nobody has answered": {true, nil, conversation.Withheld, ""},
		"delivered":           {true, answered(`"deliver"`, "", conversation.OutcomeAnswered), conversation.Delivered, ""},
		"a bare yes":          {true, answered(" true", "", conversation.OutcomeAnswered), conversation.Delivered, ""},
		"kept back":           {true, answered(`"withhold"`, "", conversation.OutcomeAnswered), conversation.Withheld, ""},
		"not answered at all": {true, answered(`"deliver"`, "", conversation.OutcomeCancelled), conversation.Withheld, ""},
		"other words":         {true, answered(`"edit"`, `"mine"`, conversation.OutcomeAnswered), conversation.Replaced, "mine"},
		"words as a reason":   {true, answered(`"edit"`, "", conversation.OutcomeAnswered), conversation.Replaced, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			call := &conversation.ToolCall{Result: &conversation.ToolCallResponse{Held: tc.held}, Inquiries: []*conversation.Inquiry{{
				Request: &conversation.InquiryRequest{Kind: conversation.KindDeliverResult}, Response: tc.answer,
			}}}
			how, words := call.Delivery()
			require.Equal(t, tc.want, how)
			require.Equal(t, tc.words, words)
		})
	}
	how, _ := new(conversation.ToolCall).Delivery()
	require.Equal(t, conversation.Withheld, how, "there is no result yet")
}

func TestLocalTip(t *testing.T) {
	title := "T"
	s := journaltest.NewScript(t).Turn("Hello").Says("Hi.").Records(&conversation.Metadata{Title: &title})
	events := s.Events()
	sign := func(from int) {
		for i, e := range events {
			e.Signed = i >= from
		}
	}
	back := func() iter.Seq2[*conversation.Event, error] {
		return func(yield func(*conversation.Event, error) bool) {
			for i := len(events) - 1; i >= 0 && yield(events[i], nil); i-- {
			}
		}
	}
	tip := events[len(events)-1]
	sign(0)
	require.True(t, conversation.LocalTip(tip, back()))
	sign(len(events) - 1)
	require.False(t, conversation.LocalTip(tip, back()), "the user named a foreign one")
	sign(len(events))
	require.False(t, conversation.LocalTip(tip, back()))
	sign(len(events) - 2)
	require.True(t, conversation.LocalTip(events[len(events)-2], nil), "nobody else can have written it")
	require.False(t, conversation.LocalTip(tip, func(yield func(*conversation.Event, error) bool) {
		yield(nil, errors.New("unreadable"))
	}))
}
