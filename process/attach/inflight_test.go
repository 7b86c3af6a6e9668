package attach_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

// delta is text of event 0.
func delta(call, at int, text string) attach.Delta {
	return attach.Delta{Call: call, Part: conversation.PartMessage, At: at, Text: text}
}

// inFlight is the unfinished text for a new client.
func inFlight(r *rig) (first int, text string, deltas []*attach.Delta) {
	c := r.connect()
	defer c.Close()
	synctest.Wait()
	r.Noticed("that is all")
	for {
		m, err := c.Next()
		require.NoError(r.t, err)
		d, ok := m.(*attach.Delta)
		if !ok {
			return first, text, deltas
		}
		if len(deltas) == 0 {
			first = d.At
		}
		require.Equal(r.t, first+len(text), d.At)
		text, deltas = text+d.Text, append(deltas, d)
	}
}

var (
	long = strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	half = long[:len(long)/2]
)

// speeches are texts that a server streams.
var speeches = []struct {
	name  string
	speak func(r *rig)
	want  string // of all that was said
	cut   bool   // the front may be missing
}{
	{"nothing", func(*rig) {}, "", false},
	{"pieces that follow each other", func(r *rig) {
		r.Streamed(delta(1, 0, "ab"))
		r.Streamed(delta(1, 2, "cd"))
	}, "abcd", false},
	{"as much as is kept", func(r *rig) { r.Streamed(delta(1, 0, long)) }, long, false},
	{"more at once", func(r *rig) { r.Streamed(delta(1, 0, half+long)) }, half + long, true},
	{"more by and by", func(r *rig) {
		for at := 0; at < len(long); at += 1 << 10 {
			r.Streamed(delta(1, at, long[at:at+1<<10]))
		}
		r.Streamed(delta(1, len(long), half))
	}, long + half, true},
	{"a call that was made again", func(r *rig) {
		r.Streamed(delta(1, 0, long))
		r.Streamed(delta(2, 0, "better"))
	}, "better", false},
	{"text that became durable", func(r *rig) {
		r.Streamed(delta(1, 0, "gone"))
		r.Streamed(attach.Delta{Seq: 1, Call: 1, Part: conversation.PartMessage, Text: "next"})
		r.record(&conversation.Note{Content: "n"})
	}, "next", false},
	{"text that an event did not make durable", func(r *rig) {
		r.Streamed(attach.Delta{Seq: 1, Call: 1, Part: conversation.PartMessage, Text: half})
		r.record(&conversation.Note{Content: "n"})
		r.Streamed(attach.Delta{Seq: 1, Call: 1, Part: conversation.PartMessage, At: len(half), Text: long})
	}, half + long, true},
	{"room that was made by durable text", func(r *rig) {
		r.Streamed(delta(1, 0, long))
		r.record(&conversation.Note{Content: "n"})
		r.Streamed(attach.Delta{Seq: 1, Call: 1, Part: conversation.PartMessage, Text: long})
	}, long, false},
}

func TestTextInFlight(t *testing.T) {
	for _, c := range speeches {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{})
				c.speak(r)
				first, text, _ := inFlight(r)
				require.Equal(t, c.cut, first > 0)
				require.True(t, text == c.want[first:], "%d bytes from %d on", len(text), first)
				require.LessOrEqual(t, len(text), 1<<20)
				require.GreaterOrEqual(t, len(text), min(len(c.want), 1<<20-64<<10), "no more is cut than must be")
			})
		})
	}
}

func TestPartsInFlightAreKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		said := []attach.Delta{
			{Seq: 1, Call: 1, Part: conversation.PartMessage, Text: "wh"},
			{Seq: 0, Call: 1, Part: conversation.PartMessage, Text: "so"},
			{Seq: 1, Call: 1, Part: conversation.PartMessage, At: 2, Text: "at"},
			{Seq: 1, Call: 1, Part: conversation.PartReasoning, At: 4, Text: "ever"},
			{Seq: 1, Call: 1, Part: conversation.PartReasoning, At: 9, Text: "behind a gap"},
		}
		for _, d := range said {
			r.Streamed(d)
		}
		c := r.connect()
		for _, d := range said {
			require.Equal(t, &d, next[*attach.Delta](t, c))
		}
	})
}

func TestRunesAreNotSplit(t *testing.T) {
	for _, rune := range []string{"é", "€", "😀"} {
		for shift := range len(rune) {
			text := strings.Repeat(".", shift) + strings.Repeat(rune, 100_000)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{})
				r.Streamed(delta(1, 0, text))
				_, got, deltas := inFlight(r)
				require.True(t, got == text)
				require.Greater(t, len(deltas), 1)
				for _, d := range deltas {
					require.True(t, utf8.ValidString(d.Text))
					require.NotContains(t, d.Text, string(utf8.RuneError))
				}
			})
		}
	}
}

func TestTextThatJSONMakesLongFitsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{Doing: func() attach.Status {
			return attach.Status{Tool: strings.Repeat("\x00", 1<<20), Subject: strings.Repeat("\x01", 1<<20)}
		}})
		worst := strings.Repeat("\x01", 1<<20)
		reader := r.connect()
		settle(t, reader)
		q := question(0)
		q.Text, q.Detail, q.Tool, q.Subject = worst, worst, worst, worst
		q.AnswerType.Options = []conversation.Option{{Value: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}}
		q.Command = []string{"rm", worst}
		p := r.Ask(q)
		got := next[*attach.Inquiry](t, reader)
		require.Len(t, got.Detail, 64<<10+len("…"))
		require.Nil(t, got.Command, "a part of a command would be another one")
		p.Withdraw()
		r.Noticed(worst)
		require.NotEmpty(t, next[*attach.Notice](t, reader).Text)
		r.Recorded([]*conversation.Event{{Subject: worst, Body: &conversation.InquiryResponse{Outcome: conversation.OutcomeDeclined}}})
		require.NotEmpty(t, next[*attach.Event](t, reader).Subject)
		require.NotEmpty(t, next[*attach.Answered](t, reader).Words)
		go r.Close(attach.Closing{Reason: worst, Text: worst})
		require.NotEmpty(t, next[*attach.Closing](t, reader).Text)
	})
}
