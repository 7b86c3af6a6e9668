package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
	"jp/process/attach"
)

func TestWhatHelpsWithABusyConversation(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	tests := map[string][]string{
		"query More":           {"attach ID", "query --fork --discard-turn --id=ID Text", "query --new Text", "query --no-persist --id=ID Text", "kill ID"},
		"query --detach More":  {"attach ID", "query --fork --discard-turn --id=ID Text", "query --new Text", "query --no-persist --id=ID Text", "kill ID"},
		"continue":             {"attach ID", "kill ID"},
		"discard":              {"attach ID", "kill ID"},
		"query --discard-turn": {"attach ID", "kill ID"},
		"edit --pin":           {"attach ID", "fork ID", "kill ID"},
		"archive":              {"attach ID", "fork ID", "kill ID"},
		"rm -y " + string(id):  {"attach ID", "fork ID", "kill ID"},
		"undo -y":              {"attach ID", "fork ID", "kill ID"},
		"restore -y @0":        {"attach ID", "fork ID", "kill ID"},
	}
	for line, want := range tests {
		out := p.jp(append(words(line), "--json")...)
		require.Equal(t, exitLocked, out.exit, "%s: %s", line, out.stderr)
		for i := range want {
			want[i] = "jp " + strings.ReplaceAll(want[i], "ID", string(id))
		}
		hints := out.hints(t)
		require.Equal(t, want, hints, line)
		p.understood(hints)
	}
	said := p.jp("query", "More").stderr
	require.Regexp(t, `^Error: Conversation `+string(id)+` is locked by pid \d+ \(detached, running \d+ (s|min)\)\.\n\n    jp attach `, said)
}

// understood checks that commands are such that jp takes.
func (p *place) understood(commands []string) {
	p.t.Helper()
	for _, command := range commands {
		out := p.jp(append(words(command)[1:], "--help")...)
		require.Zero(p.t, out.exit, "%s: %s", command, out.stderr)
	}
}

// TestThatItHelps runs what the error lists.
func TestThatItHelps(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	p.write("../else.toml", strings.Repeat("[[reply]]\nmessage = \"Elsewhere.\"\n", 3))
	hints := p.jp("query", "--json", "More").hints(t)
	require.Len(t, hints, 5)
	for _, command := range hints[1:4] {
		out := p.jp(append(words(command)[1:], "-m", "script/../else.toml")...)
		require.Zero(t, out.exit, out.stderr)
		require.Equal(t, "Elsewhere.\n", out.stdout)
	}
	require.Zero(t, p.jp("use", string(id)).exit)
	require.Zero(t, p.jp(words(hints[4])[1:]...).exit)
	require.Contains(t, p.jp("ls").stdout, "interrupted")
	require.Zero(t, p.jp("verify", "--all").exit)
}

func TestWhatABusyConversationWaitsFor(t *testing.T) {
	t.Parallel()
	p, id := asking(t)
	said := p.jp("query", "More").stderr
	require.Regexp(t, `\n  It waits for an answer: fs_create_file — "[^"]+"\n\n    jp attach `, said)
	hints := p.jp("query", "--json", "More").hints(t)
	require.Equal(t, "jp answer "+string(id), hints[1])
	p.understood(hints)
	for range 2 {
		require.Zero(t, p.jp(append(words(hints[1])[1:], "n")...).exit)
		require.Contains(t, []int{0, exitDecision}, p.jp("wait").exit)
	}
	require.Empty(t, p.untracked())
	require.Contains(t, p.jp("ls").stdout, "idle")
}

func TestHolderWords(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) process.Holder { return process.Holder{PID: 7, Started: now.Add(-d)} }
	detached := ago(3 * time.Minute)
	detached.Detached = true
	for want, holder := range map[string]process.Holder{
		"":                           {PID: 7},
		" (detached)":                {PID: 7, Detached: true},
		" (running 3 min)":           ago(3 * time.Minute),
		" (detached, running 3 min)": detached,
		" (running 1 s)":             ago(-time.Minute), // another clock
	} {
		require.Equal(t, want, holderWords(holder, now))
	}
}

func TestHintsForAnswers(t *testing.T) {
	t.Parallel()
	option := conversation.Option{Value: []byte(`"a"`)}
	for name, tt := range map[string]struct {
		inquiry *attach.Inquiry
		want    string
	}{
		"none":            {nil, ""},
		"a permission":    {&attach.Inquiry{Kind: conversation.KindRunTool}, "y, n or a: answer its question"},
		"for a person":    {&attach.Inquiry{Kind: conversation.KindRunTool, Exclusive: true}, "y or n: answer its question"},
		"one of several":  {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "select", Options: []conversation.Option{option, option}}}, "1 to 2: answer its question"},
		"any text":        {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "text"}}, "a text: answer its question"},
		"yes or no, says": {&attach.Inquiry{Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "boolean"}}, "y or n: answer its question"},
	} {
		h := holding{LockedError: process.LockedError{ID: someID}, reachable: true, inquiry: tt.inquiry}
		var got string
		for _, hint := range h.reaching(&failure{}).hints[1:] {
			require.Equal(t, "jp answer "+string(someID), hint.Command, name)
			got += hint.Text
		}
		require.Equal(t, tt.want, got, name)
		h.reachable = false
		require.Empty(t, h.reaching(&failure{}).hints, name)
	}
}
