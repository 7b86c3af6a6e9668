package journaltest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// texts must survive a store byte for byte.
var texts = map[string]string{
	"empty":          "",
	"one line":       "hello",
	"line feeds":     "\n\nhello\n\n\n",
	"carriage":       "a\r\nb\rc\r\n",
	"blanks":         "  two  \t\n ",
	"like trailers":  "subject\n\nJp-Event: turn_start\nJp-Seq: 7\n",
	"like a header":  "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nx",
	"comment":        "# not a comment\n; nor this",
	"unicode":        "héllo 世界 \u2028 \u202e \U0001f600 e\u0301",
	"replacement":    "\ufffd and \u2400",
	"controls":       "\x1b[31mred\x1b[0m\a\x7f\x01",
	"NUL":            "a\x00b\x00",
	"not UTF-8":      "\xff\xfe latin \xe9 cut \xe4\xb8",
	"both":           "\x00\xff",
	"at the limit":   strings.Repeat("x", 64<<10),
	"over the limit": strings.Repeat("y", 64<<10+1),
	"big":            strings.Repeat("line of a big text, 世界\n", 4000),
	"big NUL":        strings.Repeat("\x00\n", 50_000),
	"big one line":   strings.Repeat("é", 50_000),
}

func testTexts(t *testing.T, j conversation.Journal) {
	s := NewScript(t)
	want := map[int]string{}
	for _, text := range texts {
		s.Turn(text).Calls("c", "shell_run", `{}`, true)
		want[s.Stream.Len()-2] = text
		s.Returns("c", text)
		want[s.Stream.Len()-1] = text
		s.Says(text)
		want[s.Stream.Len()-1] = text
	}
	create(t, j, ID(1), s.Events())
	got := load(t, j, ID(1))
	requireSame(t, s.Events(), got)
	for seq, text := range want {
		stored, has := got[seq].Text()
		require.True(t, has)
		require.True(t, text == stored, "%.60q came back as %.60q", text, stored)
	}
}

func testPayloads(t *testing.T, j conversation.Journal) {
	image := append([]byte("\x89PNG\r\n\x1a\n\x00"), make([]byte, 5000)...)
	sum := sha256.Sum256(image)
	s := NewScript(t)
	turn := s.Stream.StartTurn(conversation.TurnStart{}, conversation.ChatRequest{Content: "see these"})
	require.NoError(t, turn.Build(Store))
	e := s.Stream.Last()
	e.Body.(*conversation.ChatRequest).Attachments = []conversation.Attachment{
		{Name: "a.png", MediaType: "image/png"}, {Name: "notes/b.txt", MediaType: "text/plain", Path: "notes/b.txt"},
	}
	e.Payloads = []conversation.Payload{
		{Name: "a.png", MediaType: "image/png", Data: image},
		{Name: "notes/b.txt", MediaType: "text/plain", Data: []byte("b\n")},
	}
	create(t, j, ID(1), s.Events())

	got := load(t, j, ID(1))[1]
	require.Equal(t, e.Body.(*conversation.ChatRequest).Attachments, got.Body.(*conversation.ChatRequest).Attachments)
	p := got.Payload("a.png")
	require.NotNil(t, p)
	require.Equal(t, "image/png", p.MediaType)
	require.Equal(t, int64(len(image)), p.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), p.SHA256)
	data, ok, err := j.Payload(t.Context(), *p)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, image, data)
	data, ok, err = j.Payload(t.Context(), *got.Payload("notes/b.txt"))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "b\n", string(data))

	absent := *p
	absent.OID = string(unknownHead)
	_, ok, err = j.Payload(t.Context(), absent)
	require.NoError(t, err, "an absent payload is no error")
	require.False(t, ok)
}

func testUnknown(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	lines := []string{
		`{"seq":3,"time":"2025-07-19T15:00:00.000000001Z","turn":1,"type":"hologram","v":1,"x":{"b":1.0,"a":[1e400]},"text":[0,0]}`,
		`{"delta_of":7,"seq":4,"time":"2025-07-19T15:00:01.000000002Z","turn":1,"type":"config_delta","v":1,"big":9007199254740993}`,
	}
	want := s.Events()
	for i, line := range lines {
		e, _, err := conversation.DecodeHeader([]byte(line))
		require.NoError(t, err)
		e.SetText([]string{"what it shows", `{"model":"a/b"}`}[i])
		head, err = j.Append(t.Context(), ID(1), head, []*conversation.Event{e})
		require.NoError(t, err)
		want = append(want[:len(want):len(want)], e)
	}
	got := load(t, j, ID(1))
	requireSame(t, want, got)
	require.Contains(t, header(t, got[3]), `"x":{"b":1.0,"a":[1e400]}`)
	require.Contains(t, header(t, got[4]), `"big":9007199254740993`)
	require.Equal(t, conversation.Type("hologram"), got[3].Type())
}

func testEnvelope(t *testing.T, j conversation.Journal) {
	events := Sample(t).Events()
	was := 7
	at := time.Date(1999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	events[2].Time = at // the clock went backwards
	events[2].Was, events[2].Signed = &was, true
	events[2].Git = &conversation.Git{Head: string(unknownHead), HeadWas: "f00d", Branch: "main", Worktree: "w", Repo: "r"}
	create(t, j, ID(1), events)
	got := load(t, j, ID(1))
	requireSame(t, events, got)
	require.True(t, at.Equal(got[2].Time))
	require.Equal(t, &was, got[2].Was)
	require.Equal(t, events[2].Git, got[2].Git)
	for i := range events {
		require.Equal(t, events[i].Turn, got[i].Turn)
		require.True(t, got[i].Signed)
	}
}
