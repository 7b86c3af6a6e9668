package conversation_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
	"jp/internal/testing/journaltest"
)

func TestSummaryOfTheSample(t *testing.T) {
	events := journaltest.Sample(t).Events()
	s := Summarize(events)
	last := events[len(events)-1]
	require.Equal(t, "What does retry.go do?", s.Title)
	require.Equal(t, "request", s.TitleSource)
	require.Equal(t, events[0].Time, s.Created)
	require.Equal(t, last.Time, s.LastEventAt)
	require.Equal(t, journaltest.Model, s.Model)
	require.Equal(t, 3, s.Turns)
	require.Equal(t, len(events), s.Events)
	require.Equal(t, &Usage{Input: 480, Output: 136, CostUSD: "0.0084"}, s.Usage)
	require.Equal(t, StatusInput, s.Status)
	require.Equal(t, []OpenCall{{Seq: last.Seq - 5, ID: "call_4", Name: "shell_run", Started: true, Held: true}}, s.Open)
	require.Equal(t, &WaitingInquiry{
		Seq: last.Seq, For: last.Seq - 5, Kind: KindDeliverResult, Tool: "shell_run", Text: "Let the model see the result?",
	}, s.Inquiry)
}

func TestSummaryCountsWhatToolsAsked(t *testing.T) {
	s := Summarize([]*Event{
		{Body: &TurnStart{}},
		{Seq: 1, Body: &ToolCallRequest{Call: 1, CallEnd: CallEnd{Usage: &Usage{Input: 5, Output: 1, CostUSD: "0.1"}}}},
		{Seq: 2, Body: &ToolCallResponse{For: 1, Usage: &Usage{Input: 7, Output: 2, CostUSD: "0.2"}}},
	})
	require.Equal(t, &Usage{Input: 12, Output: 3, CostUSD: "0.3"}, s.Usage)
}

// TestSummaryNeedsOnlyTheOneBefore goes through the stored form at every step.
func TestSummaryNeedsOnlyTheOneBefore(t *testing.T) {
	events := journaltest.Sample(t).Events()
	var stored Summary
	for i, e := range events {
		line, err := EncodeSummary(stored.Next(e))
		require.NoError(t, err)
		stored, err = DecodeSummary(line)
		require.NoError(t, err)
		whole, err := EncodeSummary(Summarize(events[:i+1]))
		require.NoError(t, err)
		require.Equal(t, string(whole), string(line))
	}
}

func TestSummaryNextChangesNothingBehindItsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		events := anyHistory().Draw(r, "h").events()
		var sums []Summary
		var lines []string
		var s Summary
		for _, e := range events {
			s = s.Next(e)
			line, err := EncodeSummary(s)
			require.NoError(r, err)
			sums, lines = append(sums, s), append(lines, string(line))
		}
		for i := range sums {
			line, err := EncodeSummary(sums[i])
			require.NoError(r, err)
			require.Equal(r, lines[i], string(line), "summary %d was changed by a later one", i)
		}
	})
}

func TestSummaryTitle(t *testing.T) {
	request := func(text string) Body { return &ChatRequest{Content: text} }
	cases := []struct {
		name   string
		bodies []Body
		title  string
		source string
	}{
		{"first request", []Body{request("one"), request("two")}, "one", "request"},
		{"first line with text", []Body{request("\n \t\n  one\ntwo")}, "one", "request"},
		{"request without text", []Body{request("\n\x1b"), request("two")}, "two", "request"},
		{"long", []Body{request(strings.Repeat("word ", 30))}, strings.TrimSpace(strings.Repeat("word ", 11)) + "…", "request"},
		{"set", []Body{request("one"), &Metadata{Title: title("set"), TitleSource: "user"}, request("two")}, "set", "user"},
		{"set before", []Body{&Metadata{Title: title("set"), TitleSource: "user"}, request("one")}, "set", "user"},
		{"set to nothing", []Body{request("one"), &Metadata{Title: title(""), TitleSource: "user"}, request("two")}, "", "user"},
		{"escapes", []Body{request("\x1b[31mred\u202e")}, "[31mred", "request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s Summary
			for _, b := range c.bodies {
				s = s.Next(&Event{Body: b})
			}
			require.Equal(t, c.title, s.Title)
			require.Equal(t, c.source, s.TitleSource)
		})
	}
}

func TestSummaryMetadata(t *testing.T) {
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	s := Summary{}.Next(&Event{Body: &Metadata{
		PinnedAt: &OptionalTime{at}, ArchivedAt: &OptionalTime{at}, ExpiresAt: &OptionalTime{at}, Labels: map[string]string{"a": "b"}, Parent: "jp-c1752883200",
	}})
	require.Equal(t, []*time.Time{&at, &at, &at}, []*time.Time{s.PinnedAt, s.ArchivedAt, s.ExpiresAt})
	require.Equal(t, map[string]string{"a": "b"}, s.Labels)
	same := s.Next(&Event{Body: &Metadata{}})
	require.Equal(t, s.PinnedAt, same.PinnedAt, "what is not named stays")
	require.Equal(t, s.Labels, same.Labels)
	cleared := s.Next(&Event{Body: &Metadata{PinnedAt: &OptionalTime{}, Labels: map[string]string{}}})
	require.Nil(t, cleared.PinnedAt)
	require.Empty(t, cleared.Labels)
	require.NotNil(t, cleared.ArchivedAt)
	require.Equal(t, ID("jp-c1752883200"), cleared.Parent)

	fork := s.Next(&Event{Body: &ForkOrigin{Conversation: "jp-c1752883200", Seq: 4}})
	require.Equal(t, &ForkPoint{Conversation: "jp-c1752883200", Seq: 4}, fork.Fork)
	require.Nil(t, fork.ExpiresAt)
	require.Nil(t, fork.ArchivedAt)
	require.Nil(t, fork.PinnedAt)
}

func TestArchived(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []*Event
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			events = append(events, &Event{Body: rapid.SampledFrom([]Body{
				&Metadata{}, &Metadata{ArchivedAt: &OptionalTime{}}, &Metadata{ArchivedAt: &OptionalTime{start}}, &ForkOrigin{}, &ChatRequest{},
			}).Draw(t, "body")})
		}
		require.Equal(t, Summarize(events).ArchivedAt != nil, Archived(events))
	})
}

func TestSummaryModel(t *testing.T) {
	theirs, fork := &TurnStart{Model: "a/theirs"}, &ForkOrigin{}
	adopted := &ForkOrigin{Adopted: true}
	for name, c := range map[string]struct {
		bodies []Body
		want   string
	}{
		"asked":                {[]Body{theirs}, "a/theirs"},
		"forked":               {[]Body{theirs, fork}, "a/theirs"},
		"adopted":              {[]Body{theirs, adopted}, ""},
		"adopted, then forked": {[]Body{theirs, adopted, fork}, ""},
		"adopted, then asked":  {[]Body{theirs, adopted, &TurnStart{Model: "a/mine"}}, "a/mine"},
		"adopted, configured":  {[]Body{theirs, adopted, &ConfigDelta{Delta: []byte(`{"model":"a/mine"}`)}}, "a/mine"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Summary
			for _, b := range c.bodies {
				s = s.Next(&Event{Body: b})
			}
			require.Equal(t, c.want, s.Model)
		})
	}
}

func TestSummaryDiscardOfAnEarlierTurn(t *testing.T) {
	events := words("T Q C1. T Q C1.").events()
	s := Summarize(events)
	earlier := s.Next(&Event{Seq: 6, Body: &TurnDiscarded{FromSeq: 0, ToSeq: 2}})
	require.Equal(t, StatusTools, earlier.Status)
	own := s.Next(&Event{Seq: 6, Body: &TurnDiscarded{FromSeq: 3, ToSeq: 5}})
	require.Equal(t, StatusIdle, own.Status)
	require.Empty(t, own.Open)
}

func TestSummaryQueuesQuestions(t *testing.T) {
	events := words("T Q C1 C2. I1 I2 A1 D1").events()
	s := Summarize(events[:6])
	require.Equal(t, 4, s.Inquiry.Seq)
	require.Len(t, s.Queued, 1)
	s = Summarize(events)
	require.Equal(t, 5, s.Inquiry.Seq)
	require.Empty(t, s.Queued)
	require.Equal(t, StatusInput, s.Status)
}

func TestSummaryBoundsForeignNames(t *testing.T) {
	long := strings.Repeat("é", 100)
	s := Summarize([]*Event{{Body: &ToolCallRequest{Call: 1, ID: long, Name: long}}})
	require.Equal(t, strings.Repeat("é", 64), s.Open[0].Name)
	require.Len(t, s.Open[0].ID, 128)
}

// Exceeds is right about the encoded summary.
func TestSummaryExceeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Summary
		for seq := range rapid.IntRange(0, 40).Draw(t, "open") {
			s.Open = append(s.Open, OpenCall{
				Seq: seq, ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"),
				Started: rapid.Bool().Draw(t, "started"),
			})
		}
		line, err := EncodeSummary(s)
		require.NoError(t, err)
		require.False(t, s.Exceeds(len(line)), "%d bytes: %s", len(line), line)
		require.True(t, s.Exceeds(0) || len(s.Open) == 0)
	})
}

// TestSummaryIsStoredWhole has a value in every field.
func TestSummaryIsStoredWhole(t *testing.T) {
	zone := time.FixedZone("", 5*3600)
	at := func(n int) *time.Time { when := time.Date(2026, 11, 1, n, 0, 0, n, zone); return &when }
	s := Summary{
		Title: `a "title"`, TitleSource: "user", Created: *at(1), LastEventAt: *at(2), Model: "script/x", Turns: 3, Events: 1 << 40,
		Open: []OpenCall{{Seq: 4, ID: "c", Name: "n", Started: true, Held: true}}, Inquiry: &WaitingInquiry{Seq: 5, For: 4, Kind: KindRunTool, Tool: "n", Text: "é?"},
		Queued: []WaitingInquiry{{Seq: 6}}, Newest: "result", TurnAt: 7, ToolsCall: 8, Status: StatusInput, Usage: &Usage{Input: 9, CacheRead: 10, CostUSD: "0.1"},
		PinnedAt: at(3), ArchivedAt: at(4), ExpiresAt: at(5), Labels: map[string]string{"a": ""}, Parent: "jp-c1", Fork: &ForkPoint{"jp-c2", 0},
	}
	for i, v := 0, reflect.ValueOf(s); i < v.NumField(); i++ {
		require.False(t, v.Field(i).IsZero(), v.Type().Field(i).Name)
	}
	line, err := EncodeSummary(s)
	require.NoError(t, err)
	read, err := DecodeSummary(line)
	require.NoError(t, err)
	again, err := EncodeSummary(read)
	require.NoError(t, err)
	require.Equal(t, string(line), string(again))
	for _, times := range [][2]*time.Time{{&s.Created, &read.Created}, {&s.LastEventAt, &read.LastEventAt}, {s.PinnedAt, read.PinnedAt}, {s.ArchivedAt, read.ArchivedAt}, {s.ExpiresAt, read.ExpiresAt}} {
		require.True(t, times[0].Equal(*times[1]))
		*times[1] = *times[0] // another pointer to the same zone
	}
	require.Equal(t, s, read)
}

func TestDecodeSummaryRefuses(t *testing.T) {
	for _, line := range []string{``, `{"title":"a","title":"b"}`, `{"events":"x"}`, `[`, `{"events":1.5}`, `{"title":7}`, `{"created":"today"}`, `{"fork":[]}`, `{"labels":{"a":1}}`} {
		_, err := DecodeSummary([]byte(line))
		require.Error(t, err, line)
	}
}

// TestSummaryOfAPartBehindAResult has a call whose last words come after its tool's response: they are no
// answer.
func TestSummaryOfAPartBehindAResult(t *testing.T) {
	events := words("T Q C1 D1 M.").events()
	events[4].Body.(*ChatResponse).Call = events[2].Body.(*ToolCallRequest).Call
	require.Equal(t, StatusFollowUp, LedgerOf(events).Status())
	require.Equal(t, StatusFollowUp, Summarize(events).Status)
}

func TestSummaryOfASecondResultToAHeldCall(t *testing.T) {
	events := words("T Q C1. H1 D1").events()
	require.Equal(t, StatusInput, LedgerOf(events).Status())
	require.Equal(t, StatusInput, Summarize(events).Status)
}

func TestSummaryCanGoOnInTwoWays(t *testing.T) {
	s := Summarize(words("T Q C1 C2 C3 I1 I2 I3").events())
	for range 2 { // the slices have room to spare at one of these lengths
		s = s.Next(&Event{Seq: s.Events, Body: &ToolCallRequest{Call: 2, ID: "x"}})
		s = s.Next(&Event{Seq: s.Events, Body: &InquiryRequest{For: s.Events - 1}})
		left := s.Next(&Event{Seq: s.Events, Body: &ToolCallRequest{Call: 2, ID: "left"}})
		right := s.Next(&Event{Seq: s.Events, Body: &ToolCallRequest{Call: 2, ID: "right"}})
		require.Equal(t, "left", left.Open[len(left.Open)-1].ID)
		require.Equal(t, "right", right.Open[len(right.Open)-1].ID)
		left = s.Next(&Event{Seq: 98, Body: &InquiryRequest{For: 2}})
		right = s.Next(&Event{Seq: 99, Body: &InquiryRequest{For: 2}})
		require.Equal(t, 98, left.Queued[len(left.Queued)-1].Seq)
		require.Equal(t, 99, right.Queued[len(right.Queued)-1].Seq)
	}
}

// EncodeSummary writes by hand the output of the struct's tags.
func TestEncodeSummaryIsCanonicalJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Make[Summary]().Draw(t, "summary")
		s.Created, s.LastEventAt = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "created"), 5).UTC(), time.Unix(1<<31, 0)
		for _, at := range []**time.Time{&s.PinnedAt, &s.ArchivedAt, &s.ExpiresAt} {
			if *at != nil {
				*at = &s.Created
			}
		}
		marshalled, err := json.Marshal(s)
		require.NoError(t, err)
		want, wantErr := Canonical(marshalled)
		got, gotErr := EncodeSummary(s)
		require.Equal(t, wantErr, gotErr)
		require.Equal(t, string(want), string(got))
	})
}
