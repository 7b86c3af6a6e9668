package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// counted is a side that writes its letter for every operation.
func counted(name string, block int, trace *strings.Builder) side {
	return side{name: name, block: block, run: func(context.Context) error {
		trace.WriteString(name)
		return nil
	}}
}

func TestRoundsAlternateInBlocksAndDropTheFirst(t *testing.T) {
	var trace strings.Builder
	took, err := rounds(t.Context(), seeded(), 20, []side{counted("a", 3, &trace), counted("b", 1, &trace)})
	require.NoError(t, err)
	require.Len(t, took["a"], 20, "the first round is dropped, since b has single operations")
	require.Len(t, took["a"][0], 2, "of each block the first operation is dropped")
	require.Len(t, took["b"], 20, "rounds are the same ones on both sides")
	require.Len(t, took["b"][0], 1)

	order := map[string]int{}
	for at := trace.String(); at != ""; at = at[4:] {
		order[at[:4]]++
	}
	require.Len(t, order, 2, "both orders, and never a torn block: %v", order)
	require.Equal(t, 21, order["aaab"]+order["baaa"])
}

func TestRoundsOfBlocksAreAllKept(t *testing.T) {
	var trace strings.Builder
	took, err := rounds(t.Context(), seeded(), 3, []side{counted("a", 3, &trace), counted("b", 2, &trace)})
	require.NoError(t, err)
	require.Len(t, took["a"], 4)
	require.Len(t, took["b"], 4)
	require.Len(t, took["b"][3], 1)
}

func TestRoundsPrepareBeforeEachOperation(t *testing.T) {
	var trace strings.Builder
	s := counted("r", 2, &trace)
	s.prepare = func() error {
		trace.WriteString("p")
		return nil
	}
	_, err := rounds(t.Context(), seeded(), 1, []side{s})
	require.NoError(t, err)
	require.Equal(t, "prprprpr", trace.String())
}

func TestRoundsBeginEachBlock(t *testing.T) {
	var trace strings.Builder
	s := counted("r", 2, &trace)
	s.begin = func() error {
		trace.WriteString("b")
		return nil
	}
	_, err := rounds(t.Context(), seeded(), 1, []side{s})
	require.NoError(t, err)
	require.Equal(t, "brrbrr", trace.String())
}

func TestRoundsStop(t *testing.T) {
	broken := errors.New("broken")
	var trace strings.Builder
	good := counted("good", 1, &trace)

	t.Run("at an error of a side", func(t *testing.T) {
		bad := side{name: "bad", block: 1, run: func(context.Context) error { return broken }}
		_, err := rounds(t.Context(), seeded(), 1, []side{good, bad})
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "bad")
	})
	t.Run("at an error of what comes before", func(t *testing.T) {
		fail := func() error { return broken }
		for _, s := range []side{{begin: fail}, {prepare: fail}} {
			s.name, s.block, s.run = good.name, good.block, good.run
			trace.Reset()
			_, err := rounds(t.Context(), seeded(), 1, []side{s})
			require.ErrorIs(t, err, broken)
			require.Empty(t, trace.String())
		}
	})
	t.Run("at the end of the context", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(broken)
		_, err := rounds(ctx, seeded(), 1, []side{good})
		require.ErrorIs(t, err, broken)
	})
}
