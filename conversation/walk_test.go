package conversation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

// errTwice keeps walks to one call and one question of each number in a turn,
// so that a word names its referent.
var errTwice = errors.New("the word was used")

var errCommit = errors.New("disk full")

func store([]*Event) error { return nil }

// allWords are tried at every step of a walk, fitting or not.
var allWords = func() []string {
	all := []string{"T", "M", "M.", "P", "R", "q", "S", "X", "G"}
	for n := 1; n <= 2; n++ {
		for _, w := range []string{"C%d", "C%d.", "B%d", "D%d", "H%d", "I%d", "A%d", "L%d", "l%d"} {
			all = append(all, fmt.Sprintf(w, n))
		}
	}
	return all
}()

// attempt adds the word to the stream as the loop would, and returns the
// history with it.
func attempt(s *Stream, h history, word string) (history, error) {
	next := append(h[:len(h):len(h)], word)
	if bare := strings.TrimSuffix(word, "."); strings.Contains("C I L", bare[:1]) && h.lastTurn().find(bare, 0) >= 0 {
		return nil, errTwice
	}
	if word == "T" {
		next = append(next, "Q")
		return next, s.StartTurn(TurnStart{Model: "script/fixed"}, ChatRequest{Content: "do it"}).Build(store)
	}
	events := next.events()
	return next, s.CurrentTurn().AddRecord(events[len(events)-1].Body).Build(store)
}

// reopen is the stream as a process sees it that has just loaded the events.
func reopen(events []*Event) *Stream {
	return JoinTail(SplitTail(events[:len(events):len(events)]))
}

// everyValid visits the histories of at most depth words behind the first
// request that can be built.
func everyValid(t *testing.T, depth int, alphabet []string, visit func(history, *Stream, Summary)) {
	var walk func(h history, s *Stream, sum Summary, left int)
	walk = func(h history, s *Stream, sum Summary, left int) {
		visit(h, s, sum)
		if left == 0 {
			return
		}
		for _, word := range alphabet {
			before := s.Len()
			grown := reopen(s.Events())
			next, err := attempt(grown, h, word)
			if err != nil {
				if grown.Len() != before || grown.NextSeq() != before {
					t.Fatalf("%v: a refused %s was added", h, word)
				}
				continue
			}
			after := sum
			for _, e := range grown.Events()[before:] {
				after = after.Next(e)
			}
			walk(next, grown, after, left-1)
		}
	}
	s := NewStream(nil)
	h, err := attempt(s, nil, "T")
	require.NoError(t, err)
	walk(h, s, Summarize(s.Events()), depth)
}

// TestEveryValidHistory checks all properties of every valid history.
func TestEveryValidHistory(t *testing.T) {
	for name, walk := range map[string]struct {
		alphabet []string
		depth    int
	}{
		"two tools, short": {allWords, 4},
		"one tool, longer": {words("T M. P q S X C1 C1. D1 H1 I1 A1 L1 l1"), 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total := 0
			everyValid(t, walk.depth, walk.alphabet, func(h history, s *Stream, sum Summary) {
				total++
				checkHistory(t, h, s, sum)
			})
			require.Greater(t, total, 10_000)
			t.Log(total)
		})
	}
}

func TestLongValidHistories(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := NewStream(nil)
		h, err := attempt(s, nil, "T")
		require.NoError(r, err)
		sum := Summarize(s.Events())
		for range 40 {
			at := s.Len()
			next, err := attempt(s, h, rapid.SampledFrom(allWords).Draw(r, "word"))
			if err != nil {
				require.Equal(r, at, s.Len())
				continue
			}
			h = next
			for _, e := range s.Events()[at:] {
				sum = sum.Next(e)
			}
			checkHistory(r, h, s, sum)
		}
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
}

func checkHistory(t failer, h history, s *Stream, sum Summary) {
	t.Helper()
	l, want := s.Tail(), judge(h.lastTurn())
	got := verdict{phase: l.Phase(), status: l.Status(), open: len(l.Open()), live: len(l.Live())}
	if got != want {
		t.Fatalf("%v: got %+v, want %+v", h, got, want)
	}
	checkSummary(t, h, l, sum)
	checkSplit(t, h, s.Events())
	checkSanitize(t, h, s.Events())
	if problems := Audit(s.Events()); len(problems) > 0 {
		t.Fatalf("%v: what was built does not pass: %v", h, problems)
	}
	if err := s.CheckBuilt(); err != nil {
		t.Fatalf("%v: %v", h, err)
	}
}

// checkSummary compares the fold over the events with the whole history.
func checkSummary(t failer, h history, l *Ledger, sum Summary) {
	if sum.Status != l.Status() {
		t.Fatalf("%v: summary says %q, the ledger %q", h, sum.Status, l.Status())
	}
	var open, live []int
	for _, c := range l.ToolCalls {
		if !l.Discarded && (c.Open() || c.Undelivered()) {
			open = append(open, c.Event.Seq)
		}
	}
	for _, q := range l.Live() {
		live = append(live, q.Event.Seq)
	}
	var sumOpen, sumLive []int
	for _, c := range sum.Open {
		sumOpen = append(sumOpen, c.Seq)
		if call := l.ToolCall(c.Seq); c.Held != call.Undelivered() || c.Started != (call.Started != nil) {
			t.Fatalf("%v: summary of call %d is %+v", h, c.Seq, c)
		}
	}
	if sum.Inquiry != nil {
		sumLive = append(sumLive, sum.Inquiry.Seq)
	}
	for _, q := range sum.Queued {
		sumLive = append(sumLive, q.Seq)
	}
	slices.Sort(sumLive)
	slices.Sort(live)
	if !slices.Equal(open, sumOpen) || !slices.Equal(live, sumLive) || sum.Events != len(h) {
		t.Fatalf("%v: open %v and live %v, but the summary has %v and %v in %d events", h, open, live, sumOpen, sumLive, sum.Events)
	}
}

func checkSplit(t failer, h history, events []*Event) {
	s, tail := SplitTail(events)
	n := s.Len()
	if tail != nil {
		n += len(tail.Events)
		if tail.Ledger().Complete() {
			t.Fatalf("%v: a complete tail", h)
		}
	} else if phase := s.Tail().Phase(); phase != PhaseComplete && phase != PhaseIdle {
		t.Fatalf("%v: an incomplete turn among the complete ones", h)
	}
	joined := JoinTail(s, tail).Events()
	if n != len(events) || len(joined) != len(events) {
		t.Fatalf("%v: %d events became %d", h, len(events), len(joined))
	}
	for i := range events {
		if joined[i] != events[i] {
			t.Fatalf("%v: event %d is another one", h, i)
		}
	}
}

func checkSanitize(t failer, h history, events []*Event) {
	s, tail := SplitTail(events)
	whole := s.Events()
	repaired := Sanitize(whole)
	requireReliable(t, h, repaired)
	if again := Sanitize(repaired); !sameSlice(again, repaired) {
		t.Fatalf("%v: sanitize changed its own result", h)
	}
	if tail != nil && events[len(events)-1] != tail.Events[len(tail.Events)-1] {
		t.Fatalf("%v: the tail was changed", h)
	}
	valid := h.find("X", 0) < 0
	for turn := range Turns(whole) {
		valid = valid && turn.Ledger().Complete()
	}
	if valid && !sameSlice(repaired, whole) {
		t.Fatalf("%v: valid turns were changed", h)
	}
}

// requireReliable asserts the guarantees of a projection for readers.
func requireReliable(t failer, h history, events []*Event) {
	for turn := range Turns(events) {
		l := turn.Ledger()
		responses, answers, asked := map[int]int{}, map[int]int{}, false
		for _, e := range turn.Events {
			switch b := e.Body.(type) {
			case *ChatRequest:
				asked = true
			case *ToolCallResponse:
				responses[b.For]++
			case *InquiryResponse:
				answers[b.For]++
			}
			if e.Type().Protocol() && e.Type() != TypeTurnStart && !asked {
				t.Fatalf("%v: %s before the first request", h, e.Type())
			}
		}
		if !asked {
			t.Fatalf("%v: a turn without a request", h)
		}
		for _, e := range turn.Events {
			_, isCall := e.Body.(*ToolCallRequest)
			_, isQuestion := e.Body.(*InquiryRequest)
			if isCall && responses[e.Seq] != 1 || isQuestion && answers[e.Seq] != 1 {
				t.Fatalf("%v: event %d has %d responses, %d answers", h, e.Seq, responses[e.Seq], answers[e.Seq])
			}
			delete(responses, seqIf(isCall, e.Seq))
			delete(answers, seqIf(isQuestion, e.Seq))
		}
		if len(responses)+len(answers)+len(l.Open()) > 0 {
			t.Fatalf("%v: orphans %v %v, open %v", h, responses, answers, l.Open())
		}
	}
}

func seqIf(is bool, seq int) int {
	if is {
		return seq
	}
	return -1
}

func sameSlice(a, b []*Event) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
