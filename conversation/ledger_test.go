package conversation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

// everyHistory visits all turns of at most depth words behind "T Q" in which
// responses come after their requests, including those that jp would not write.
func everyHistory(depth int, visit func(history)) {
	var walk func(h history, left int)
	walk = func(h history, left int) {
		visit(h)
		if left == 0 {
			return
		}
		options := []string{"M", "M.", "P", "R", "q", "S"}
		for n := 1; n <= 2; n++ {
			has := func(word string) bool { return h.find(word, n) >= 0 }
			if !has("C") && (n == 1 || h.find("C", 1) >= 0) {
				options = append(options, fmt.Sprintf("C%d", n), fmt.Sprintf("C%d.", n))
			}
			for _, pair := range [][2]string{{"C", "D"}, {"C", "H"}, {"C", "I"}, {"C", "L"}, {"I", "A"}, {"L", "l"}} {
				twice := has(pair[1]) || pair[1] == "D" && has("H") || pair[1] == "H" && has("D")
				if has(pair[0]) && !twice {
					options = append(options, fmt.Sprintf("%s%d", pair[1], n))
				}
			}
		}
		for _, o := range options {
			walk(append(h[:len(h):len(h)], o), left-1)
		}
	}
	walk(history{"T", "Q"}, depth)
}

func TestLedgerDecidesEveryHistory(t *testing.T) {
	depth, least := 5, 10_000
	if testing.Short() {
		depth, least = 4, 8_000
	}
	total, phases := 0, map[Phase]int{}
	everyHistory(depth, func(h history) {
		l := LedgerOf(h.events())
		requireVerdict(t, h, judge(h), l)
		total++
		phases[l.Phase()]++
	})
	require.Greater(t, total, least)
	require.Len(t, phases, 3, "complete, executing and streaming, and nothing else: %v", phases)
	t.Log(total, phases)
}

// TestLedgerCases has the tails that a resume meets, by name.
func TestLedgerCases(t *testing.T) {
	const (
		none, input, tools, followUp, response = StatusIdle, StatusInput, StatusTools, StatusFollowUp, StatusResponse
	)
	cases := []struct {
		name, history string
		phase         Phase
		status        Status
		open          []int // seqs of the calls to run
		ask           []int // seqs of the questions to ask
	}{
		{"only asked", "T Q", PhaseStreaming, response, nil, nil},
		{"answered", "T Q M.", PhaseComplete, none, nil, nil},
		{"answer without its end", "T Q M", PhaseStreaming, response, nil, nil},
		{"cut off", "T Q P", PhaseStreaming, response, nil, nil},
		{"only reasoning", "T Q R", PhaseStreaming, response, nil, nil},
		{"one of two results", "T Q M C1 C2. D1", PhaseExecuting, tools, []int{4}, nil},
		{"results not sent", "T Q C1. D1", PhaseStreaming, followUp, nil, nil},
		{"answered after tools", "T Q C1. D1 M.", PhaseComplete, none, nil, nil},
		{"second cycle not sent", "T Q C1. D1 M C2. D2", PhaseStreaming, followUp, nil, nil},
		{"question waits", "T Q C1. I1", PhaseExecuting, input, []int{2}, []int{3}},
		{"question answered", "T Q C1. I1 A1", PhaseExecuting, tools, []int{2}, nil},
		{"next question waits", "T Q C1. I1 A1 L1", PhaseExecuting, input, []int{2}, []int{5}},
		{"results out of order", "T Q C1 C2 C3. D1 D3", PhaseExecuting, tools, []int{3}, nil},
		{"configuration behind", "T Q M. G", PhaseComplete, none, nil, nil},
		{"configuration within", "T Q G", PhaseStreaming, response, nil, nil},
		{"unknown type behind", "T Q M. U", PhaseComplete, none, nil, nil},
		{"only a start", "T", PhaseIdle, none, nil, nil},
		{"only a start, and records", "T G W", PhaseIdle, none, nil, nil},
		{"reply not answered", "T Q M. q", PhaseStreaming, response, nil, nil},
		{"no start at all", "Q C1.", PhaseExecuting, tools, []int{1}, nil},
		{"no start at all, answered", "Q M.", PhaseComplete, none, nil, nil},
		{"stopped", "T Q S", PhaseComplete, none, nil, nil},
		{"stopped, and records", "T Q P S G", PhaseComplete, none, nil, nil},
		{"stopped with an open call", "T Q C1. S", PhaseExecuting, tools, []int{2}, nil},
		{"discarded", "T Q C1. I1 X", PhaseComplete, none, nil, nil},
		{"answer in a call with tools", "T Q C1 M.", PhaseExecuting, tools, []int{2}, nil},
		{"started", "T Q C1. B1", PhaseExecuting, tools, []int{2}, nil},
		{"closed although a question was open", "T Q C1. I1 D1 M.", PhaseComplete, none, nil, nil},
		{"held, delivery waits", "T Q C1. H1 L1", PhaseExecuting, input, nil, []int{4}},
		{"held, delivery never asked", "T Q C1. H1", PhaseExecuting, input, nil, nil},
		{"held, delivered", "T Q C1. H1 L1 l1", PhaseStreaming, followUp, nil, nil},
		{"held goes before open", "T Q C1 C2. H1 L1", PhaseExecuting, input, []int{3}, []int{5}},
		{"held, never asked, answer behind", "T Q C1. H1 M.", PhaseExecuting, input, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := LedgerOf(words(c.history).events())
			require.Equal(t, c.phase, l.Phase())
			require.Equal(t, c.status, l.Status())
			var open, ask []int
			for _, call := range l.Open() {
				open = append(open, call.Event.Seq)
			}
			for _, q := range l.Live() {
				ask = append(ask, q.Event.Seq)
			}
			require.Equal(t, c.open, open)
			require.Equal(t, c.ask, ask)
		})
	}
}

func TestLedgerHeldResultIsAskedForNotRun(t *testing.T) {
	l := LedgerOf(words("T Q C1. H1").events())
	require.Empty(t, l.Open())
	require.NotNil(t, l.Undelivered())
	require.Equal(t, id(1), l.Undelivered().Request.ID)
	l = LedgerOf(words("T Q C1. H1 L1 l1").events())
	require.Nil(t, l.Undelivered())
}

func TestLedgerDelegate(t *testing.T) {
	events := words("T Q C1 C2.").events()
	events[3].Body.(*ToolCallRequest).Name = "delegate"
	require.Equal(t, PhaseExecuting, LedgerOf(events).Phase(), "request order is kept")
	events[2].Body.(*ToolCallRequest).Name = "delegate"
	l := LedgerOf(events)
	require.Equal(t, PhaseDelegating, l.Phase())
	require.Empty(t, l.ToolCalls[0].Child())
	l.Enter(&Event{Seq: 4, Turn: 1, Body: &ToolStarted{For: events[2].Seq, Attempt: 1, Child: "jp-c17528832002-abcd"}})
	require.Equal(t, ID("jp-c17528832002-abcd"), l.ToolCalls[0].Child())
}

func TestLedgerEarlierTurnDoesNotCount(t *testing.T) {
	_, tail := SplitTail(words("T Q C1. D1 M. T Q C1.").events())
	require.NotNil(t, tail)
	require.Equal(t, PhaseExecuting, tail.Phase())
	require.Equal(t, 7, tail.Ledger().Open()[0].Event.Seq)
	require.Nil(t, tail.Ledger().ToolCall(2))
}

func TestLedgerSurplusResponsesAreIgnored(t *testing.T) {
	events := words("T Q C1. D1 D1 M.").events()
	l := LedgerOf(events)
	require.True(t, l.Complete())
	require.Same(t, events[3], l.ToolCall(2).Response)
}

func TestLedgerAnswerNeedsItsOwnEnd(t *testing.T) {
	events := words("T Q M. q M").events()
	events[4].Body.(*ChatResponse).Call = events[2].Body.(*ChatResponse).Call
	require.Equal(t, StatusResponse, LedgerOf(events).Status(), "words behind the end of a call answer nothing")
}

func TestLedgerReplaced(t *testing.T) {
	events := words("T Q q").events()
	seq := 1
	events[2].Body = &ChatRequest{Content: "edited", Replaces: &seq}
	l := LedgerOf(events)
	require.True(t, l.Replaced(1))
	require.False(t, l.Replaced(2))
	require.Same(t, events[2], l.Request())
}

func TestModelCalls(t *testing.T) {
	l := LedgerOf(words("T Q R M C1 C2. D1 D2 M.").events())
	require.Len(t, l.Calls, 2)
	require.Len(t, l.Calls[0].Events, 4)
	require.True(t, l.Calls[0].Ended())
	require.False(t, l.Calls[0].Answer())
	require.True(t, l.LastCall().Answer())
	require.Equal(t, l.LastCall().Ordinal+1, l.NextCall())
	require.Equal(t, 1, NewLedger().NextCall())

	for finish, answers := range map[Finish]bool{
		FinishStop: true, FinishLength: true, FinishRefusal: true, FinishFiltered: true, FinishToolCalls: false, FinishPause: false, "": false,
	} {
		call := ModelCall{Finish: finish}
		require.Equal(t, answers, call.Answer(), finish)
		require.Equal(t, finish != "", call.Ended(), finish)
		call.HasTools = true
		require.False(t, call.Answer(), finish)
		require.True(t, call.Ended(), finish)
	}
}

func TestRefusedCallsEndTheTurn(t *testing.T) {
	for _, finish := range []Finish{FinishStop, FinishToolCalls, FinishLength, FinishRefusal, FinishFiltered, FinishPause} {
		events := words("T Q C1. D1").events()
		events[2].Body.(*ToolCallRequest).Finish = finish
		require.Equal(t, finish.Refused(), LedgerOf(events).Complete(), finish)
		require.Equal(t, finish.Refused(), Summarize(events).Status == StatusIdle, finish)
	}
	require.True(t, FinishRefusal.Refused() && FinishFiltered.Refused())
}

func TestToolCallArguments(t *testing.T) {
	events := words("T Q C1. I1 A1").events()
	events[2].Body.(*ToolCallRequest).Arguments = []byte(`{"a":1}`)
	require.JSONEq(t, `{"a":1}`, string(LedgerOf(events).ToolCall(2).Arguments()))
	events[4].Body.(*InquiryResponse).Arguments = []byte(`{"a":2}`)
	require.JSONEq(t, `{"a":1}`, string(LedgerOf(events).ToolCall(2).Arguments()), "only a permission edits arguments")
	events[3].Body.(*InquiryRequest).Kind = KindRunTool
	require.JSONEq(t, `{"a":2}`, string(LedgerOf(events).ToolCall(2).Arguments()))
	require.JSONEq(t, `{"a":1}`, string(LedgerOf(events[:4]).ToolCall(2).Arguments()), "not answered yet")
}

func TestToolCallAnswers(t *testing.T) {
	events := words("T Q C1. I1 A1 H1 L1 l1").events()
	require.Equal(t, map[string]json.RawMessage{"q": json.RawMessage("true")}, LedgerOf(events).ToolCall(2).Answers())
	events[4].Body.(*InquiryResponse).Outcome = OutcomeFailed
	require.Empty(t, LedgerOf(events).ToolCall(2).Answers())
}
