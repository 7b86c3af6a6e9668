package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore/odb"
)

var source = sync.OnceValues(func() (string, error) { return readCorpus(goSource(), 4<<20) })

func corpus(t *testing.T) string {
	t.Helper()
	text, err := source()
	require.NoError(t, err)
	return text
}

// meanBytes is the mean length of the texts, and of their lines.
func meanBytes(t *testing.T, events []*conversation.Event) (said, lines float64) {
	t.Helper()
	for _, e := range events {
		text, _ := e.Text()
		said += float64(len(text))
		line, err := encodeLine(e)
		require.NoError(t, err)
		lines += float64(len(line))
	}
	n := float64(len(events))
	return said / n, lines / n
}

func TestMixIsOfTheUsualSize(t *testing.T) {
	said, lines := meanBytes(t, newMix(corpus(t), 1).take(10_000))
	require.InDelta(t, 1_100, said, 100)
	require.InDelta(t, 1_400, lines, 150)

	said, lines = meanBytes(t, newMix(corpus(t), long2KB).take(3_000))
	require.Greater(t, said, 2_000.0)
	require.Greater(t, lines, 2_000.0)
}

func TestMixIsTheSameEachTime(t *testing.T) {
	a, b := newMix(corpus(t), 1), newMix(corpus(t), 1)
	one := append(a.take(3), a.take(20)...)
	require.Equal(t, b.take(23), one)
	for i, e := range one {
		require.Equal(t, i, e.Seq)
	}
}

func TestMixOfAnotherTime(t *testing.T) {
	a, b := newMix(corpus(t), 1), newMix(corpus(t), 1).later(time.Hour)
	for range 50 {
		one, other := a.take(1)[0], b.take(1)[0]
		require.Equal(t, one.Body, other.Body)
		require.Equal(t, time.Hour, other.Time.Sub(one.Time))
	}
}

func TestMixMakesCompleteTurns(t *testing.T) {
	m := newMix(corpus(t), 1)
	events := m.take(300)
	for len(m.queue) > 0 {
		events = append(events, m.take(1)...)
	}
	stream, tail := conversation.SplitTail(events)
	require.Nil(t, tail)
	require.Equal(t, len(events), stream.Len())
	require.Len(t, conversation.Sanitize(events), len(events), "nothing is left out")
}

func TestMixIsAcceptedByAStore(t *testing.T) {
	b := testBench(t)
	repo, err := b.newRepo(t.Context(), b.scratch)
	require.NoError(t, err)
	store, err := openStore(repo, odb.Off)
	require.NoError(t, err)
	defer store.Close()
	id := conversationID(1)
	_, err = store.Create(t.Context(), id, "", newMix(b.corpus, 1).take(50))
	require.NoError(t, err)
	verdict, err := store.Verify(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, verdict.Problems)
}

func TestCorpus(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go":        {Data: []byte("package a\n")},
		"b/testdata/x":  {Data: []byte("no")},
		"b/testdata.go": {Data: []byte("package b\n")},
		"b/notes.txt":   {Data: []byte("no")},
	}
	text, err := readCorpus(tree, 100)
	require.NoError(t, err)
	require.Equal(t, "package a\npackage b\n", text)

	text, err = readCorpus(tree, 1)
	require.NoError(t, err)
	require.Equal(t, "package a\n", text, "no more files than needed")

	_, err = readCorpus(fstest.MapFS{}, 100)
	require.ErrorIs(t, err, errNoSource)
}

func TestLinesHoldTheEvents(t *testing.T) {
	events := newMix(corpus(t), 1).take(100)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	size, err := writeLines(path, events)
	require.NoError(t, err)
	require.Greater(t, size, int64(50_000))
	back, err := readLines(path)
	require.NoError(t, err)
	require.Len(t, back, len(events))
	for i := range events {
		want, got := *events[i], *back[i]
		if b, ok := want.Body.(*conversation.ToolCallRequest); ok {
			require.JSONEq(t, string(b.Arguments), string(got.Body.(*conversation.ToolCallRequest).Arguments))
			continue
		}
		require.Equal(t, want, got)
	}
}

func TestLineHasNothingEmpty(t *testing.T) {
	line, err := encodeLine(newMix(corpus(t), 1).take(1)[0])
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(line, &fields))
	require.True(t, strings.HasSuffix(string(line), "}\n"))
	for _, absent := range []string{"tool_call_id", "usage", "finish", "arguments", "text"} {
		require.NotContains(t, fields, absent)
	}
	_, err = encodeLine(&conversation.Event{Body: &conversation.Workspace{}})
	require.Error(t, err)
}
