package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/process"
	"jp/usage"
)

const titled = "[[reply]]\nmessage = \"# Cap\\u001b[31m the retries.\\nMore\"\nusage = { input = 300, output = 5 }\ntimes = 9\n"

// TestGiveTitle varies a conversation's title before a model is to write it.
func TestGiveTitle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script  string
		prepare func(s *front.Scratch, f *front.Front, id conversation.ID)
		want    string // the title; "": as it was
	}{
		"the first turn": {titled, nil, "Cap the retries"},
		"the user's title": {titled, func(s *front.Scratch, _ *front.Front, id conversation.ID) {
			record(s, id, &conversation.Metadata{Title: new("Mine"), TitleSource: "user"})
		}, ""},
		"no title by wish": {titled, func(s *front.Scratch, _ *front.Front, id conversation.ID) {
			record(s, id, &conversation.Metadata{Title: new(""), TitleSource: "user"})
		}, ""},
		"a delegate": {titled, func(s *front.Scratch, _ *front.Front, id conversation.ID) {
			record(s, id, &conversation.Metadata{Parent: "jp-c17528832001-k3f9"})
		}, ""},
		"written before": {titled, func(s *front.Scratch, _ *front.Front, id conversation.ID) {
			record(s, id, &conversation.Metadata{Title: new("Its"), TitleSource: "model"})
		}, ""},
		"soon after": {titled, func(s *front.Scratch, f *front.Front, id conversation.ID) {
			require.NoError(t, s.Ask(f, front.Next(id, "More")))
		}, ""},
		"an earlier failed": {titled, func(s *front.Scratch, f *front.Front, id conversation.ID) {
			s.Tick(time.Hour)
			require.NoError(t, s.Ask(f, front.Next(id, "More")))
		}, "Cap the retries"},
		"a model's error": {"[[reply]]\nfail = \"auth\"\n", nil, ""},
		"nothing said":    {"[[reply]]\nmessage = \"...\"\n", nil, ""},
		"very long":       {"[[reply]]\nmessage = \"" + strings.Repeat("word ", 2000) + "\"\n", nil, strings.TrimSpace(strings.Repeat("word ", 11)) + " word…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			require.NoError(t, s.Ask(f, s.Request(strings.Repeat(says, 3), "Cap them")))
			id := f.Last().ID
			if tt.prepare != nil {
				tt.prepare(s, f, id)
			}
			s.Configure("[titles]\nmodel = \"" + s.Model(tt.script) + "\"\n")
			r := s.Open()
			defer r.Close()
			before, err := r.Store.Info(t.Context(), id)
			require.NoError(t, err)
			err = agent.GiveTitle(t.Context(), r, id)
			after, readErr := r.Store.Info(t.Context(), id)
			require.NoError(t, readErr)
			if tt.want == "" {
				require.Equal(t, before.Head, after.Head)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "model", after.Summary.TitleSource)
			require.Equal(t, tt.want, after.Summary.Title)
			require.NoError(t, agent.GiveTitle(t.Context(), r, id))
			again, err := r.Store.Info(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, after.Head, again.Head, "it is written once")
		})
	}
}

// TestForkTitle: the title of a fork has its own first request, behind the source's title. A title of the
// user's stays.
func TestForkTitle(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(strings.Repeat(says, 9), "Cap the retries of the client that uploads all the pictures")))
	id := f.Last().ID
	title := func(id conversation.ID) string {
		r := s.Open()
		defer r.Close()
		info, err := r.Store.Info(t.Context(), id)
		require.NoError(t, err)
		return info.Summary.Title
	}
	forked := func(id conversation.ID, texts ...string) conversation.ID {
		events := s.Load(id)
		fork := s.Fork(id, events[len(events)-1].Seq)
		require.Equal(t, title(id), title(fork), "nothing is asked yet")
		for _, text := range texts {
			require.NoError(t, s.Ask(f, front.Next(fork, text)))
		}
		return fork
	}
	fork := forked(id, "Use a table\nof delays", "More")
	require.Equal(t, "Cap the retries of the… · Use a table", title(fork))
	require.Equal(t, "Cap the retries of the… · Another way", title(forked(fork, "Another way")))
	require.LessOrEqual(t, len([]rune(title(forked(id, strings.Repeat("word ", 99))))), conversation.TitleColumns)
	record(s, id, &conversation.Metadata{Title: new("Mine"), TitleSource: "user"})
	require.Equal(t, "Mine", title(forked(id, "Use a table")))
}

func record(s *front.Scratch, id conversation.ID, body conversation.Body) {
	r := s.Open()
	defer r.Close()
	info, err := r.Store.Info(context.Background(), id)
	if err == nil {
		_, err = r.Store.Append(context.Background(), id, info.Head, []*conversation.Event{repo.Record(info, body, s.Now())})
	}
	if err != nil {
		panic(err)
	}
}

// TestTitleWaitsAndCounts: a title waits until the conversation is free, and its tokens count. One that the user sets meanwhile
// stays.
func TestTitleWaitsAndCounts(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]string{"nothing happens": "", "the user writes one": "Mine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			require.NoError(t, s.Ask(f, s.Request(says, "Cap them")))
			id := f.Last().ID
			s.Configure("[titles]\nmodel = \"" + s.Model(titled) + "\"\n")
			r := s.Open()
			defer r.Close()
			s.Await(r, id)
			lock, err := r.Locks.Take(id, process.Holder{})
			require.NoError(t, err)
			given := make(chan error, 1)
			go func() {
				own := s.Open()
				err := agent.GiveTitle(t.Context(), own, id)
				given <- errors.Join(err, own.Close())
			}()
			if mine != "" {
				record(s, id, &conversation.Metadata{Title: &mine, TitleSource: "user"})
			}
			require.NoError(t, lock.Release())
			require.NoError(t, <-given)
			info, err := r.Store.Info(t.Context(), id)
			require.NoError(t, err)
			calls := usage.Calls(id, s.Load(id))
			if mine != "" {
				require.Equal(t, "Mine", info.Summary.Title)
				return // then the model may go unasked
			}
			require.Equal(t, "Cap the retries", info.Summary.Title)
			require.Equal(t, 300, calls[len(calls)-1].Usage.Input)
			require.Equal(t, r.Config.Titles.Model, calls[len(calls)-1].Model)
			require.Equal(t, f.Last().Outcome.Usage.Input+300, info.Summary.Usage.Input)
		})
	}
}
