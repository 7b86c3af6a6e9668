package conversation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
	"jp/internal/testing/journaltest"
)

func seq(n int) *int { return &n }

func kept(events []*Event) []int {
	var seqs []int
	for _, e := range events {
		if e.Was != nil {
			seqs = append(seqs, *e.Was)
		} else {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

func TestSliceCases(t *testing.T) {
	const three = "G T Q M. T Q M. T Q M." // turns at 1, 4 and 7
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	cases := []struct {
		name, history string
		cut           Range
		want          []int
	}{
		{"everything", three, Range{}, all},
		{"first", three, Range{First: 1}, []int{0, 1, 2, 3}},
		{"first two", three, Range{First: 2}, all[:7]},
		{"first beyond", three, Range{First: 9}, all},
		{"last", three, Range{Last: 1}, []int{0, 7, 8, 9}},
		{"last two", three, Range{Last: 2}, []int{0, 4, 5, 6, 7, 8, 9}},
		{"last beyond", three, Range{Last: 3}, all},
		{"first and last", three, Range{First: 1, Last: 1}, []int{0, 1, 2, 3, 7, 8, 9}},
		{"first and last cover", three, Range{First: 2, Last: 1}, all},
		{"until", three, Range{Until: seq(5)}, all[:6]},
		{"until beyond", three, Range{Until: seq(99)}, all},
		{"until nothing", three, Range{Until: seq(-1)}, nil},
		{"from", three, Range{From: seq(4)}, []int{0, 4, 5, 6, 7, 8, 9}},
		{"from the start", three, Range{From: seq(0)}, all},
		{"from beyond", three, Range{From: seq(10)}, nil},
		{"from and until", three, Range{From: seq(4), Until: seq(6)}, []int{0, 4, 5, 6}},
		{"from behind until", three, Range{From: seq(6), Until: seq(4)}, nil},
		{"first of a range", three, Range{From: seq(4), First: 1}, []int{0, 4, 5, 6}},
		{"last of a range", three, Range{Until: seq(6), Last: 1}, []int{0, 4, 5, 6}},
		{"within a turn", "T Q C1. D1 M.", Range{Until: seq(2)}, []int{0, 1, 2}},
		{"from within a turn", "T Q C1. D1 M. T Q M.", Range{From: seq(3)}, []int{5, 6, 7}},
		{"from within the last turn", "T Q C1. D1 M.", Range{From: seq(3)}, nil},
		{"from a request", "G T Q M.", Range{From: seq(2)}, []int{0, 1, 2, 3}},
		{"from before a reply", "T Q M. q C1. D1 M.", Range{From: seq(2)}, []int{0, 3, 4, 5, 6}},
		{"from between turns", "T Q M. G W T Q M.", Range{From: seq(4)}, []int{3, 4, 5, 6, 7}},
		{"the last turn of what begins in one", "T Q q M. T Q M.", Range{From: seq(2), Last: 1}, []int{4, 5, 6}},
		{"a call that was cut", "T Q C1. q I1 A1 D1 M.", Range{From: seq(3)}, []int{0, 3, 7}},
		{"from within a discarded turn", "T Q q M. X T Q M.", Range{From: seq(2)}, []int{5, 6, 7}},
		{"no turns", "G W", Range{Last: 1}, []int{0, 1}},
		{"nothing", "", Range{Last: 1}, nil},
		{"discarded turns do not count", "T Q M. T Q X T Q M.", Range{Last: 2}, []int{0, 1, 2, 6, 7, 8}},
		{"empty turns do not count", "T Q M. T T Q M.", Range{First: 1}, []int{0, 1, 2}},
		{"settings of what was cut", "T G Q M. W T Q M.", Range{Last: 1}, []int{1, 4, 5, 6, 7}},
		{"settings of a discarded turn", "T Q M. T Q G X T Q M.", Range{Last: 1}, []int{5, 7, 8, 9}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events := words(c.history).events()
			require.Equal(t, c.want, kept(Select(events, c.cut)))
			require.Equal(t, words(c.history).events(), events, "the source is as it was")
		})
	}
}

func TestSliceKeepsThePromptInForce(t *testing.T) {
	events := words("T G Q M. T G Q M. T Q M.").events()
	events[1].Body, events[5].Body = &Prompt{System: "old"}, &Prompt{System: "new"}
	got := Select(events, Range{Last: 1})
	require.Equal(t, []int{5, 8, 9, 10}, kept(got))
	require.Equal(t, "new", got[0].Body.(*Prompt).System)
	require.Zero(t, got[0].Turn)
}

func TestSliceMapsReferences(t *testing.T) {
	events := words("T Q M. T Q q C1. B1 I1 A1 H1 L1 l1 M. G").events()
	events[5].Body.(*ChatRequest).Replaces = seq(4)
	events[14].Body = &Restored{AsOf: 10}
	events[3].Provider, events[3].Tree, events[3].Commit = []byte(`{"item":1}`), "7ree", "c0"
	got := Select(events, Range{Last: 1})
	require.Len(t, got, 12)
	for i, e := range got {
		require.Equal(t, i, e.Seq)
		require.Equal(t, 1, e.Turn)
		require.Equal(t, events[i+3].Time, e.Time)
		require.Equal(t, events[i+3].Type(), e.Type())
		require.Nil(t, e.Provider)
		require.Empty(t, e.Commit)
	}
	require.Equal(t, "7ree", got[0].Tree)
	require.Equal(t, 1, *got[2].Body.(*ChatRequest).Replaces)
	require.Equal(t, 4, *events[5].Body.(*ChatRequest).Replaces)
	require.Equal(t, 3, got[4].Body.(*ToolStarted).For)
	require.Equal(t, 3, got[5].Body.(*InquiryRequest).For)
	require.Equal(t, 5, got[6].Body.(*InquiryResponse).For)
	require.Equal(t, 3, got[7].Body.(*ToolCallResponse).For)
	require.Equal(t, 8, got[9].Body.(*InquiryResponse).For)
	require.Equal(t, 7, got[11].Body.(*Restored).AsOf)
	require.True(t, LedgerOf(got).Complete())

	twice := Select(got, Range{From: seq(1)})
	require.Equal(t, 4, *twice[1].Was, "the number in the first source stays")
}

// A withheld attachment stays withheld in a slice, and other events keep theirs if its own was cut.
func TestSliceMapsWhatIsWithheld(t *testing.T) {
	events := words("T Q M. T Q M. G").events()
	events[6].Body = &Withholding{For: 4, Attachments: []string{"a.png"}, Reason: "no images"}
	got := Select(events, Range{Last: 1})
	require.Equal(t, &Withholding{For: 1, Attachments: []string{"a.png"}, Reason: "no images"}, got[3].Body)
	require.Equal(t, 4, events[6].Body.(*Withholding).For, "the source is as it was")

	events[6].Body = &Withholding{For: 1, Attachments: []string{"a.png"}}
	for _, e := range Select(events, Range{Last: 1}) {
		require.NotEqual(t, TypeWithheld, e.Type(), "its event was cut")
	}
}

func TestSliceDropsAReplacedRequestThatWasCut(t *testing.T) {
	events := words("T Q q M.").events()
	events[2].Body.(*ChatRequest).Replaces = seq(1)
	got := Select(events, Range{From: seq(2)})
	require.Nil(t, got[1].Body.(*ChatRequest).Replaces)
}

func TestSliceOfTheSample(t *testing.T) {
	events := journaltest.Sample(t).Events()
	for n := range events {
		got := Select(events, Range{Until: seq(n)})
		require.Len(t, got, n+1)
		require.True(t, &got[0] == &events[0], "shared")
		requireLoads(t, got)
		requireLoads(t, Select(events, Range{From: seq(n)}))
	}
	_, tail := SplitTail(Select(events, Range{Last: 1}))
	require.Equal(t, StatusInput, tail.Status(), "the question waits in the copy, too")
}

func TestSliceOfAnything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		events := anyHistory().Draw(r, "h").events()
		cut := Range{First: rapid.IntRange(0, 3).Draw(r, "first"), Last: rapid.IntRange(0, 3).Draw(r, "last")}
		if rapid.Bool().Draw(r, "bounded") {
			cut.From, cut.Until = seq(rapid.IntRange(0, 14).Draw(r, "from")), seq(rapid.IntRange(0, 14).Draw(r, "until"))
		}
		got := Select(events, cut)
		requireLoads(r, got)
		for i, e := range got {
			if cut.Prefix() {
				require.True(r, e == events[i], "a prefix shares its events")
				continue
			}
			require.NotNil(r, e.Was, "nothing changes files here")
			require.Equal(r, events[*e.Was].Type(), e.Type())
			require.NotEqual(r, TypeTurnDiscarded, e.Type())
		}
	})
}

// requireLoads asserts that events are numbered densely, refer only to earlier events, and come through Split
// and the codec.
func requireLoads(t require.TestingT, events []*Event) {
	turn := 0
	for i, e := range events {
		require.Equal(t, i, e.Seq)
		require.True(t, e.Turn == turn || e.Turn == turn+1, "turn %d behind %d", e.Turn, turn)
		turn = e.Turn
		if b, ok := e.Body.(*ToolCallResponse); ok && e.Was != nil {
			require.Less(t, b.For, i)
		}
		line, err := EncodeHeader(e, NoText)
		require.NoError(t, err)
		_, _, err = DecodeHeader(line)
		require.NoError(t, err)
	}
	s, tail := SplitTail(events)
	require.Equal(t, len(events), JoinTail(s, tail).Len())
}

// TestSliceKeepsTheFiles cuts histories whose tools change files: every event of
// a slice finds the files that it found in the source, and only events that may
// do so change them.
func TestSliceKeepsTheFiles(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		events := anyHistory().Draw(r, "h").events()
		tree, gone := "t0", map[int]bool{}
		found := make([]string, len(events))
		for i, e := range events {
			found[i] = tree
			if e.Type().ChangesFiles() && rapid.Bool().Draw(r, "changes") {
				tree = fmt.Sprintf("t%d", i+1)
			}
			e.Tree = tree
			if b, ok := e.Body.(*TurnDiscarded); ok {
				for n := b.FromSeq; n <= b.ToSeq; n++ {
					gone[n] = true
				}
			}
		}
		cut := Range{First: rapid.IntRange(0, 3).Draw(r, "first"), Last: rapid.IntRange(0, 3).Draw(r, "last")}
		if rapid.Bool().Draw(r, "bounded") {
			cut.From, cut.Until = seq(rapid.IntRange(0, 14).Draw(r, "from")), seq(rapid.IntRange(0, 14).Draw(r, "until"))
		}
		got := Select(events, cut)
		for i, e := range got {
			require.Equal(r, i, e.Seq)
			if i == 0 || cut.Prefix() {
				continue
			}
			before := got[i-1].Tree
			if e.Tree != before {
				require.True(r, e.Type().ChangesFiles(), "%s changes the files", e.Type())
			}
			switch {
			case e.Was == nil:
				require.Equal(r, TypeWorkspace, e.Type())
				require.NotEqual(r, before, e.Tree)
			case e.Type() == TypeTurnStart && cut.From != nil && *e.Was < *cut.From:
				require.Equal(r, before, e.Tree, "the start of a turn that is cut into has the files of what follows")
			case e.Type() != TypeConfigDelta && e.Type() != TypeMetadata && (!gone[*e.Was] || e.Type().ChangesFiles()):
				require.Equal(r, found[*e.Was], before)
				require.Equal(r, events[*e.Was].Tree, e.Tree)
			}
		}
	})
}

func TestSliceStandsOnTheFiles(t *testing.T) {
	events := words("T Q C1. D1 M. T Q C1. D1 M. T Q M.").events()
	for i, e := range events {
		e.Tree = []string{"t0", "t1", "t2"}[boolInt(i >= 3)+boolInt(i >= 8)]
	}
	got := Select(events, Range{First: 1, Last: 1})
	require.Len(t, got, 9)
	require.Equal(t, &Workspace{Cut: true}, got[5].Body)
	require.Equal(t, "t2", got[5].Tree)
	require.Equal(t, events[10].Time, got[5].Time)
	require.Equal(t, 1, got[5].Turn)
	require.Equal(t, "t2", Select(events, Range{Last: 1})[0].Tree, "without anything before it there is nothing to stand for")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestCutEnds(t *testing.T) {
	events := words("G T Q M. T Q M. T Q M.").events()
	for _, c := range []struct {
		cut           Range
		first, newest int
	}{
		{Range{}, 0, 9}, {Range{First: 1}, 0, 3}, {Range{Last: 1}, 7, 9}, {Range{First: 1, Last: 1}, 0, 9},
		{Range{From: seq(4), Until: seq(6)}, 4, 6}, {Range{From: seq(4), First: 1}, 4, 6}, {Range{From: seq(2), Last: 9}, 2, 9},
	} {
		first, newest := c.cut.Ends(events)
		require.Equal(t, []int{c.first, c.newest}, []int{first.Seq, newest.Seq})
	}
	first, newest := Range{From: seq(6), Until: seq(4)}.Ends(events)
	require.Nil(t, first)
	require.Nil(t, newest)
}

// TestSlicesAreValid cuts every short valid history at every pair of places, and expects a valid history.
func TestSlicesAreValid(t *testing.T) {
	everyValid(t, 3, allWords, func(h history, s *Stream, _ Summary) {
		events := s.Events()
		for from := range events {
			for until := from; until < len(events); until++ {
				got := Select(events, Range{From: &from, Until: &until})
				if problems := Audit(got); len(problems) > 0 {
					t.Fatalf("%v from %d to %d: %v", h, from, until, problems)
				}
			}
		}
	})
}

// Instructions that go with a result go with its copy, and are cut with it.
func TestSliceMapsInstructions(t *testing.T) {
	events := words("T Q C1. D1 U M. T Q C1. D1 U M.").events()
	events[4].Body, events[10].Body = &Instructions{For: seq(3), Content: "a"}, &Instructions{For: seq(9), Content: "b"}
	got := Select(events, Range{Last: 1})
	require.Equal(t, &Instructions{For: seq(3), Content: "b"}, got[4].Body)
	require.Equal(t, 9, *events[10].Body.(*Instructions).For, "the source is as it was")
	events[10].Body = &Instructions{For: seq(3), Content: "a"}
	for _, e := range Select(events, Range{Last: 1}) {
		require.NotEqual(t, TypeInstructions, e.Type(), "its result was cut")
	}
}
