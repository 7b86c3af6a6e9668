package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/testing/front"
)

// TestAwait varies the end of a wait for a conversation.
func TestAwait(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		until string
		calls int    // of tools, each with a question
		state string // at the end of the wait
		early bool   // the wait ends while the question waits
	}{
		{name: "a question", calls: 1, state: "waiting_for_input", early: true},
		{name: "its end", until: "idle", calls: 1, state: "idle"},
		{name: "its end, through two questions", until: "idle", calls: 2, state: "idle"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			ended, begun := make(chan repo.Summary, 1), false
			var waited error
			f.Person = &front.Person{Any: func(string) string {
				if begun {
					return conversation.AnswerRun
				}
				begun = true
				id := f.Begun()[0].ID
				wait := func() {
					r := s.Open()
					defer r.Close()
					var l repo.Summary
					l, waited = agent.Await(context.Background(), r, id, row.until)
					ended <- l
				}
				if row.early {
					wait()
				} else {
					go wait()
				}
				return conversation.AnswerRun
			}}
			script := ""
			for i := range row.calls {
				script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"%d.txt\", content = \"x\" }\n", i)
			}
			require.NoError(t, s.Ask(f, s.Request(script+says, "Go")))
			l := <-ended
			require.NoError(t, waited)
			require.Equal(t, row.state, l.Status.State)
			require.Equal(t, string(f.Last().ID), l.ID)
		})
	}
	t.Run("an end of the wait", func(t *testing.T) {
		t.Parallel()
		s, f := front.New(t), &front.Front{}
		f.Person = &front.Person{Any: func(string) string {
			r := s.Open()
			defer r.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			l, err := agent.Await(ctx, r, f.Begun()[0].ID, "idle")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, "waiting_for_input", l.Status.State)
			return conversation.AnswerRun
		}}
		require.NoError(t, s.Ask(f, s.Request(makeFile, "Go")))
		require.Len(t, f.Person.Asked(), 1)
	})
	t.Run("nothing runs", func(t *testing.T) {
		t.Parallel()
		s, _, id := stopped(t)
		r := s.Open()
		defer r.Close()
		s.Await(r, id)
		for _, until := range []string{"", "idle"} {
			l, err := agent.Await(t.Context(), r, id, until)
			require.NoError(t, err)
			require.Equal(t, "waiting_for_input", l.Status.State)
		}
		_, err := agent.Await(t.Context(), r, "jp-c17952552000-none", "")
		require.Error(t, err)
	})
}

// TestSend: a message goes to the process that runs the conversation, which asks it next.
func TestSend(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(says, "Idle")))
	idle := f.Last().ID
	r := s.Open()
	s.Await(r, idle)
	_, err := agent.Send(t.Context(), r, idle, "More")
	require.ErrorIs(t, err, repo.ErrNotRunning)
	require.NoError(t, r.Close())
	var sent []agent.QueuedJSON
	var wrong []error
	f = &front.Front{}
	f.Person = &front.Person{Any: func(string) string {
		for _, text := range []string{"Second", "Third"} {
			r := s.Open()
			q, err := agent.Send(context.Background(), r, f.Begun()[0].ID, text)
			sent, wrong = append(sent, q), append(wrong, err)
			_ = r.Close()
		}
		return conversation.AnswerRun
	}}
	require.NoError(t, s.Ask(f, s.Request(makeFile+says, "First")))
	require.Equal(t, []error{nil, nil}, wrong)
	id := f.Last().ID
	for i, q := range sent {
		require.Equal(t, agent.QueuedJSON{Type: "queued", Conversation: id, PID: os.Getpid(), Waiting: i + 1}, q)
	}
	all := strings.Join(requests(s.Load(id)), "\n")
	require.Contains(t, all, "Second")
	require.Contains(t, all, "Third")
}

// TestWorkersOf: a delegate that waits works for its parent, until the user asks something else there.
func TestWorkersOf(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[tools.delegate]\nrun = \"unattended\"\n")
	request := s.Request(delegates(s, worker, ""), "Go")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	parent := f.Last().ID
	child := childOf(t, s, parent)
	workers := func(of conversation.ID) []conversation.ID {
		r := s.Open()
		defer r.Close()
		s.Await(r, child)
		return agent.WorkersOf(t.Context(), r, of)
	}
	require.Equal(t, []conversation.ID{child}, workers(parent))
	require.Empty(t, workers(child))
	events := s.Load(parent)
	require.Empty(t, workers(s.Fork(parent, events[len(events)-1].Seq)), "a fork has none of its own")
	require.Empty(t, workers("jp-c17952552000-none"))
	r := s.Open()
	ended, err := agent.EndTools(t.Context(), r, parent)
	require.NoError(t, err)
	require.Zero(t, ended)
	require.NoError(t, r.Close())
	require.NoError(t, s.Ask(f, front.Discard(child)))
	next := front.Next(child, "Something else")
	next.Turn.Model = s.Model(says)
	require.NoError(t, s.Ask(f, next))
	require.Empty(t, workers(parent))
}

// TestEarlierWords varies the earlier requests of the user, for the lists from which they choose again.
func TestEarlierWords(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	var ids []conversation.ID
	for _, texts := range [][]string{{"One", "Two"}, {"Three"}, {"Four", "Five"}} {
		target := agent.Target{New: true}
		for _, text := range texts {
			require.NoError(t, s.Ask(f, agent.Request{Target: target, Input: agent.Input{Text: []string{text}}, Turn: agent.TurnOptions{Model: s.Model(says)}}))
			target = agent.Target{ID: string(f.Last().ID)}
			s.Tick(time.Hour)
		}
		ids = append(ids, f.Last().ID)
	}
	r := s.Open()
	defer r.Close()
	s.Await(r, ids[0])
	ctx := t.Context()
	require.Equal(t, []string{"Five", "Four", "Three", "Two", "One"}, agent.SearchedRequests(ctx, r, ""))
	require.Equal(t, []string{"Two", "One", "Five", "Four", "Three"}, agent.SearchedRequests(ctx, r, ids[0]))
	require.Equal(t, []string{"Five", "Four", "Three", "Two", "One"}, agent.SearchedRequests(ctx, r, "jp-c17952552000-none"))
	asked, err := agent.AskedRequests(ctx, r, ids[0])
	require.NoError(t, err)
	require.Len(t, asked, 2)
	require.Equal(t, agent.AskedRequest{Text: "One", Before: -1}, asked[1])
	require.Equal(t, "Two", asked[0].Text)
	require.False(t, asked[0].Changed)
	first := s.Load(s.Fork(ids[0], asked[0].Before))
	require.Equal(t, []string{"One"}, requests(first), "a fork before it has all but the request")
	_, err = agent.AskedRequests(ctx, r, "jp-c17952552000-none")
	require.Error(t, err)
	_, _, err = agent.RecentRequests(ctx, r, "jp-c17952552000-none")
	require.Error(t, err)
	_, err = agent.EarlierRequests(ctx, r, "jp-c17952552000-none", 3)
	require.Error(t, err)

	for _, row := range []struct {
		name  string
		texts []string
		want  []string
	}{
		{name: "none"},
		{name: "new ones", texts: []string{"More", "And more"}, want: []string{"More", "And more"}},
		{name: "one asked before it was queued", texts: []string{"One"}, want: []string{"One"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := live.NewQueue(r.StateDir(), ids[0])
			q.Recorded(s.Load(ids[0]))
			for _, text := range row.texts {
				require.NoError(t, q.Add(text))
			}
			again := live.NewQueue(r.StateDir(), ids[0])
			require.Equal(t, row.want, agent.LeftInQueue(ctx, r, ids[0], again))
			again.Clear()
		})
	}
	q := live.NewQueue(r.StateDir(), ids[0])
	q.Recorded(s.Load(ids[0]))
	require.NoError(t, q.Add("Six"))
	require.NoError(t, q.Add("Seven"))
	next := front.Next(ids[0], "Six")
	next.Turn.Model = s.Model(says)
	require.NoError(t, s.Ask(f, next))
	require.Equal(t, []string{"Seven"}, agent.LeftInQueue(ctx, s.Open(), ids[0], live.NewQueue(r.StateDir(), ids[0])), "one that was recorded since is none")
}

// TestEfforts varies the words for how much a model thinks.
func TestEfforts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, config, model, now, word, wrong string }{
		{name: "by itself", model: "nosuch/x", now: "auto", word: "low"},
		{name: "as configured", config: "[parameters]\nreasoning = \"high\"\n", model: "nosuch/x", now: "high", word: "high"},
		{name: "of the table", model: "openai/gpt-5", now: "auto", word: "minimal"},
		{name: "no word of any", model: "openai/gpt-5", now: "auto", word: "enormous", wrong: `invalid effort "enormous" (want one of auto, `},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure(row.config)
			r := s.Open()
			defer r.Close()
			all, now := agent.Efforts(r, row.model)
			require.Equal(t, row.now, now)
			require.Equal(t, agent.EffortAuto, all[0])
			require.Greater(t, len(all), 2)
			err := agent.CheckEffort(r, row.model, row.word)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			require.NoError(t, agent.CheckEffort(r, row.model, all[len(all)-1]))
		})
	}
}

// TestUntoldHere varies the configured model, and tells which provider would be told of the tools.
func TestUntoldHere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		model  string
		vendor string
	}{
		{name: "none", model: "openai/gpt-5", vendor: "openai"},
		{name: "no model"},
		{name: "no provider", model: "nosuch/x"},
		{name: "no name", model: "x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			config := ""
			if row.model != "" {
				config = fmt.Sprintf("model = %q\n", row.model)
			}
			s.WriteOwn(".config/jp/config.toml", config)
			r := s.Open()
			defer r.Close()
			vendor, all := agent.UntoldHere(r, r.Env)
			require.Empty(t, all)
			require.Equal(t, row.vendor, vendor)
		})
	}
}

// TestAbsentTexts varies the missing parts of a conversation. The user is told, and the model gets a note.
func TestAbsentTexts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		texts int
		image bool
		keep  bool
		words string
	}{
		{name: "nothing", texts: 2, image: true, keep: true},
		{name: "a text", texts: 1, words: "a text of @2 is missing in this repository"},
		{name: "two texts", texts: 2, words: "a text of @2 and 1 more are missing in this repository"},
		{name: "an image", image: true, words: "/image.png of @2 is missing in this repository"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := s.Request(says, "Short")
			if row.image {
				s.WriteOwn("image.png", pixel)
				request.Input.Attachments = []string{filepath.Join(s.Home, "image.png")}
			}
			for i := range max(row.texts, 1) {
				if i > 0 {
					request = front.Next(f.Last().ID, "")
				}
				if i < row.texts {
					request.Input.Text = []string{strings.Repeat(fmt.Sprintf("Long text %d. ", i), 20000)}
				}
				require.NoError(t, s.Ask(f, request))
			}
			id := f.Last().ID
			if !row.keep {
				s.Git("update-ref", "-d", "refs/jp/payloads/"+string(id))
				s.Git("reflog", "expire", "--expire=all", "--all")
				s.Git("gc", "-q", "--prune=all")
			}
			before := len(f.Notices())
			next := front.Next(id, "And?")
			next.Turn.Model = s.Model(says)
			require.NoError(t, s.Ask(f, next))
			notices := f.Notices()[before:]
			if row.words == "" {
				require.Empty(t, notices)
			} else {
				require.Contains(t, strings.Join(notices, "\n"), row.words+"; the model gets a note instead")
			}
		})
	}
}
