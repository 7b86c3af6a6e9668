package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/provider"
	"jp/turnloop"
)

// A model answers requests for summaries, and counts them.
type model struct {
	answer string
	err    error
	asked  []*provider.Request
}

func (m *model) Stream(_ context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	m.asked = append(m.asked, r)
	return func(yield func(provider.Chunk, error) bool) {
		if m.err != nil {
			yield(provider.Chunk{}, m.err)
			return
		}
		for text := m.answer; ; {
			n := min(len(text), 1000)
			if !yield(provider.Chunk{Kind: provider.ChunkMessage, Text: text[:n]}, nil) {
				return
			}
			if text = text[n:]; text == "" {
				break
			}
		}
		yield(provider.Chunk{Kind: provider.ChunkFinish, Usage: &conversation.Usage{Input: 100, Output: 10}}, nil)
	}
}

// talk is a turn of calls with results of so many bytes; the last call read so many tokens.
func talk(calls, bytes, read int) []*conversation.Event {
	var events []*conversation.Event
	add := func(b conversation.Body) int {
		events = append(events, &conversation.Event{Seq: len(events), Turn: 1, Version: 1, Model: "test/m", Body: b})
		return len(events) - 1
	}
	add(&conversation.TurnStart{Model: "test/m"})
	add(&conversation.ChatRequest{Content: "Read it all."})
	for i := range calls {
		id := fmt.Sprintf("c%d", i)
		at := add(&conversation.ToolCallRequest{Call: i + 1, ID: id, Name: "read", Arguments: json.RawMessage(`{}`), CallEnd: conversation.CallEnd{
			Finish: conversation.FinishToolCalls, Usage: &conversation.Usage{Input: read * (i + 1) / calls},
		}})
		add(&conversation.ToolCallResponse{For: at, ID: id, Name: "read", Content: strings.Repeat("text of it\n", bytes/11)})
	}
	return events
}

func room(events []*conversation.Event, refused error) turnloop.Room {
	return turnloop.Room{
		Events: events, Refused: refused, Request: provider.Options{Model: "test/m", API: "test", Tools: []provider.Tool{}},
		Asking: func(ctx context.Context) (context.Context, func()) { return ctx, func() {} },
	}
}

const good = `{"items":[{"text":"It was read.","cites":[3]}]}`

// wordy is a summary that is longer than some results of a few hundred bytes.
var wordy = `{"items":[` + strings.Repeat(`{"text":"`+strings.Repeat("It was read. ", 20)+`","cites":[3]},`, 40) + `{"text":"Over.","cites":[3]}]}`

func TestMakeRoom(t *testing.T) {
	tooLong := &provider.Error{Class: provider.ClassContext, Message: "prompt is too long: 99999 tokens > 20000 maximum"}
	vague := &provider.Error{Class: provider.ClassContext, Message: "too long"}
	for name, test := range map[string]struct {
		events  []*conversation.Event
		window  int
		off     bool
		refused error
		answer  string
		err     error
		want    string // kinds of the recorded events
		asked   int
	}{
		"there is room":               {talk(8, 8000, 10_000), 100_000, false, nil, good, nil, "", 0},
		"an unknown window":           {talk(8, 8000, 10_000), 0, false, nil, good, nil, "", 0},
		"off":                         {talk(8, 8000, 90_000), 100_000, true, nil, good, nil, "", 0},
		"a trim is enough":            {talk(20, 8000, 38_000), 48_000, false, nil, good, nil, "trim 16", 0},
		"a trim is not":               {talk(6, 8000, 10_000), 12_500, false, nil, good, nil, "summary 1", 1},
		"too much is new":             {talk(3, 30_000, 20_000), 25_000, false, nil, good, nil, "summary 1", 1},
		"the server refuses":          {talk(6, 8000, 10_000), 0, false, tooLong, good, nil, "summary 1", 1},
		"the server does not say why": {talk(6, 300, 10_000), 0, false, vague, good, nil, "summary 1", 1},
		"nothing is summarised":       {talk(6, 8000, 10_000), 12_500, false, nil, "No.", nil, "trim 2", 1},
		"the model fails":             {talk(6, 8000, 10_000), 12_500, false, nil, "", errors.New("down"), "trim 2", 1},
		"the model fails, and there is nothing to trim": {talk(6, 300, 10_000), 12_000, false, nil, "", errors.New("down"), "", 1},
		"refused, and nothing is summarised":            {talk(6, 300, 10_000), 0, false, vague, "No.", nil, "summary 0", 1},
		"refused, and the model fails":                  {talk(6, 300, 10_000), 0, false, vague, "", tooLong, "summary 0", 1},
		"more is written than was given":                {talk(6, 300, 10_000), 12_000, false, nil, wordy, nil, "", 1},
		"refused, and more is written than was given":   {talk(6, 300, 10_000), 0, false, vague, wordy, nil, "summary 0", 1},
		"a citation of nothing":                         {talk(6, 300, 10_000), 12_000, false, nil, `{"items":[{"text":"It was read.","cites":[99]}]}`, nil, "", 1},
		"an answer without end":                         {talk(6, 8000, 10_000), 12_500, false, nil, good + strings.Repeat("x", 1<<20), nil, "summary 1", 1},
		"nothing can be covered":                        {talk(0, 0, 0), 10, false, vague, good, nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answer: test.answer, err: test.err}
			c := &agent.Compactor{
				Model: "test/m", Provider: m, Window: test.window, At: 0.8, Keep: 4, Auto: !test.off, Notice: func(string) {}, Now: time.Now,
			}
			bodies, err := c.MakeRoom(t.Context(), room(test.events, test.refused))
			require.NoError(t, err)
			got := ""
			for _, b := range bodies {
				done := b.(*conversation.Compaction)
				got = fmt.Sprintf("%s %d", done.Kind, len(done.Items)+len(done.Trimmed))
				require.Equal(t, conversation.ByLimit, done.By)
				require.Less(t, done.After, done.Before)
				if test.asked > 0 && test.err == nil && done.Usage != nil || test.answer == "No." {
					require.Equal(t, 100, done.Usage.Input, "what the summary took is on record, also if it came to nothing")
				}
			}
			require.Equal(t, test.want, got)
			require.Len(t, m.asked, test.asked)
			for _, r := range m.asked {
				require.True(t, r.Summary)
				require.Contains(t, r.Messages[len(r.Messages)-1].Blocks[len(r.Messages[len(r.Messages)-1].Blocks)-1].Text, "[SUMMARISE]")
			}
		})
	}
}

// Behind an undone compaction there is room until the window is nearly full.
func TestAnUndoneCompactionIsNotDoneAgain(t *testing.T) {
	events := talk(6, 8000, 10_000)
	add := func(b conversation.Body) {
		events = append(events, &conversation.Event{Seq: len(events), Turn: 1, Version: 1, Model: "test/m", Body: b})
	}
	add(&conversation.Compaction{Kind: conversation.CompactTrim, ToSeq: 5, Trimmed: []int{3, 5}})
	add(&conversation.CompactionUndone{For: len(events) - 1})
	m := &model{answer: good}
	c := &agent.Compactor{Model: "test/m", Provider: m, At: 0.8, Keep: 4, Auto: true, Notice: func(string) {}, Now: time.Now}
	request, err := provider.Build(events, room(events, nil).Request)
	require.NoError(t, err)
	for window, want := range map[int]int{request.Estimate() * 100 / 90: 0, request.Estimate() * 100 / 97: 1} {
		c.Window = window
		bodies, err := c.MakeRoom(t.Context(), room(events, nil))
		require.NoError(t, err)
		require.Len(t, bodies, want, window)
	}
}

// The next compaction records the usage of failed summaries.
func TestTheUsageOfFailedSummariesIsRecorded(t *testing.T) {
	m := &model{answer: "No."}
	c := &agent.Compactor{Model: "test/m", Provider: m, Window: 12_000, At: 0.8, Keep: 4, Auto: true, Notice: func(string) {}, Now: time.Now}
	bodies, err := c.MakeRoom(t.Context(), room(talk(6, 300, 10_000), nil))
	require.NoError(t, err)
	require.Empty(t, bodies)
	m.answer = good
	bodies, err = c.MakeRoom(t.Context(), room(talk(6, 8000, 10_000), nil))
	require.NoError(t, err)
	require.Equal(t, 200, bodies[0].(*conversation.Compaction).Usage.Input)
}

// A model that fails repeatedly is asked less often.
func TestSummariesThatFailAreNotAskedForEver(t *testing.T) {
	m, told := &model{err: errors.New("down")}, 0
	c := &agent.Compactor{Model: "test/m", Provider: m, Window: 12_000, At: 0.8, Keep: 4, Auto: true, Notice: func(string) { told++ }, Now: time.Now}
	for range 5 {
		_, err := c.MakeRoom(t.Context(), room(talk(6, 300, 10_000), nil))
		require.NoError(t, err)
	}
	require.Len(t, m.asked, 2)
	require.Equal(t, 2, told)
}

// An interruption by the user counts as no failure of the model, and leaves no record.
func TestASummaryThatTheUserEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &model{err: context.Canceled}
	cancel()
	c := &agent.Compactor{Model: "test/m", Provider: m, Window: 12_500, At: 0.8, Keep: 4, Auto: true, Notice: func(string) {}, Now: time.Now}
	bodies, err := c.MakeRoom(ctx, room(talk(6, 8000, 10_000), nil))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, bodies)
}

func TestWindowsInTheWordsOfServers(t *testing.T) {
	for words, want := range map[string]int{
		"prompt is too long: 210000 tokens > 200000 maximum":                                                   200_000,
		"This endpoint's maximum context length is 128000 tokens. However, you requested about 210000 tokens.": 128_000,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":              1_048_576,
		"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it":            4096,
		"Your input exceeds the context window of this model.":                                                 0,
		"the context has 12 faults":                           0,
		"This model's maximum context length is 8,192 tokens": 8192,
	} {
		require.Equal(t, want, provider.WindowIn(words), words)
	}
}
