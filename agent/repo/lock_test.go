package repo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/conversation"
	"jp/process"
	"jp/process/attach"
)

func TestHolderWords(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) process.Holder { return process.Holder{PID: 7, Started: now.Add(-d)} }
	detached := ago(3 * time.Minute)
	detached.Detached = true
	for want, holder := range map[string]process.Holder{
		"":                           {PID: 7},
		" (detached)":                {PID: 7, Detached: true},
		" (running 3 min)":           ago(3 * time.Minute),
		" (detached, running 3 min)": detached,
		" (running 1 s)":             ago(-time.Minute), // another clock
	} {
		require.Equal(t, want, holderWords(holder, now))
	}
}

func TestHintsForAnswers(t *testing.T) {
	t.Parallel()
	option := conversation.Option{Value: []byte(`"a"`)}
	for name, tt := range map[string]struct {
		inquiry *attach.Inquiry
		want    string
	}{
		"none":            {nil, ""},
		"a permission":    {&attach.Inquiry{Kind: conversation.KindRunTool}, "y, n or a: answer its question"},
		"for a person":    {&attach.Inquiry{Kind: conversation.KindRunTool, Exclusive: true}, "y or n: answer its question"},
		"one of several":  {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "select", Options: []conversation.Option{option, option}}}, "1 to 2: answer its question"},
		"any text":        {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "text"}}, "a text: answer its question"},
		"yes or no, says": {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "boolean"}}, "y or n: answer its question"},
	} {
		h := holding{Locked: process.LockedError{ID: someID}, reachable: true, inquiry: tt.inquiry}
		var got string
		for _, hint := range h.Reaching(&problem.Error{}).Hints[1:] {
			require.Equal(t, "jp answer "+string(someID), hint.Action.String(), name)
			got += hint.Text
		}
		require.Equal(t, tt.want, got, name)
		h.reachable = false
		require.Empty(t, h.Reaching(&problem.Error{}).Hints, name)
	}
}
