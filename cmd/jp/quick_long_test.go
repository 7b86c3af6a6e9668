package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore"
)

// longConversation is a place whose session has a conversation of 10,000 events: many turns, or one that was interrupted.
func longConversation(t *testing.T, interrupted bool) *workspace {
	t.Helper()
	const events, group = 10_000, 100
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	id := conversation.ID(p.events()[0]["conversation"].(string))
	r, err := repo.Open(t.Context(), &repo.Host{Dir: p.dir, Environ: p.environ, Now: time.Now})
	require.NoError(t, err)
	defer r.Close()
	r.Store.PrepareWrite()
	info, err := r.Store.Info(t.Context(), id)
	require.NoError(t, err)
	const model = "script/../talk.toml"
	var place *conversation.Git // of the begin of all turns
	for e, err := range r.Store.Backward(t.Context(), info.Head) {
		require.NoError(t, err)
		if place = e.Git; place != nil {
			break
		}
	}
	at, seq, turn := time.Now(), p.eventCount()-1, 1
	var made []*conversation.Event
	add := func(b conversation.Body) {
		seq++
		at = at.Add(time.Millisecond)
		made = append(made, &conversation.Event{Version: conversation.Version, Seq: seq, Turn: turn, Time: at, Model: model, Body: b})
	}
	begin := func() {
		turn++
		add(&conversation.TurnStart{Model: model, JP: "0.1.0"})
		made[len(made)-1].Git = place
		add(&conversation.ChatRequest{Content: fmt.Sprintf("Question %d", turn)})
	}
	call := func(n int) {
		id, asked := fmt.Sprintf("call_%d", n), seq+1
		add(&conversation.ToolCallRequest{Call: n, ID: id, Name: "fs_read_file", Arguments: []byte(`{"path":"README.md"}`), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}})
		add(&conversation.ToolCallResponse{For: asked, ID: id, Name: "fs_read_file", Content: strings.Repeat("A line of a file.\n", 60)})
	}
	if begin(); interrupted {
		for n := 1; seq < events; n++ {
			call(n)
		}
	}
	for ; seq < events; begin() {
		call(1)
		add(&conversation.ChatResponse{Call: 2, Part: conversation.PartMessage, Text: "It is read.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}})
		add(&conversation.TurnDone{})
	}
	if !interrupted {
		add(&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "Over.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}})
		add(&conversation.TurnDone{})
	}
	head := info.Head
	require.NoError(t, gitstore.Collection{Store: r.Store}.Do(t.Context(), func() error {
		for some := range slices.Chunk(made, group) {
			if head, err = r.Store.Append(t.Context(), id, head, some); err != nil {
				return err
			}
		}
		return nil
	}))
	return p
}

// The conversation of any length comes to its prompt after little work, and then shows each key at
// once. The quickest of some runs and of some keys counts: the machine may have other work.
func TestALongConversationIsPromptedAtOnce(t *testing.T) {
	start := quickest(func() time.Duration { return newPlace(t).took("version") })
	for name, interrupted := range map[string]bool{"many turns": false, "an interrupted turn": true} {
		t.Run(name, func(t *testing.T) {
			p := longConversation(t, interrupted)
			require.Equal(t, 10_000, p.eventCount()/10*10)
			require.Contains(t, p.jp("verify").stdout, "ok: 1 conversation of 1")
			took := quickest(p.prompts)
			t.Logf("jp to its prompt: %v", took)
			require.Less(t, took, max(50*time.Millisecond, 3*start))
			s := p.sit(80)
			s.prompted()
			least := time.Hour
			const typed = "a question of some words"
			for i := range typed {
				least = min(least, s.echo(typed[i:i+1], typed[:i+1]))
			}
			t.Logf("key to echo: %v", least)
			require.Less(t, least, 16*time.Millisecond)
			s.Type("\x15")
			s.waitLine(">")
			if interrupted {
				return
			}
			const turns = 1668
			t.Logf("Up: %v", s.echo("\x1b[A", fmt.Sprint("Question ", turns)))
			for n := range 100 { // further than jp reads at first
				s.Type("\x1b[A")
				s.waitLine(fmt.Sprint("> Question ", turns-1-n))
			}
		})
	}
}

// echo is how long it takes until the terminal shows something for a key.
func (s *sitting) echo(key, shows string) time.Duration {
	s.place.t.Helper()
	shown, began := len(s.Raw()), time.Now()
	s.Type(key)
	for !strings.Contains(s.Raw()[shown:], shows) {
		require.Less(s.place.t, time.Since(began), time.Minute, s.Text())
		time.Sleep(100 * time.Microsecond)
	}
	return time.Since(began)
}
