package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestLocal(t *testing.T) {
	signed := func(text string, foreign ...int) []*Event {
		events := words(text).events()
		for _, e := range events {
			e.Signed = true
		}
		for _, seq := range foreign {
			events[seq].Signed = false
		}
		return events
	}
	require.False(t, Local(nil))
	require.True(t, Local(signed("T Q M. T Q")))
	require.True(t, Local(signed("T Q M. T Q", 1)), "earlier turns may be anybody's")
	require.False(t, Local(signed("T Q M. T Q", 3)))
	require.False(t, Local(signed("T Q M. T Q", 4)))
	require.False(t, Local(signed("G W", 1)))
	events := signed("T Q M. G", 0, 1, 2)
	require.False(t, Local(events))
	events[3].Body = &ForkOrigin{}
	require.False(t, Local(events), "a fork alone adopts nothing")
	events[3].Body = &ForkOrigin{Adopted: true}
	require.True(t, Local(events))
}

func TestAudit(t *testing.T) {
	require.Empty(t, Audit(words("G T Q C1. I1 A1 D1 M. T Q S").events()))
	problems := Audit(words("T Q M. D1 T Q C1. S").events())
	require.Len(t, problems, 2)
	require.Equal(t, 3, problems[0].Seq)
	require.Equal(t, 7, problems[1].Seq)
}

func TestWhatWasSetBeforeAnAdoptionDoesNotAct(t *testing.T) {
	delta := func(model string) *ConfigDelta { return &ConfigDelta{Delta: []byte(`{"model":"` + model + `"}`)} }
	events := words("T Q G M. T Q M. G T Q M.").events() // the second G is the adoption
	events[0].Body, events[2].Body, events[4].Body = &TurnStart{Model: "their/first"}, delta("their/second"), &TurnStart{Model: "their/third"}
	events[7].Body = &ForkOrigin{Adopted: true}

	require.Equal(t, "their/third", ModelOf(events[:7]), "nobody adopted it")
	require.Empty(t, ModelOf(events[:8]))
	require.Empty(t, AfterAdoption(events[:8]))
	require.Equal(t, events[8:], AfterAdoption(events))
	events[8].Body = &TurnStart{Model: "my/model"}
	require.Equal(t, "my/model", ModelOf(events))
	stream := JoinTail(SplitTail(events[:8]))
	require.Empty(t, stream.Model())
	require.Equal(t, "their/third", stream.ModelOnRecord())

	last := Select(events, Range{Last: 1})
	require.Equal(t, "my/model", ModelOf(last))
	require.Len(t, AfterAdoption(last), 3, "the adoption is copied, and no setting before it: %v", kept(last))
	require.Equal(t, []int{7, 8, 9, 10}, kept(last))
	require.Equal(t, []int{0, 1, 2, 3, 7, 8, 9, 10}, kept(Select(events, Range{First: 1, Last: 1})))
}

func TestSliceBeginsATurnThatSomebodyElseBeganBehindItsAdoption(t *testing.T) {
	events := words("G T Q C1. G D1 Q M.").events()
	events[0].Body = &ConfigDelta{Delta: []byte(`{"limits":{"model_calls":0}}`)}
	events[1].Body, events[4].Body = &TurnStart{Model: "their/model"}, &ForkOrigin{Adopted: true}
	slice := Select(events, Range{From: seq(6)})
	require.Equal(t, []int{1, 4, 6, 7}, kept(slice))
	require.Empty(t, ModelOf(slice))
	require.Len(t, AfterAdoption(slice), 2)
}

func TestAuditOfInstructions(t *testing.T) {
	good := &Instructions{Files: []InstructionFile{{Path: "known"}, {From: 1, To: 3}, {From: 3, To: 4}}, Content: "abcd"}
	nested := func(of int, b Instructions) *Instructions { b.For = seq(of); return &b }
	tests := []struct {
		name  string
		words string
		body  *Instructions
		ok    bool
	}{
		{"of a turn", "T U Q M.", good, true},
		{"with a result", "T Q C1. D1 U M.", nested(3, *good), true},
		{"with a request", "T Q U M.", nested(1, *good), true},
		{"with another turn's request", "T Q M. T Q U M.", nested(1, *good), false},
		{"with a call", "T Q C1. D1 U M.", nested(2, *good), false},
		{"with another turn's result", "T Q C1. D1 M. T U Q M.", nested(3, *good), false},
		{"behind a discard", "T Q M. X U", good, false},
		{"behind the text", "T U Q M.", &Instructions{Files: []InstructionFile{{From: 1, To: 5}}, Content: "abcd"}, false},
		{"overlapping", "T U Q M.", &Instructions{Files: []InstructionFile{{From: 1, To: 3}, {From: 2, To: 4}}, Content: "abcd"}, false},
		{"backwards", "T U Q M.", &Instructions{Files: []InstructionFile{{From: 3, To: 1}}, Content: "abcd"}, false},
		{"before the text", "T U Q M.", &Instructions{Files: []InstructionFile{{From: -2, To: 1}}, Content: "abcd"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := words(test.words).events()
			for _, e := range events {
				if _, is := e.Body.(*Unknown); is {
					e.Body = test.body
				}
			}
			require.Equal(t, test.ok, len(Audit(events)) == 0, "%v", Audit(events))
		})
	}
}
