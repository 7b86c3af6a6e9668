package provider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// The forms of jp's own words about a compaction in a shown request.
var (
	headWords    = regexp.MustCompile(`\[COMPACTED\][^@]*?event_read shows any event whole\.`)
	labelWords   = regexp.MustCompile(` @\d+, [^:]*:`)
	summaryWords = regexp.MustCompile(` jp's summary of the rest.*?\(@\d+\)`)
	trimWords    = regexp.MustCompile(`\[jp: result of @(\d+) .*?event_read\]`)
)

// shown is a request with HEAD, SUMMARY and TRIMMED for jp's words.
func shown(messages []Message) string {
	text := strings.ReplaceAll(show(messages), "\n", " ")
	text = headWords.ReplaceAllString(text, "HEAD")
	text = labelWords.ReplaceAllString(text, "")
	text = summaryWords.ReplaceAllString(text, " SUMMARY")
	return trimWords.ReplaceAllString(text, "TRIMMED$1")
}

func TestProjectCompacted(t *testing.T) {
	for _, test := range []struct{ name, history, want string }{
		{"a trimmed result", "T Q C1+ D1 C2+ D2 W M. T Q", "U[Q1.] A[call(call_1)] R[call_1=TRIMMED3] A[call(call_2)] R[call_2=D5.] A[M7.] U[Q9.]"},
		{"instructions stay with a trimmed result", "T Q C1+ D1 j1 C2+ D2 W", "U[Q1.] A[call(call_1)] R[call_1=TRIMMED3  j4.] A[call(call_2)] R[call_2=D6.]"},
		{"a trim is undone", "T Q C1+ D1 C2+ D2 W z M. T Q", "U[Q1.] A[call(call_1)] R[call_1=D3.] A[call(call_2)] R[call_2=D5.] A[M8.] U[Q10.]"},
		{"the earlier turns", "T Q M. T Q M. Z T Q", "U[HEAD Q1. SUMMARY Q4.] A[M5.] U[Q8.]"},
		{"within the turn", "T Q C1+ D1 C2+ D2 Z", "U[HEAD Q1. SUMMARY] A[call(call_2)] R[call_2=D5.]"},
		{"with a reply behind the range", "T Q C1+ D1 Qi C2+ D2 Z", "U[HEAD Q1. SUMMARY Q4.] A[call(call_2)] R[call_2=D6.]"},
		{"everything", "T Q C1+ D1 C2+ D2 Z0", "U[HEAD Q1. SUMMARY]"},
		{"everything, and the next turn", "T Q M. Z0 T Q", "U[HEAD Q1. SUMMARY Q5.]"},
		{"twice", "T Q M. Z0 T Q M. T Q M. Z T Q", "U[HEAD Q1. Q5. SUMMARY Q8.] A[M9.] U[Q12.]"},
		{"twice, and once undone", "T Q M. Z0 T Q M. T Q M. Z z T Q", "U[HEAD Q1. SUMMARY Q5.] A[M6.] U[Q8.] A[M9.] U[Q13.]"},
		{"undone", "T Q R M. T Q R M. Z z T Q", "U[Q1.] A[(R2.) M3.] U[Q5.] A[(R6.) M7.] U[Q11.]"},
		{"reasoning before it", "T Q R M. T Q R M. Z T Q R M. T Q", "U[HEAD Q1. SUMMARY Q5.] A[M7.] U[Q10.] A[(R11.) M12.] U[Q14.]"},
		{"reasoning between it and its end", "T Q R M. T Q R M. Z T Q R M. z T Q", "U[Q1.] A[(R2.) M3.] U[Q5.] A[(R6.) M7.] U[Q10.] A[M12.] U[Q15.]"},
		{"reasoning before a trim", "T Q R C1+ D1 R C2+ D2 W R M. T Q", "U[Q1.] A[call(call_1)] R[call_1=TRIMMED4] A[call(call_2)] R[call_2=D7.] A[(R9.) M10.] U[Q12.]"},
		{"instructions and the environment", "V J Q C1+ D1 j1 M. Z0 T Q", "U[J1. j5. V0. HEAD Q2. SUMMARY Q9.]"},
		{"a discarded turn", "T Q M. T Q C1+ D1 Z X T Q", "U[HEAD Q1. SUMMARY Q10.]"},
		{"within a turn that is discarded then", "T Q M. T Q C1+ D1 C2+ D2 Z X T Q", "U[HEAD Q1. SUMMARY Q12.]"},
		{"a refused turn", "T Q M. T Q M! Z0 T Q", "U[HEAD Q1. SUMMARY Q8.]"},
		{"a replaced request", "T Q Qr M. Z0 T Q", "U[HEAD Q2. SUMMARY Q6.]"},
		{"notes and reports go", "T N Q r M. Z0 T Q", "U[HEAD Q2. SUMMARY Q7.]"},
		{"a refused call", "T Q C1+ I1 s1 D1 M. Z0 T Q", `U[HEAD Q1. the user refused tool_1 {"n":1} SUMMARY Q9.]`},
		{"changed arguments", "T Q C1+ I1 a1 D1 M. Z0 T Q", `U[HEAD Q1. the user changed tool_1 {"n":1} to {"n":8} SUMMARY Q9.]`},
		{"an open call stays", "T Q C1+ D1 C2+ Z0", "U[HEAD Q1. SUMMARY] A[call(call_2)] R[call_2=!Tool call was interrupted.]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := events(test.history)
			require.Equal(t, test.want, shown(Project(all, writer)))
			require.NoError(t, validate(all, Project(all, writer)))
		})
	}
}

// compactions are the possible actions at a place: each alone, undone, and behind another one.
var compactions = []string{"Z", "Z0", "W", "Z z", "Z0 z", "W z", "W Z0", "Z Z0 z", "W Z z"}

// everyCompacted calls visit with every short history that is compacted at some place.
func everyCompacted(depth int, visit func(words string)) {
	for _, shape := range []struct{ before, after string }{
		{"T Q ", ""}, {"T Q ", " T Q"}, {"T Q M. T Q R C1+ D1 ", ""}, {"T Q R M. T Q ", " X T Q"}, {"T Q R C1+ D1 C2+ D2 ", " R M. T Q"},
	} {
		every(nil, depth, func(words []string) {
			for at := range len(words) + 1 {
				for _, c := range compactions {
					visit(shape.before + strings.Join(words[:at], " ") + " " + c + " " + strings.Join(words[at:], " ") + shape.after)
				}
			}
		})
	}
}

func TestEveryShortHistoryCanBeCompacted(t *testing.T) {
	seen := 0
	everyCompacted(2, func(words string) {
		all := events(words)
		if err := validate(all, Project(all, writer)); err != nil {
			require.NoError(t, err, "%s: %s", words, show(Project(all, writer)))
		}
		seen++
	})
	require.Greater(t, seen, 10_000)
}

// An undone compaction leaves the messages before it the same, to the byte, and those since.
func TestUndoneCompactionsChangeNothing(t *testing.T) {
	everyCompacted(2, func(words string) {
		if !strings.HasSuffix(words, " z ") && !strings.HasSuffix(words, " z") {
			return
		}
		with := events(words)
		for i := range with {
			if b, ok := with[i].Body.(*conversation.CompactionUndone); ok {
				without := slicesWithout(with, b.For, with[i].Seq)
				before, after := Project(without, writer), Project(with, writer)
				require.Equal(t, (&Request{Messages: before}).Prefix(), (&Request{Messages: after}).Prefix(), "%s: %s", words, show(after))
			}
		}
	})
}

// slicesWithout are the events with two of them replaced by empty ones.
func slicesWithout(all []*conversation.Event, seqs ...int) []*conversation.Event {
	var kept []*conversation.Event
	for _, e := range all {
		for _, seq := range seqs {
			if e.Seq == seq {
				c := *e
				c.Body = &conversation.ConfigDelta{Delta: []byte("{}")}
				e = &c
			}
		}
		kept = append(kept, e)
	}
	return kept
}
