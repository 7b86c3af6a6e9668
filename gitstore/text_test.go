package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// say is a chain of messages of the model.
func say(texts ...string) []*conversation.Event {
	var events []*conversation.Event
	for i, text := range texts {
		events = append(events, &conversation.Event{
			Seq: i, Turn: 1, Time: when, Model: "script/fixed",
			Body: &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: text},
		})
	}
	return events
}

func textOf(t *testing.T, e *conversation.Event) string {
	t.Helper()
	text, has := e.Text()
	require.True(t, has)
	return text
}

// message cuts a commit by the format alone.
func message(commit []byte) string {
	_, msg, _ := bytes.Cut(commit, []byte("\n\n"))
	return string(msg)
}

const tail = "\nJp-Event: chat_response\nJp-Turn: 1\nJp-Seq: 0\n"

func TestWhereTheTextStands(t *testing.T) {
	scissors := "# ------------------------ >8 ------------------------\n"
	wide := strings.Repeat("w", conversation.SubjectColumns-len("assistant: "))
	tests := []struct{ name, text, span, message string }{
		{"in the subject", "hello", "[11,5]", "assistant: hello\n"},
		{"fills the subject", wide, "[11,61]", "assistant: " + wide + "\n"},
		{"too wide", wide + "w", "[76,62]", "assistant: " + wide[1:] + "…\n\n" + wide + "w\n"},
		{"empty", "", "[20,0]", "assistant: (no text)\n"},
		{"two lines", "a\nb", "[14,3]", "assistant: a\n\na\nb\n"},
		{"line feeds", "\n\n", "[22,2]", "assistant: (no text)\n\n\n\n\n"},
		{"divider", "---", "[11,3]", "assistant: ---\n"},
		{"divider below", "a\n---\nb", "[14,7]", "assistant: a\n\na\n---\nb\n"},
		{"CRLF", "a\r\nb\r\n", "[14,6]", "assistant: a\n\na\r\nb\r\n\n"},
		{"trailing blanks", "a  ", "[14,3]", "assistant: a\n\na  \n"},
		{"scissors", scissors + "x", "[67,56]", "assistant: " + scissors + "\n" + scissors + "x\n"},
		{"like trailers", "a\n\nJp-Event: turn_start\nJp-Seq: 9", "[14,33]", "assistant: a\n\na\n\nJp-Event: turn_start\nJp-Seq: 9\n"},
	}
	f := newFixture(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := f.create(i, say(tt.text))
			commit := f.raw(string(head))
			require.Equal(t, tt.message+tail, message(commit))
			require.Contains(t, string(commit), `"text":`+tt.span)
			got, err := f.load(i)
			require.NoError(t, err)
			require.Equal(t, tt.text, textOf(t, got[0]))
		})
	}
	fsck(t, f.dir)
}

func TestLongTexts(t *testing.T) {
	lines := strings.Repeat("0123456789abcde\n", 100<<10/16)
	rune3 := strings.Repeat("界", 30<<10)
	tests := []struct {
		name, text string
		body       int // bytes of it in the message
	}{
		{"below the limit", strings.Repeat("x", 64<<10-1), 64<<10 - 1},
		{"at the limit", strings.Repeat("x", 64<<10), 64 << 10},
		{"over the limit", strings.Repeat("x", 64<<10+1), 16 << 10},
		{"cut at a line", "x" + lines, 16<<10 - 15},
		{"cut at a rune", rune3, 16<<10 - 1},
		{"cut behind an empty line", "\n" + strings.Repeat("x", 100<<10), 16 << 10},
	}
	f := newFixture(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := f.create(i, say(tt.text))
			got, err := f.load(i)
			require.NoError(t, err)
			require.True(t, tt.text == textOf(t, got[0]))
			require.Contains(t, string(f.raw(string(head))), fmt.Sprintf(",%d],", tt.body))
			require.Contains(t, message(f.raw(string(head))), "\n\n"+tt.text[:tt.body]+"\n\nJp-Event:")
			require.False(t, got[0].Lossy)
			p := got[0].Payload(conversation.PayloadText)
			if tt.body == len(tt.text) {
				require.Nil(t, p)
				return
			}
			sum := sha256.Sum256([]byte(tt.text))
			require.Equal(t, hex.EncodeToString(sum[:]), p.SHA256)
			require.Equal(t, int64(len(tt.text)), p.Bytes)
			require.Equal(t, tt.text, f.git("cat-file", "blob", p.OID)+strings.Repeat("\n", len(tt.text)-len(strings.TrimRight(tt.text, "\n"))))
		})
	}
}

func TestLossyTexts(t *testing.T) {
	f := newFixture(t)
	for i, text := range []string{"a\x00b", "latin \xe9!", "\x00\xff", "\xff"} {
		head := f.create(i, say(text))
		got, err := f.load(i)
		require.NoError(t, err)
		require.Equal(t, text, textOf(t, got[0]), "the exact bytes come back")
		require.True(t, got[0].Lossy)
		shown := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\u2400")
		require.Contains(t, message(f.raw(string(head))), "\n\n"+shown+"\n\nJp-Event:")
	}
	fsck(t, f.dir)
}

// Any bytes come back, and are stored the same way when they are written again.
func TestAnyTextComesBack(t *testing.T) {
	f := newFixture(t)
	comesBack := func(t require.TestingT, want ...string) {
		head, err := f.Create(context.Background(), journaltest.ID(1), "", say(want...))
		require.NoError(t, err)
		got, err := f.Load(context.Background(), head)
		require.NoError(t, err)
		for i := range want {
			text, _ := got[i].Text()
			require.Equal(t, want[i], text)
		}
		copied, err := f.Create(context.Background(), journaltest.ID(2), "", got)
		require.NoError(t, err)
		for n := range 2 { // their ids are free again
			require.NoError(t, f.Delete(context.Background(), journaltest.ID(n+1), []conversation.Head{head, copied}[n]))
		}
		require.Equal(t, head, copied)
	}
	comesBack(t, "two  spaces", " one before", "one behind ", "a\tb")
	rapid.Check(t, func(r *rapid.T) {
		comesBack(r, rapid.String().Draw(r, "text"), string(rapid.SliceOf(rapid.Byte()).Draw(r, "bytes")),
			rapid.StringOf(rapid.RuneFrom([]rune("\n\r \t-#:Jp\x00é"))).Draw(r, "lines"))
	})
}

func TestLargeEvents(t *testing.T) {
	f := newFixture(t)
	for i, e := range []*conversation.Event{
		bigEvent(0, strings.Repeat("40 MiB\n", 40<<20/7)),
		{Time: when, Body: &conversation.ChatRequest{Content: "see"}, Payloads: []conversation.Payload{{Name: "film", Data: make([]byte, 40<<20)}}},
	} {
		f.create(i, []*conversation.Event{e})
		got, err := f.load(i)
		require.NoError(t, err)
		want, _ := e.Text()
		require.True(t, want == textOf(t, got[0]))
	}
	head := f.create(5, journaltest.Turn(t, "hello", "hi"))
	before := f.git("count-objects", "-v") + f.git("for-each-ref")
	for _, e := range []*conversation.Event{
		bigEvent(3, strings.Repeat("x", 50<<20+1)),
		{Seq: 3, Time: when, Body: &conversation.Note{Content: "x"}, Payloads: []conversation.Payload{
			{Name: "a", Data: make([]byte, 26<<20)}, {Name: "b", Data: make([]byte, 26<<20)},
		}},
		{Seq: 3, Time: when, Body: &conversation.TurnStart{JP: strings.Repeat("x", 64<<10)}},
	} {
		_, err := f.Append(t.Context(), journaltest.ID(5), head, []*conversation.Event{e})
		require.ErrorIs(t, err, conversation.ErrTooLarge)
	}
	require.Equal(t, before, f.git("count-objects", "-v")+f.git("for-each-ref"), "nothing was written")
}
