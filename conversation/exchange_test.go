package conversation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

func TestExchangeRoundTrip(t *testing.T) {
	kept := Payload{Name: "a.png", MediaType: "image/png", Data: []byte("\x89PNG")}
	for _, kind := range allTypes {
		t.Run(string(kind), rapid.MakeCheck(func(r *rapid.T) {
			e := anyEvent(r, kind)
			e.Needs, e.Payloads = nil, []Payload{kept, {Name: PayloadText, Data: []byte("again")}, {Name: "lost.png", OID: "0b"}}
			e.Subject, e.Author, e.Model, e.Provider = "a subject", "Ada", "a/b", []byte(`{"item":1}`)
			if _, has := e.Text(); has && kind == TypeNote {
				e.SetText(rapid.SampledFrom([]string{"", "text", "\x00 and \xff", "</script>"}).Draw(r, "text"))
			}
			both := []Attachment{{Name: kept.Name}, {Name: "lost.png"}}
			switch b := e.Body.(type) {
			case *ChatRequest:
				b.Attachments = both
			case *ToolCallResponse:
				b.Attachments = both
			}
			line, err := EncodeExchange(e)
			require.NoError(r, err)
			require.NotContains(r, string(line), "\n")
			back, err := DecodeExchange(line)
			require.NoError(r, err, "%s", line)

			e.Payloads = []Payload{kept}
			switch b := e.Body.(type) {
			case *ChatRequest:
				b.Attachments = both[:1]
			case *ToolCallResponse:
				b.Attachments = both[:1]
			}
			require.Equal(r, e, back)
		}))
	}
}

func TestExchangeRefusesWhatItCannotKeep(t *testing.T) {
	header := `{"header":{"v":1,"type":"note","turn":1,"seq":3,"time":"2025-07-19T14:00:00Z","text":[0,3]}`
	_, err := DecodeExchange([]byte(header + `,"text":"hey"}`))
	require.NoError(t, err)
	for name, line := range map[string]string{
		"no header":             `{"text":"hey"}`,
		"another version":       strings.Replace(header, `"v":1`, `"v":2`, 1) + `}`,
		"an unknown type":       strings.Replace(header, "note", "hologram", 1) + `}`,
		"an unknown need":       strings.Replace(header, `"v":1`, `"v":1,"needs":["hologram"]`, 1) + `}`,
		"a text without a type": strings.Replace(header, `,"text":[0,3]`, "", 1) + `,"text":"hey"}`,
		"payload of jp's own":   header + `,"payloads":[{"name":"text","data":""}]}`,
		"payload twice":         header + `,"payloads":[{"name":"a","data":""},{"name":"a","data":""}]}`,
		"payload without bytes": header + `,"payloads":[{"name":"a","data":"?"}]}`,
		"damaged state":         header + `,"provider":{"a":1,"a":2}}`,
	} {
		_, err := DecodeExchange([]byte(line))
		require.Error(t, err, name)
	}
}

// References of a detached event are mapped to the new places.
func TestDetach(t *testing.T) {
	seq := func(n int) *int { return &n }
	for _, c := range []struct{ body, want Body }{
		{&ToolCallResponse{For: 4, Changed: []FileChange{{Path: "a"}}, Unrecorded: []string{"a"}}, &ToolCallResponse{For: 5}},
		{&ToolStarted{For: 4, PGID: 7, Child: "jp-c17528832001-k3f9"}, &ToolStarted{For: 5}},
		{&InquiryResponse{For: 4}, &InquiryResponse{For: 5}},
		{&ChatRequest{Replaces: seq(2)}, &ChatRequest{Replaces: seq(3)}},
		{&Instructions{For: seq(2)}, &Instructions{For: seq(3)}},
		{&TurnDiscarded{FromSeq: 1, ToSeq: 4}, &TurnDiscarded{FromSeq: 2, ToSeq: 5}},
		{&Compaction{FromSeq: 1, ToSeq: 4, Trimmed: []int{2}, Items: []SummaryItem{{Cites: []int{1, 3}}}}, &Compaction{FromSeq: 2, ToSeq: 5, Trimmed: []int{3}, Items: []SummaryItem{{Cites: []int{2, 4}}}}},
		{&ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 4, Adopted: true}, &ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 4}},
		{&TurnStart{Approved: ApproveAll()}, &TurnStart{}},
		{&Metadata{Parent: "jp-c17528832001-k3f9", ExpiresAt: &OptionalTime{}}, &Metadata{}},
	} {
		e := &Event{Seq: 6, Body: c.body, Tree: "0a", Commit: "0b", Git: &Git{Head: "0c"}}
		e.Detach(1)
		require.Equal(t, &Event{Seq: 7, Was: seq(6), Body: c.want}, e)
	}
}

func FuzzDecodeExchange(f *testing.F) {
	f.Add([]byte(`{"header":{"v":1,"type":"note","turn":1,"seq":3,"time":"2025-07-19T14:00:00Z","text":[0,3]},"text":"hey","payloads":[{"name":"a","data":"YQ=="}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := DecodeExchange(line)
		if err != nil {
			return
		}
		again, err := EncodeExchange(e)
		require.NoError(t, err)
		_, err = DecodeExchange(again)
		require.NoError(t, err)
	})
}
