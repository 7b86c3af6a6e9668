package provider

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/compaction"
	"jp/conversation"
)

// A history is written as one word per event:
//
//	T turn_start      Q request         Qi interrupt reply   Q0 blank request  Qr replaces the newest request
//	M message         R reasoning       P partial text       p partial reasoning  O empty message
//	C1 tool call      D1 its response   H1 held response
//	I1 question       A1 run  a1 run with other arguments  s1 skip
//	L1 delivery asked    l1 delivered  w1 withheld  e1 edited
//	K1 a hook asked      k1 with other arguments   v1 denied
//	B1 started with edited arguments
//	S turn_stopped    r resumed         N note               X turn discarded  x interrupted  E delta  G prompt
//	V turn_start that tells the environment
//	Z summary of all but the last cycle  Z0 of all cycles  W trim, W0 of all cycles  z undoes the newest of them
//	J instructions of the turn          j1 those that go with the response of 1
//
// A model event may carry how its call finished: "." stop, "+" tool_calls, "-"
// length, "!" refusal, "%" filtered, "~" pause. "/" begins a new model call. Texts are the
// word's letter and the event's seq.
type history struct {
	events    []*conversation.Event
	turn      int
	call      int
	ended     bool // the next model event belongs to a new call
	calls     map[string]*conversation.Event
	questions map[string]*conversation.Event
	request   int
	turnAt    int
	maker     maker
}

// A maker is a target with the items for its model's events.
type maker struct {
	Target
	item func(*conversation.Event) json.RawMessage // may be nil
}

// writer is the target that made the histories' reasoning.
var writer = Target{API: "test", Model: "model-1"}

func events(words string) []*conversation.Event {
	return eventsBy(maker{writer, func(e *conversation.Event) json.RawMessage {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == conversation.PartReasoning {
			return json.RawMessage(`{"signed":` + strconv.Itoa(e.Seq) + `}`)
		}
		return nil
	}}, words)
}

func eventsBy(m maker, words string) []*conversation.Event {
	h := &history{calls: map[string]*conversation.Event{}, questions: map[string]*conversation.Event{}, ended: true, maker: m}
	for _, word := range strings.Fields(words) {
		h.add(word)
	}
	return h.events
}

var finishes = map[byte]conversation.Finish{
	'.': conversation.FinishStop, '+': conversation.FinishToolCalls, '-': conversation.FinishLength,
	'!': conversation.FinishRefusal, '%': conversation.FinishFiltered, '~': conversation.FinishPause,
}

func (h *history) add(word string) {
	if word == "/" {
		h.ended = true
		return
	}
	finish := finishes[word[len(word)-1]]
	if finish != "" {
		word = word[:len(word)-1]
	}
	seq := len(h.events)
	e := &conversation.Event{Seq: seq, Version: conversation.Version, Model: "test/model-1"}
	e.Body = h.body(word, seq, e)
	switch e.Body.(type) {
	case *conversation.ChatResponse, *conversation.ToolCallRequest:
		e.Provider = h.maker.State(h.maker.item(e))
	}
	h.setEnd(e.Body, finish)
	e.Turn = h.turn
	h.events = append(h.events, e)
}

func (h *history) setEnd(b conversation.Body, finish conversation.Finish) {
	switch b := b.(type) {
	case *conversation.ChatResponse:
		b.Finish = finish
	case *conversation.ToolCallRequest:
		b.Finish = finish
	default:
		h.ended = true
		return
	}
	h.ended = finish != ""
}

func (h *history) nextCall() int {
	if h.ended {
		h.call++
	}
	h.ended = false
	return h.call
}

func (h *history) body(word string, seq int, e *conversation.Event) conversation.Body {
	text := fmt.Sprintf("%c%d.", word[0], seq)
	switch word[0] {
	case 'Z', 'W':
		return h.compaction(word, text, seq)
	case 'z':
		if e := compaction.Newest(h.events); e != nil {
			return &conversation.CompactionUndone{For: e.Seq}
		}
		return &conversation.ConfigDelta{Delta: json.RawMessage("{}")}
	case 'T', 'V':
		h.turn, h.call, h.ended, h.turnAt = h.turn+1, 0, true, seq
		h.calls, h.questions = map[string]*conversation.Event{}, map[string]*conversation.Event{}
		start := &conversation.TurnStart{Model: "test/model-1"}
		if word[0] == 'V' {
			start.Environment = text
		}
		return start
	case 'Q':
		return h.requestBody(word, text, seq)
	case 'M', 'P':
		return &conversation.ChatResponse{Call: h.nextCall(), Part: conversation.PartMessage, Text: text, Partial: word[0] == 'P'}
	case 'O':
		return &conversation.ChatResponse{Call: h.nextCall(), Part: conversation.PartMessage}
	case 'R', 'p':
		return &conversation.ChatResponse{Call: h.nextCall(), Part: conversation.PartReasoning, Text: text, Partial: word[0] == 'p'}
	case 'S':
		return &conversation.TurnStopped{By: conversation.ByUser}
	case 'r':
		return &conversation.Resumed{Message: text}
	case 'N':
		return &conversation.Note{Content: text}
	case 'J':
		return &conversation.Instructions{Content: text}
	case 'X':
		return &conversation.TurnDiscarded{FromSeq: h.turnAt, ToSeq: seq - 1}
	case 'x', 'y': // y: after a try without an event
		tries := 0
		if word[0] == 'y' {
			tries = 1
		}
		return &conversation.TurnInterrupted{By: conversation.ByError, Phase: conversation.PhaseStreaming, Tries: tries}
	case 'E':
		return &conversation.ConfigDelta{Delta: json.RawMessage("{}")}
	case 'G':
		return &conversation.Prompt{System: text}
	}
	return h.toolBody(word, text, e)
}

// compaction makes room as jp does. If there is no room to make, it is an empty event.
func (h *history) compaction(word, text string, seq int) conversation.Body {
	in := compaction.Bounds{Keep: 1, To: -1}
	if len(word) > 1 {
		in.Keep = int(word[1] - '0')
	}
	if word[0] == 'W' { // results are short here, and trimmed all the same
		if from, to, ok := compaction.Range(h.events, in); ok {
			b := &conversation.Compaction{Kind: conversation.CompactTrim, FromSeq: from, ToSeq: to}
			for _, e := range h.events {
				if e.Type() == conversation.TypeToolCallResponse && e.Seq <= to {
					b.Trimmed = append(b.Trimmed, e.Seq)
				}
			}
			return b
		}
		return &conversation.ConfigDelta{Delta: json.RawMessage("{}")}
	}
	from, to, ok := compaction.Range(h.events, in)
	if !ok {
		return &conversation.ConfigDelta{Delta: json.RawMessage("{}")}
	}
	return &conversation.Compaction{
		Kind: conversation.CompactSummary, FromSeq: from, ToSeq: to, Content: text,
		Items: []conversation.SummaryItem{{Kind: conversation.ItemAnswer, Cites: []int{from}}},
	}
}

func (h *history) requestBody(word, text string, seq int) conversation.Body {
	b := &conversation.ChatRequest{Content: text}
	was := h.request
	h.request = seq
	switch word {
	case "Qi":
		b.Interrupt = true
	case "Q0":
		b.Content = " \n"
	case "Qr":
		b.Replaces = &was
	}
	return b
}

func (h *history) toolBody(word, text string, e *conversation.Event) conversation.Body {
	id := word[1:]
	call := h.calls[id]
	target := -1
	if call != nil {
		target = call.Seq
	}
	switch word[0] {
	case 'C':
		h.calls[id] = e
		return &conversation.ToolCallRequest{Call: h.nextCall(), ID: "call_" + id, Name: "tool_" + id, Arguments: json.RawMessage(`{"n": ` + id + `}`)}
	case 'j':
		if call != nil {
			target = -1
			for _, e := range h.events {
				if b, ok := e.Body.(*conversation.ToolCallResponse); ok && b.For == call.Seq {
					target = e.Seq
				}
			}
		}
		return &conversation.Instructions{For: &target, Content: text}
	case 'D', 'H':
		return &conversation.ToolCallResponse{For: target, ID: "call_" + id, Name: "tool_" + id, Content: text, Held: word[0] == 'H'}
	case 'B':
		return &conversation.ToolStarted{For: target, Arguments: json.RawMessage(`{"n": 9}`)}
	case 'I', 'L', 'K':
		kind := map[byte]conversation.InquiryKind{
			'I': conversation.KindRunTool, 'L': conversation.KindDeliverResult, 'K': conversation.KindHook,
		}[word[0]]
		h.questions[id] = e
		return &conversation.InquiryRequest{For: target, Kind: kind}
	}
	return h.answerBody(word, id)
}

func (h *history) answerBody(word, id string) conversation.Body {
	b := &conversation.InquiryResponse{For: -1, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser}
	if q := h.questions[id]; q != nil {
		b.For = q.Seq
	}
	switch word[0] {
	case 'A':
		b.Answer = json.RawMessage(`"run"`)
	case 'v':
		b.Answer = json.RawMessage(`"skip"`)
	case 'k':
		b.Answer, b.Arguments = json.RawMessage(`"edit"`), json.RawMessage(`{ "n": 7 }`)
	case 'a', 's':
		b.Answer, b.Arguments = json.RawMessage(`"edit"`), json.RawMessage(`{ "n": 8 }`)
		if word[0] == 's' {
			b.Answer = json.RawMessage(`"skip"`)
		}
	case 'l':
		b.Answer = json.RawMessage(`"deliver"`)
	case 'w':
		b.Answer, b.Reason = json.RawMessage(`"withhold"`), "It is secret."
	case 'e':
		b.Answer, b.Arguments = json.RawMessage(`"edit"`), json.RawMessage(`"edited"`)
	default:
		panic("no such word: " + word)
	}
	return b
}

// show writes messages in one line: U[…] the user's, A[…] the assistant's,
// R[…] results; calls as call(id), results as id=text, reasoning as (text).
func show(messages []Message) string {
	var all []string
	for _, m := range messages {
		var blocks []string
		for _, b := range m.Blocks {
			blocks = append(blocks, showBlock(b))
		}
		letter := map[conversation.Role]string{
			conversation.RoleUser: "U", conversation.RoleAssistant: "A", conversation.RoleTool: "R",
		}[m.Role]
		all = append(all, letter+"["+strings.Join(blocks, " ")+"]")
	}
	return strings.Join(all, " ")
}

func showBlock(b Block) string {
	switch b.Kind {
	case BlockReasoning:
		return "(" + b.Text + ")"
	case BlockToolCall:
		return "call(" + b.ID + ")"
	case BlockResult:
		text := b.Text
		if b.IsError {
			text = "!" + text
		}
		return b.ID + "=" + text
	case BlockFile:
		return "file(" + b.Name + ")"
	}
	return b.Text
}

func TestHistoryIsWhatItSays(t *testing.T) {
	all := events("T Q M C1+ D1 M. T Q M.")
	require.Len(t, all, 9)
	require.Equal(t, 1, all[2].Body.(*conversation.ChatResponse).Call)
	require.Equal(t, 1, all[3].Body.(*conversation.ToolCallRequest).Call)
	require.Equal(t, 2, all[5].Body.(*conversation.ChatResponse).Call)
	_, tail := conversation.SplitTail(all)
	require.Nil(t, tail)
}
