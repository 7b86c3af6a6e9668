package conversation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "jp/conversation"
)

// A history is a conversation in shorthand, one word per event:
//
//	T turn_start   Q request   q reply to an interruption
//	M message      M. message that ends its model call   P partial   R reasoning
//	C1 tool call   C1. tool call that ends its model call
//	B1 started     D1 response   H1 held response
//	I1 question of tool 1, A1 its answer   L1 delivery question, l1 its answer
//	S stopped      X discarded   G configuration   W metadata   U unknown type
type history []string

// tracker knows the referents of the words so far. It is copied by value.
type tracker struct {
	call               int // ordinal of the model call that is going on
	tool, ask, deliver [4]int
	first              int // seq of the turn's first event
}

var start = time.Date(2025, 7, 19, 14, 0, 0, 0, time.UTC)

// body makes the body of the event that the word stands for.
func (k *tracker) body(word string, seq int) Body {
	n := 0
	if len(word) > 1 && word[1] != '.' {
		n = int(word[1] - '0')
	}
	k.call = max(k.call, 1)
	switch word[0] {
	case 'T':
		*k = tracker{call: 1, first: seq}
		return &TurnStart{Model: "script/fixed"}
	case 'Q', 'q':
		k.call++
		return &ChatRequest{Content: "do it", Interrupt: word[0] == 'q'}
	case 'D', 'H':
		k.call++
		return &ToolCallResponse{For: k.tool[n], ID: id(n), Name: "tool", Content: "result", Held: word[0] == 'H'}
	case 'B':
		return &ToolStarted{For: k.tool[n], Attempt: 1}
	case 'I':
		k.ask[n] = seq
		return &InquiryRequest{For: k.tool[n], Kind: KindToolQuestion, QuestionID: "q", Attempt: 1, Question: Question{Text: "sure?"}}
	case 'L':
		k.deliver[n] = seq
		return &InquiryRequest{For: k.tool[n], Kind: KindDeliverResult, QuestionID: "d", Attempt: 1, Question: Question{Text: "deliver?"}}
	case 'A':
		return &InquiryResponse{For: k.ask[n], Outcome: OutcomeAnswered, Answer: []byte("true"), By: ByUser}
	case 'l':
		return &InquiryResponse{For: k.deliver[n], Outcome: OutcomeAnswered, Answer: []byte(`"deliver"`), By: ByUser}
	case 'C':
		k.tool[n] = seq
		b := &ToolCallRequest{Call: k.call, ID: id(n), Name: "tool", Arguments: []byte("{}")}
		if strings.HasSuffix(word, ".") {
			b.Finish = FinishToolCalls
			k.call++
		}
		return b
	case 'M', 'P', 'R':
		return k.output(word)
	}
	return k.record(word, seq)
}

func (k *tracker) output(word string) Body {
	b := &ChatResponse{Call: k.call, Part: PartMessage, Text: "words", Partial: word == "P"}
	switch word {
	case "R":
		b.Part = PartReasoning
	case "M.":
		b.Finish = FinishStop
		k.call++
	}
	return b
}

func (k *tracker) record(word string, seq int) Body {
	switch word {
	case "S":
		return &TurnStopped{By: ByUser}
	case "X":
		return &TurnDiscarded{FromSeq: k.first, ToSeq: seq - 1, By: ByUser}
	case "G":
		return &ConfigDelta{Delta: []byte(`{"a":1}`)}
	case "W":
		return &Metadata{Labels: map[string]string{"a": ""}}
	case "U":
		return &Unknown{Name: "from_the_future"}
	}
	panic("no such word: " + word)
}

func id(n int) string { return fmt.Sprintf("call_%d", n) }

func words(text string) history { return strings.Fields(text) }

// events are the history's events, even if they make no sense.
func (h history) events() []*Event {
	var k tracker
	turn := 0
	events := make([]*Event, len(h))
	for i, word := range h {
		if word == "T" {
			turn++
		}
		events[i] = &Event{Seq: i, Turn: turn, Time: start.Add(time.Duration(i) * time.Second), Version: Version, Body: k.body(word, i)}
	}
	return events
}

func (h history) lastTurn() history {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i] == "T" {
			return h[i:]
		}
	}
	return h
}

// verdict is the judgement of the rules about a turn.
type verdict struct {
	phase      Phase
	status     Status
	open, live int
}

// waiting counts the reasons why a turn waits: calls without a response, questions that are live, and held
// results that were not delivered.
func (h history) waiting() (open, live, undelivered int) {
	for n := 1; n <= 3; n++ {
		has := func(word string) bool { return h.find(word, n) >= 0 }
		held := has("H")
		isOpen := has("C") && !has("D") && !held
		if isOpen {
			open++
		}
		if isOpen && has("I") && !has("A") {
			live++
		}
		if (isOpen || held) && has("L") && !has("l") {
			live++
		}
		if held && !has("l") {
			undelivered++
		}
	}
	return open, live, undelivered
}

// newest finds the newest request, result and answer of a turn, or -1,
// and reports whether the dialogue ends in a stop.
func (h history) newest() (request, result, answer int, stopped bool) {
	request, result, answer = -1, -1, -1
	tools := false // the model call that is going on has asked for a tool
	for i, word := range h {
		switch word[0] {
		case 'Q', 'q':
			request, tools = i, false
		case 'D', 'H':
			result, tools = i, false
		case 'C':
			tools = !strings.HasSuffix(word, ".")
		case 'M':
			if word == "M." && !tools {
				answer = i
			}
			tools = tools && word != "M."
		}
		if !strings.ContainsAny(word[:1], "BXGWU") {
			stopped = word == "S"
		}
	}
	return request, result, answer, stopped
}

// judge reads the rules of completeness literally off the words of one turn.
// It is independent of the code that it checks.
func judge(h history) verdict {
	if h.find("X", 0) >= 0 {
		return verdict{phase: PhaseComplete}
	}
	open, live, undelivered := h.waiting()
	request, result, answer, stopped := h.newest()
	v := verdict{open: open, live: live}
	settled := open+live+undelivered == 0
	switch {
	case settled && (stopped || request >= 0 && answer > request && answer > result):
		v.phase = PhaseComplete
	case undelivered > 0 || live > 0:
		v.phase, v.status = PhaseExecuting, StatusInput
	case open > 0:
		v.phase, v.status = PhaseExecuting, StatusTools
	case result > request:
		v.phase, v.status = PhaseStreaming, StatusFollowUp
	default:
		v.phase, v.status = PhaseStreaming, StatusResponse
	}
	return v
}

// find is the place of a word, or -1. Number 0 is unused.
func (h history) find(word string, n int) int {
	if n > 0 {
		word = fmt.Sprintf("%s%d", word, n)
	}
	for i, w := range h {
		if strings.TrimSuffix(w, ".") == word {
			return i
		}
	}
	return -1
}

// requireVerdict fails the test without the cost of an assertion per history.
func requireVerdict(t *testing.T, h history, want verdict, l *Ledger) {
	t.Helper()
	got := verdict{phase: l.Phase(), status: l.Status(), open: len(l.Open()), live: len(l.Live())}
	if got != want {
		t.Fatalf("%v: got %+v, want %+v", h, got, want)
	}
	if (got.phase == PhaseComplete) != l.Complete() {
		t.Fatalf("%v: phase %s but complete is %v", h, got.phase, l.Complete())
	}
	for _, call := range l.Open() {
		n := int(call.Request.ID[len("call_")] - '0')
		if h.find("D", n) >= 0 || h.find("H", n) >= 0 {
			t.Fatalf("%v: tool %d would run again although its result is durable", h, n)
		}
	}
}
