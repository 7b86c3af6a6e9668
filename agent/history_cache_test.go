package agent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
)

// TestHistoryCache plays random histories of a chat: its questions, and another process's changes of the
// conversation between them. After each step the next request is that of a process which loads all anew.
// JP_HISTORIES is how many.
func TestHistoryCache(t *testing.T) {
	t.Parallel()
	n := 6
	if more := os.Getenv("JP_HISTORIES"); more != "" {
		n, _ = strconv.Atoi(more)
	}
	for seed := range n {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			cachedHistory(t, rand.New(rand.NewPCG(uint64(seed), 1)))
		})
	}
}

func cachedHistory(t *testing.T, random *rand.Rand) {
	s, f := front.New(t), &front.Front{}
	for i := range 3 {
		s.Write(fmt.Sprintf("f%d.txt", i), strings.Repeat("a line of a long file\n", 300))
	}
	s.Commit()
	talk := s.Model(strings.Repeat("[[reply]]\nreasoning = \"I read.\"\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"f1.txt\" }\n[[reply]]\nmessage = \"Read.\"\n", 100) + summary)
	fails := s.Model("[[reply]]\nfail = \"auth\"\ntimes = 999\n")
	s.Configure(fmt.Sprintf("[compaction]\nmodel = %q\n", talk))
	var cache agent.HistoryCache
	require.NoError(t, s.Ask(f, newTurn(talk, "One")))
	id := f.Last().ID
	request := func(model, text string, cache *agent.HistoryCache) agent.Request {
		o := front.Next(id, text)
		o.Turn.Model, o.Turn.History = model, cache
		return o
	}
	var steps []string
	for i := range 12 {
		text := fmt.Sprintf("Question %d", i)
		step, run := "", func() error { return nil }
		switch random.IntN(9) {
		case 0, 1, 2:
			step, run = "ask", func() error { return s.Ask(f, request(talk, text, &cache)) }
		case 3:
			step, run = "another process asks", func() error { return s.Ask(f, request(talk, text, nil)) }
		case 4:
			step, run = "a turn fails", func() error { return s.Ask(f, request(fails, text, &cache)) }
		case 5:
			step, run = "resume", func() error {
				o := front.Resume(id)
				o.Turn.Model, o.Turn.History = talk, &cache
				return s.Ask(f, o)
			}
		case 6:
			step, run = "discard", func() error { return s.Ask(f, front.Discard(id)) }
		case 7:
			keep := random.IntN(3)
			step, run = "compact", func() error {
				_, err := s.Compact(f, agent.CompactRequest{ID: string(id), Keep: keep, TrimOnly: keep == 2, Undo: keep == 0})
				return err
			}
		case 8:
			step, run = "fork", func() error {
				o := request(talk, text, &cache)
				o.Target.Fork = agent.ForkAtEnd
				err := s.Ask(f, o)
				if forked := f.Last().ID; err == nil && forked != "" {
					id = forked
				}
				return err
			}
		}
		steps = append(steps, step)
		_ = run() // a refused step leaves the conversation as it is
		s.Tick(time.Minute)
		require.Equal(t, nextRequest(t, s, f, request(talk, "Next", nil)), nextRequest(t, s, f, request(talk, "Next", &cache)), "after %q", steps)
	}
}

// nextRequest is the request that a question would send.
func nextRequest(t *testing.T, s *front.Scratch, f *front.Front, o agent.Request) string {
	t.Helper()
	r := s.Open()
	defer r.Close()
	s.Await(r, conversation.ID(o.Target.ID))
	p, err := agent.Preview(t.Context(), r, o, f)
	if err != nil {
		return err.Error()
	}
	data, err := json.Marshal(p.Request)
	require.NoError(t, err)
	return string(data)
}
