package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestNewestState(t *testing.T) {
	start := &Event{Body: &TurnStart{}}
	first, second := &WorkState{Plan: "first"}, &WorkState{Plan: "second"}
	said := func(s *WorkState) *Event { return &Event{Body: s} }
	other := &Event{Body: &Note{Content: "n"}}
	tests := map[string]struct {
		events []*Event
		want   *WorkState
	}{
		"none":                 {nil, nil},
		"said nothing":         {[]*Event{start, other}, nil},
		"the newest":           {[]*Event{start, said(first), said(second), other}, second},
		"of an earlier turn":   {[]*Event{start, said(first), start, other}, nil},
		"of the newest, again": {[]*Event{start, said(first), start, said(second)}, second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { require.Same(t, tt.want, NewestState(tt.events)) })
	}
}
