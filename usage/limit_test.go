package usage_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
	"jp/usage"
)

// A model gives the chunks, and then the error if there is one.
type model struct {
	chunks []provider.Chunk
	err    error
	asked  *int
}

func (m model) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		*m.asked++
		for _, c := range m.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if m.err != nil {
			yield(provider.Chunk{}, m.err)
		}
	}
}

var (
	word   = provider.Chunk{Kind: provider.ChunkMessage, Text: "Yes"}
	alive  = provider.Chunk{Kind: provider.ChunkKeepAlive}
	ended  = provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.FinishStop, Usage: &conversation.Usage{Input: 1000, Output: 100, CostUSD: "0.5"}}
	free   = provider.Chunk{Kind: provider.ChunkMessage, Usage: &conversation.Usage{CostUSD: "0"}}
	broken = &provider.Error{Class: provider.ClassDisconnect}
)

// request is one of about so many tokens. At a dollar for a thousand each costs a tenth of a cent.
func request(tokens int) *provider.Request {
	return &provider.Request{System: strings.Repeat("x", 4*tokens)}
}

func price(t *testing.T) catalog.Price {
	p, err := catalog.ParsePrice([]string{"1000", "1000"})
	require.NoError(t, err)
	return p
}

func ask(p provider.Provider, r *provider.Request) (err error) {
	for c, e := range p.Stream(context.Background(), r) {
		if err = e; c.Kind == provider.ChunkFinish {
			break
		}
	}
	return err
}

// TestWhatACallCounts varies how a call ends whose input costs a dollar by the estimate, and half of that in truth.
func TestWhatACallCounts(t *testing.T) {
	tests := []struct {
		name  string
		model model
		spent string
	}{
		{"an answer", model{chunks: []provider.Chunk{word, ended}}, "0.5"},
		{"an answer that cost nothing", model{chunks: []provider.Chunk{word, free, word}}, "0"},
		{"a broken answer", model{chunks: []provider.Chunk{word}, err: broken}, "1"},
		{"a sign of life only", model{chunks: []provider.Chunk{alive}, err: broken}, "0"},
		{"a refusal", model{err: broken}, "0"},
	}
	for _, limit := range []float64{0, 100} {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				day := &usage.Ledger{Path: filepath.Join(t.TempDir(), "state", "spending.json"), Now: time.Now}
				turn, asked := usage.NewTurnCost(2.4), 0
				test.model.asked = &asked
				var p provider.Provider = &usage.Meter{Provider: test.model, Price: price(t), Ledger: day, Day: limit}
				p = turn.Limit(p, price(t))
				if err := ask(p, request(1000)); test.model.err != nil {
					require.ErrorIs(t, err, test.model.err)
				}
				spent, err := day.Today()
				require.NoError(t, err)
				require.Equal(t, test.spent, spent)
				if test.spent == "1" {
					turn.Count("0.4")
					require.ErrorContains(t, ask(p, request(1000)), "the turn cost $1.40, and the input of the next one about $1.00, which reaches limits.cost_usd ($2.40)")
					require.Equal(t, 1, asked)
				}
			})
		}
	}
}

// After a kill the estimate counts, since the process cannot report the cost of the call.
func TestAKilledCallStaysCounted(t *testing.T) {
	asked := 0
	day := &usage.Ledger{Path: filepath.Join(t.TempDir(), "spending.json"), Now: time.Now}
	p := &usage.Meter{Provider: model{chunks: []provider.Chunk{word, ended}, asked: &asked}, Price: price(t), Ledger: day, Day: 10}
	next, stop := iter.Pull2(p.Stream(context.Background(), request(1000)))
	_, _, more := next()
	require.True(t, more)
	spent, err := day.Today()
	require.NoError(t, err)
	require.Equal(t, "1", spent)
	stop()
}

func TestTheDayEnds(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 59, 0, 0, time.FixedZone("east", 3600))
	asked := 0
	day := &usage.Ledger{Path: filepath.Join(t.TempDir(), "spending.json"), Now: func() time.Time { return now }}
	p := &usage.Meter{Provider: model{chunks: []provider.Chunk{ended}, asked: &asked}, Price: price(t), Ledger: day, Day: 1.2}
	require.NoError(t, ask(p, request(100)))
	var refused *provider.Error
	require.ErrorAs(t, ask(p, request(700)), &refused)
	require.Equal(t, provider.ClassBudget, refused.Class)
	require.Equal(t, "the model calls of today cost $0.50, and the input of the next one about $0.70, which reaches limits.cost_usd_day ($1.20)", refused.Message)
	now = now.Add(2 * time.Minute)
	require.NoError(t, ask(p, request(700)))
	spent, err := day.Today()
	require.NoError(t, err)
	require.Equal(t, "0.5", spent)
	require.Equal(t, 2, asked)
}

// Concurrent processes count every cost, and stay within the limit.
func TestProcessesShareTheDay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spending.json")
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	for range 12 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			asked := 0
			p := &usage.Meter{Provider: model{chunks: []provider.Chunk{ended}, asked: &asked}, Price: price(t), Ledger: &usage.Ledger{Path: path, Now: time.Now}, Day: 3.3}
			_ = ask(p, request(500))
			mu.Lock()
			defer mu.Unlock()
			passed += asked
		}()
	}
	wg.Wait()
	require.Equal(t, 6, passed, "each costs 0.5, and as much when it begins")
	spent, err := (&usage.Ledger{Path: path, Now: time.Now}).Today()
	require.NoError(t, err)
	require.Equal(t, "3", spent)
}

func TestABrokenLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spending.json")
	asked := 0
	for _, test := range []struct {
		content string
		limit   float64
		fails   bool
	}{{"", 1, false}, {"{", 1, true}, {"{", 0, false}, {`{"day":"` + time.Now().Format(time.DateOnly) + `","cost_usd":"-1"}`, 1, true}} {
		require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
		err := ask(&usage.Meter{Provider: model{chunks: []provider.Chunk{ended}, asked: &asked}, Price: price(t), Ledger: &usage.Ledger{Path: path, Now: time.Now}, Day: test.limit}, request(1))
		require.Equal(t, test.fails, err != nil, "%q: %v", test.content, err)
		if test.fails {
			require.ErrorContains(t, err, path)
		}
	}
	require.False(t, errors.Is(ask(&usage.Meter{Provider: model{chunks: []provider.Chunk{ended}, asked: &asked}, Day: 1}, request(1)), nil), "there is no folder")
}
