package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore"
)

// family writes conversations that work for each other, and returns their ids. The last one asks.
func (p *workspace) family(levels int) (ids []conversation.ID) {
	p.t.Helper()
	store, err := gitstore.Open(p.repository(), gitstore.Options{Key: []byte(strings.Repeat("\xab", 32))})
	require.NoError(p.t, err)
	defer store.Close()
	for i := range levels {
		ids = append(ids, conversation.ID(fmt.Sprintf("jp-c17952554%03d-%04d", i, i)))
	}
	for i, id := range ids {
		var head conversation.Head
		commit := func(events []*conversation.Event) (err error) {
			if head == "" {
				head, err = store.Create(p.t.Context(), id, "", events)
			} else {
				head, err = store.Append(p.t.Context(), id, head, events)
			}
			return err
		}
		stream := conversation.NewStream(nil)
		var with []*conversation.Event
		if i > 0 {
			with = append(with, &conversation.Event{Body: &conversation.Metadata{Parent: ids[i-1]}})
		}
		require.NoError(p.t, stream.StartTurn(conversation.TurnStart{Model: "script/x"}, conversation.ChatRequest{Content: fmt.Sprint("Level ", i)}, with...).Build(commit))
		name := "delegate"
		if i == levels-1 {
			name = "fs_create_file"
		}
		turn := stream.CurrentTurn()
		seq := turn.Next()
		turn.AddToolCallRequest(conversation.ToolCallRequest{
			Call: 1, ID: "c", Name: name, Arguments: json.RawMessage("{}"), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls},
		})
		if i < levels-1 {
			turn.AddRecord(&conversation.ToolStarted{For: seq, Attempt: 1, Child: ids[i+1]})
		} else {
			turn.AddInquiryRequest(conversation.InquiryRequest{
				For: seq, Kind: conversation.KindToolQuestion, QuestionID: "q", Attempt: 1,
				Question: conversation.Question{Text: "Overwrite existing file?", AnswerType: conversation.AnswerType{Type: "boolean"}},
			})
		}
		require.NoError(p.t, turn.Build(commit))
	}
	return ids
}

// A delegate's question is reported for all conversations that wait for it, on any level.
func TestADelegatesQuestion(t *testing.T) {
	t.Parallel()
	for levels := 1; levels <= 4; levels++ {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ids := p.family(levels)
			list := p.jp("ls").stdout
			for i, id := range ids {
				tools := strings.Repeat("delegate → ", levels-1-i) + "create"
				require.Contains(t, list, string(id)+"\twaiting-for-input ("+tools+")\t")
				status := p.jp("status", string(id)).stdout
				require.Contains(t, status, "\n  asks: "+tools+" asks: Overwrite existing file?\n")
				var l repo.Summary
				require.NoError(t, json.Unmarshal([]byte(p.jp("status", string(id), "--json").stdout), &l))
				require.Equal(t, ids[levels-1], l.Status.Inquiry.Conversation)
				out := p.jp("query", "--id="+string(id), "And then?")
				require.Equal(t, 3, out.exit)
				require.Contains(t, out.stderr, "\n  Waiting for input: "+tools+" asks: Overwrite existing file?\n")
				require.Contains(t, p.jp("print", string(id)).stdout, "⏳ Incomplete turn (waiting for input)\n")
				require.Equal(t, 3, p.jp("attach", "--wait", string(id)).exit)
			}
			require.Empty(t, p.jp("ls", "--status", "interrupted").stdout)
			require.Equal(t, levels, strings.Count(p.jp("ls", "--status", "waiting").stdout, "\n"))
			require.Zero(t, p.jp("answer", string(ids[0]), "y").exit, "an answer to the first reaches the last")
			require.Empty(t, p.jp("ls", "--status", "waiting").stdout)
		})
	}
}

// A conversation that works for another one, or is gone, is not waiting for input. Nor is a circle
// that was written by hand.
func TestADelegatesQuestionThatIsNotItsParents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ids := p.family(2)
	require.Zero(t, p.jp("fork", string(ids[0]), "--title", "Fork").exit)
	list := p.jp("ls").stdout
	require.Regexp(t, `interrupted \(pending tool execution\)\t\d\t\S+\tFork`, list)
	p.git("update-ref", "-d", "refs/jp/conversations/"+string(ids[1]))
	require.NotContains(t, p.jp("ls").stdout, "waiting-for-input")
}
