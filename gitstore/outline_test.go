package gitstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// TestOutline compares with a load: only the texts of answers and results differ, of which the outline has
// the beginning, in whole characters. The user's own commits lie below.
func TestOutline(t *testing.T) {
	f := newFixture(t)
	text := strings.Repeat("aé", 5000)
	base := f.git("commit-tree", "-m", "the user's", f.git("hash-object", "-t", "tree", "-w", "/dev/null"))
	head, err := f.Create(t.Context(), journaltest.ID(1), base, []*conversation.Event{
		{Body: &conversation.TurnStart{Model: "script/x", JP: "0"}, Turn: 1},
		{Seq: 1, Turn: 1, Body: &conversation.ChatRequest{Content: text}},
		{Seq: 2, Turn: 1, Body: &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: text}},
		{Seq: 3, Turn: 1, Body: &conversation.ToolCallRequest{Call: 1, ID: "c", Name: "n", Arguments: []byte(`{}`), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}}},
		{Seq: 4, Turn: 1, Body: &conversation.ToolCallResponse{For: 3, ID: "c", Name: "n", Content: text, Changed: []conversation.FileChange{{Path: "f"}}}},
		{Seq: 5, Turn: 1, Body: &conversation.ChatResponse{Call: 2, Part: conversation.PartMessage, Text: "so", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}},
	})
	require.NoError(t, err)
	whole, err := f.Load(t.Context(), head)
	require.NoError(t, err)
	outline, err := f.LoadOutline(t.Context(), head)
	require.NoError(t, err)
	require.Equal(t, commits(whole), commits(outline))
	cut := 0
	for i, e := range whole {
		had, _ := e.Text()
		has, _ := outline[i].Text()
		if had != has {
			cut++
			require.Equal(t, text[:64], has+text[len(has):64])
			require.GreaterOrEqual(t, len(has), 62)
			e.SetText(has)
		}
		e.Payloads, outline[i].Payloads = nil, nil
		require.Equal(t, e, outline[i])
	}
	require.Equal(t, 2, cut)
}

// TestOutlineAboveOtherCommits reads ahead of the first event, into the user's commits.
func TestOutlineAboveOtherCommits(t *testing.T) {
	f := newFixture(t)
	base := ""
	tree := f.git("hash-object", "-t", "tree", "-w", "/dev/null")
	for i := range 30 {
		args := []string{"commit-tree", "-m", fmt.Sprint(i), tree}
		if base != "" {
			args = append(args, "-p", base)
		}
		base = f.git(args...)
	}
	head, err := f.Create(t.Context(), journaltest.ID(1), base, long(300))
	require.NoError(t, err)
	for range 20 {
		outline, err := f.again().LoadOutline(t.Context(), head)
		require.NoError(t, err)
		require.Len(t, outline, 300)
	}
}
