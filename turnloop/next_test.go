package turnloop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A history is a turn in shorthand, one word per event:
//
//	T turn_start   T* with every run approved   Q request   S stopped   X discarded   F adopted
//	M message      M. message that ends its call
//	1read          tool call 1 of the tool read; it may end in "." (tool_calls), "-" (length), "!" (refusal), "?" (malformed)
//	P1 permission asked      p1=run its answer: run, run_turn, skip, edit, edit+ with arguments, yes, failed, cancelled
//	K1 the hook before tools asked   k1=pass its answer: pass, skip, edit, edit+, cancelled
//	B1 started   I1 the tool asks, A1 the answer   D1 response   H1 held one   L1 delivery asked, l1 delivered
//	An answer may end in "-" (declined, though it stands there), "~" (by a policy), "*" (to be remembered)
type history struct {
	events []*conversation.Event
	model  int
	call   map[byte]int
	asked  map[string]int
}

func turnOf(text string) []*conversation.Event {
	h := history{model: 1, call: map[byte]int{}, asked: map[string]int{}}
	for _, word := range strings.Fields(text) {
		seq := len(h.events)
		h.events = append(h.events, &conversation.Event{Seq: seq, Turn: 1, Version: conversation.Version, Body: h.body(word, seq)})
	}
	return h.events
}

func (h *history) body(word string, seq int) conversation.Body {
	switch word {
	case "T":
		return &conversation.TurnStart{Model: "test/model"}
	case "T*":
		return &conversation.TurnStart{Model: "test/model", Approved: conversation.ApproveAll()}
	case "Q":
		h.model++
		return &conversation.ChatRequest{Content: "do it"}
	case "S":
		return &conversation.TurnStopped{By: conversation.ByUser}
	case "F":
		return &conversation.ForkOrigin{Adopted: true}
	case "X":
		return &conversation.TurnDiscarded{FromSeq: 0, ToSeq: seq - 1, By: conversation.ByUser}
	case "M":
		return &conversation.ChatResponse{Call: h.model, Part: conversation.PartMessage, Text: "words"}
	case "M.":
		h.model++
		return &conversation.ChatResponse{Call: h.model - 1, Part: conversation.PartMessage, Text: "words", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}
	}
	if '0' <= word[0] && word[0] <= '9' {
		return h.toolCall(word, seq)
	}
	return h.about(word, seq)
}

func (h *history) toolCall(word string, seq int) conversation.Body {
	h.call[word[0]] = seq
	b := &conversation.ToolCallRequest{Call: h.model, ID: "id" + word[:1], Name: strings.TrimRight(word[1:], ".-!?"), Arguments: []byte("{}")}
	b.Malformed = strings.Contains(word, "?")
	b.Finish = map[byte]conversation.Finish{
		'.': conversation.FinishToolCalls, '-': conversation.FinishLength, '!': conversation.FinishRefusal,
	}[word[len(word)-1]]
	if b.Finish != "" {
		h.model++
	}
	return b
}

// about makes the body of an event about a tool call.
func (h *history) about(word string, seq int) conversation.Body {
	call := h.call[word[1]]
	ask := func(kind conversation.InquiryKind, id string) conversation.Body {
		h.asked[strings.ToLower(word[:2])] = seq
		return &conversation.InquiryRequest{For: call, Kind: kind, QuestionID: id, Attempt: 1, Question: conversation.Question{Text: "?"}}
	}
	switch word[0] {
	case 'B':
		return &conversation.ToolStarted{For: call, Attempt: 1}
	case 'D', 'H':
		h.model++
		return &conversation.ToolCallResponse{For: call, ID: "id" + word[1:2], Name: "tool", Content: "result", Held: word[0] == 'H'}
	case 'P':
		return ask(conversation.KindRunTool, "run")
	case 'K':
		return ask(conversation.KindHook, "tool-pre")
	case 'I':
		h.asked["a"+word[1:2]] = seq
		return ask(conversation.KindToolQuestion, "q")
	case 'L':
		return ask(conversation.KindDeliverResult, "deliver")
	}
	b := &conversation.InquiryResponse{For: h.asked[strings.ToLower(word[:2])], Outcome: conversation.OutcomeAnswered, By: conversation.ByUser, Answer: []byte(`"deliver"`)}
	if _, choice, ok := strings.Cut(word, "="); ok {
		b.Answer, _ = json.Marshal(strings.TrimRight(choice, "+-~*"))
		if strings.HasSuffix(choice, "+") {
			b.Arguments = []byte(`{"path":"b"}`)
		}
		if choice == "failed" || choice == "cancelled" {
			b.Outcome, b.Answer, b.By = conversation.Outcome(choice), nil, conversation.ByPolicy
		}
	}
	if strings.Contains(word, "-") {
		b.Outcome = conversation.OutcomeDeclined
	}
	if strings.Contains(word, "~") {
		b.By = conversation.ByPolicy
	}
	b.Remember = strings.Contains(word, "*")
	return b
}

var theTools = map[string]*tool.Definition{
	"read": {Name: "read", Effect: tool.Reads, Run: tool.Unattended}, "look": {Name: "look", Effect: tool.Reads, Run: tool.Ask},
	"write": {Name: "write", Run: tool.Ask}, "free": {Name: "free", Run: tool.Unattended}, "off": {Name: "off", Run: tool.Skip},
	"again": {Name: "again", Run: tool.Ask, Idempotent: true}, "boss": {Name: "boss", Exclusive: true}, "bad": {Name: "bad"},
	"peek": {Name: "peek", Effect: tool.Reads, Exclusive: true, Run: tool.Unattended}, "delegate": {Name: "delegate", Run: tool.Ask},
}

func viewOf(events []*conversation.Event, again ...int) View {
	v := View{
		Ledger: conversation.LedgerOf(events), Again: map[int]bool{},
		Tools: func(name string) *tool.Definition { return theTools[name] },
		Check: func(def *tool.Definition, _ json.RawMessage) string {
			if def.Name == "bad" {
				return "wrong arguments"
			}
			return ""
		},
	}
	for _, seq := range again {
		v.Again[seq] = true
	}
	return v
}

// inWords is an action with the numbers of its calls.
func inWords(a Action) string {
	word := map[Act]string{
		ActDone: "done", ActModel: "model", ActAsk: "ask", ActPermit: "permit", ActDeliver: "deliver", ActRefuse: "refuse",
		ActRun: "run", ActUnknown: "unknown", ActHook: "hook",
	}[a.Act]
	for _, c := range a.Calls {
		word += " " + strings.TrimPrefix(c.Request.ID, "id")
	}
	if a.Reason != "" {
		word += ": " + a.Reason
	}
	return word
}

func TestNext(t *testing.T) {
	cases := []struct{ name, history, want string }{
		{"nothing", "", "done"},
		{"only a start", "T", "done"},
		{"a request", "T Q", "model"},
		{"an answer", "T Q M.", "done"},
		{"an answer without its end", "T Q M", "model"},
		{"stopped", "T Q S", "done"},
		{"discarded with an open call", "T Q 1write. X", "done"},
		{"all results", "T Q 1read. D1", "model"},

		{"malformed arguments", "T Q 1read?.", "refuse 1: The tool was not run: its arguments are not"},
		{"cut off", "T Q 1read 2write-", "refuse 1: The tool was not run: your answer was cut off"},
		{"cut off, the second", "T Q 1read 2write- D1", "refuse 2: The tool was not run: your answer was cut off"},
		{"refused", "T Q 1read!", "refuse 1: The tool was not run: the answer that asked for it was refused"},
		{"no such tool", "T Q 1none.", "refuse 1: There is no tool"},
		{"against the schema", "T Q 1bad.", "refuse 1: wrong arguments"},
		{"refused before permissions", "T Q 1write 2none.", "refuse 2: There is no tool"},
		{"refused before unknown", "T Q 1write 2none. B1", "refuse 2: There is no tool"},
		{"refused, though its question is open", "T Q 1none. P1", "refuse 1: There is no tool"},

		{"unknown outcome", "T Q 1write. P1 p1=run B1", "unknown 1"},
		{"unknown before permissions", "T Q 1write 2free. B2", "unknown 2"},
		{"unknown, of a tool that is gone", "T Q 1none. B1", "unknown 1"},
		{"started, approved", "T* Q 1write. B1", "unknown 1"},
		{"started, but may be repeated", "T Q 1again. P1 p1=run B1", "run 1"},
		{"started, but only reads", "T Q 1read. B1", "run 1"},
		{"its question ended the run", "T Q 1write. P1 p1=run B1 I1", "ask 1"},
		{"its question was answered", "T Q 1write. P1 p1=run B1 I1 A1", "run 1"},
		{"started again behind its question", "T Q 1write. P1 p1=run B1 I1 A1 B1", "unknown 1"},

		{"permission", "T Q 1write.", "permit 1"},
		{"permission of a changing tool that is allowed in advance", "T Q 1free.", "permit 1"},
		{"permission of a reading tool", "T Q 1look.", "permit 1"},
		{"switched off", "T* Q 1off.", "permit 1"},
		{"exclusive and reading", "T* Q 1peek.", "permit 1"},
		{"all permissions first", "T Q 1write 2look. P1 p1=run", "permit 2"},
		{"what is ready at the front runs first", "T Q 1read 2write 3look.", "run 1"},
		{"permission in request order", "T Q 1read 2write 3look. D1", "permit 2"},
		{"a read behind a change waits", "T Q 1write 2read.", "permit 1"},
		{"permission asked again", "T Q 1write. P1", "ask 1"},
		{"asked again before the next permission", "T Q 1look 2write. P1", "ask 1"},
		{"the first question of two", "T Q 1read 2read. I2 I1", "ask 1"},
		{"approved when the turn began", "T* Q 1write.", "run 1"},
		{"approved, but exclusive", "T* Q 1boss.", "permit 1"},
		{"exclusive asks just before it runs", "T Q 1read 2boss.", "run 1"},
		{"exclusive, now", "T Q 1read 2boss. D1", "permit 2"},
		{"exclusive, allowed", "T Q 1boss. P1 p1=run", "run 1"},

		{"yes", "T Q 1write. P1 p1=run", "run 1"},
		{"yes for the turn", "T Q 1write. P1 p1=run_turn", "run 1"},
		{"yes, with other arguments", "T Q 1write. P1 p1=edit+", "run 1"},
		{"other arguments that are not there", "T Q 1write. P1 p1=edit", "refuse 1: The tool was not run: the user declined."},
		{"no", "T Q 1write. P1 p1=skip", "refuse 1: The tool was not run: the user declined."},
		{"a word that is no yes", "T Q 1write. P1 p1=yes", "refuse 1: The tool was not run: the user declined."},
		{"a yes that was declined", "T Q 1write. P1 p1=run-", "refuse 1: The tool was not run: the user declined."},
		{"nobody could answer", "T Q 1write. P1 p1=failed", "refuse 1: The tool was not run: it needs a permission"},
		{"cancelled", "T Q 1write. P1 p1=cancelled", "refuse 1: The tool was not run: it is not allowed."},

		{"reads side by side", "T Q 1read 2read 3look. P3 p3=run", "run 1 2 3"},
		{"a change is a barrier", "T* Q 1read 2read 3write 4read.", "run 1 2"},
		{"a change alone", "T* Q 1read 2read 3write 4read. D1 D2", "run 3"},
		{"reads behind a change", "T* Q 1read 2read 3write 4read. D1 D2 D3", "run 4"},
		{"answered reads do not run again", "T Q 1read 2read 3read. D2", "run 1 3"},
		{"a delegate", "T* Q 1delegate.", "run 1"},

		{"held, with its question", "T Q 1read. H1 L1", "ask 1"},
		{"held, without its question", "T Q 1read. H1", "deliver 1"},
		{"held goes before open calls", "T Q 1read 2none. H1 L1", "ask 1"},
		{"delivered", "T Q 1read. H1 L1 l1", "model"},
		{"someone else's call", "T* Q 1write. F", "refuse 1: The tool was not run: someone else's model"},
		{"someone else's read", "T* Q 1read. F", "refuse 1: The tool was not run: someone else's model"},
		{"someone else's yes", "T Q 1write. P1 p1=run F", "refuse 1: The tool was not run: someone else's model"},
		{"someone else's start", "T Q 1write. P1 p1=run B1 F", "refuse 1: The tool was not run: someone else's model"},
		{"what someone else allowed", "T* Q M. Q F 1write.", "permit 1"},
		{"a yes for the turn by someone else", "T Q 1write. P1 p1=run_turn D1 F 2write.", "permit 2"},
		{"a broken call that asked for a tool", "T Q M 1read", "run 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, strings.HasPrefix(inWords(Next(viewOf(turnOf(c.history)))), c.want), inWords(Next(viewOf(turnOf(c.history)))))
		})
	}
}

// At any stage of a stranger's turn, none of its calls runs after the adoption.
func TestNothingOfAStrangerRuns(t *testing.T) {
	everyHistory(4, func(words string, events []*conversation.Event) {
		adopted := append(events[:len(events):len(events)], turnOf(words + " F")[len(events)])
		switch a := Next(viewOf(adopted)); a.Act {
		case ActRun, ActPermit, ActUnknown:
			t.Fatalf("%s: %s", words, inWords(a))
		}
	})
}

func TestNextRunsAnUnknownCallThatSomebodyWantsRunAgain(t *testing.T) {
	events := turnOf("T Q 1write. P1 p1=run B1")
	require.Equal(t, "unknown 1", inWords(Next(viewOf(events))))
	require.Equal(t, "run 1", inWords(Next(viewOf(events, 2))))
}

// everyHistory visits the turns of at most depth words behind "T Q", including those that jp would not write.
func everyHistory(depth int, visit func(words string, events []*conversation.Event)) {
	var walk func(words []string, left int)
	walk = func(words []string, left int) {
		text := strings.Join(words, " ")
		visit(text, turnOf(text))
		if left == 0 {
			return
		}
		options := []string{"M.", "S"}
		for n, toolName := range []string{"write", "read"} {
			n++
			switch {
			case !strings.Contains(text, fmt.Sprintf(" %d", n)):
				options = append(options, fmt.Sprintf("%d%s.", n, toolName), fmt.Sprintf("%d%s", n, toolName), fmt.Sprintf("%d%s-", n, toolName))
			default:
				for _, w := range []string{"P%d", "p%d=run", "p%d=skip", "p%d=failed", "B%d", "I%d", "A%d", "D%d", "H%d", "L%d", "l%d"} {
					asks := map[byte]string{'p': " P%d", 'A': " I%d", 'l': " L%d"}[w[0]]
					if asks == "" || strings.Contains(text, fmt.Sprintf(asks, n)) {
						options = append(options, fmt.Sprintf(w, n))
					}
				}
			}
		}
		for _, o := range options {
			walk(append(words[:len(words):len(words)], o), left-1)
		}
	}
	for _, start := range []string{"T", "T*"} {
		walk([]string{start, "Q"}, depth)
	}
}

func TestNextOfEveryHistory(t *testing.T) {
	depth := 5
	if testing.Short() {
		depth = 4
	}
	seen := map[Act]int{}
	everyHistory(depth, func(words string, events []*conversation.Event) {
		v := viewOf(events)
		a := Next(v)
		seen[a.Act]++
		if problem := wrong(v, a, strings.Fields(words)); problem != "" {
			t.Fatalf("%s: %s: %s", words, inWords(a), problem)
		}
	})
	require.Len(t, seen, 8, "every act: %v", seen)
	t.Log(seen)
}

// wrong names the rule that an action breaks, or "". It reads the words instead of the ledger.
func wrong(v View, a Action, words []string) string {
	count := func(word string) (n int) {
		for _, w := range words {
			if w == word {
				n++
			}
		}
		return n
	}
	for _, c := range a.Calls {
		n := strings.TrimPrefix(c.Request.ID, "id")
		answered := count("D"+n)+count("H"+n) > 0
		yes := firstAnswer(words, n) == "run" || words[0] == "T*" || c.Request.Name == "read"
		switch {
		case (a.Act == ActRun || a.Act == ActRefuse || a.Act == ActPermit || a.Act == ActUnknown) && answered:
			return "the call has its response"
		case a.Act == ActRun && !yes:
			return "nobody said yes"
		case a.Act == ActRun && c.Request.Name == "write" && len(a.Calls) > 1:
			return "a change does not run alone"
		case a.Act == ActPermit && count("P"+n) > 0:
			return "it was asked before"
		}
	}
	if (a.Act == ActModel || a.Act == ActDone) && (len(v.Ledger.Open()) > 0 || len(v.Ledger.Live()) > 0 || v.Ledger.Undelivered() != nil) {
		return "something is open"
	}
	if (a.Act == ActAsk) != (a.Inquiry != nil) || a.Act == ActAsk && !a.Inquiry.Live() {
		return "no live question"
	}
	return ""
}

// firstAnswer is the answer to the newest permission of a call, the first one
// if there are several.
func firstAnswer(words []string, n string) string {
	answer, open := "", false
	for _, w := range words {
		switch {
		case w == "P"+n:
			answer, open = "", true
		case open && strings.HasPrefix(w, "p"+n+"="):
			_, answer, _ = strings.Cut(w, "=")
			open = false
		}
	}
	return answer
}
