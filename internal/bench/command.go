package main

import (
	"context"
	"fmt"
	"os/exec"
)

// Targets of whole commands.
const (
	forkCommandTarget = 3 // of the time of git update-ref
	printEndTarget    = 3 // of the time that it takes in a short conversation
)

// shortEvents is how long the short conversation is.
const shortEvents = 100

// commandsOf measures whole processes that need only the end of a conversation
// of n events, packed by git: how much they cost must not depend on n.
func commandsOf(n int) func(context.Context, *bench, place) ([]row, error) {
	return func(ctx context.Context, b *bench, _ place) ([]row, error) {
		jp, err := b.buildJP(ctx)
		if err != nil {
			return nil, err
		}
		if err := keepStoreKey(); err != nil {
			return nil, err
		}
		long, err := b.history(ctx, n, 1)
		if err != nil {
			return nil, err
		}
		short, err := b.history(ctx, shortEvents, 1)
		if err != nil {
			return nil, err
		}
		made := 0
		run := func(h *history, words ...string) func(context.Context) error {
			return func(ctx context.Context) error {
				return drained(exec.CommandContext(ctx, jp, append(words, string(h.id))...), h.packed.TopLevel)
			}
		}
		took, err := rounds(ctx, b.rng, b.processes, []side{
			{name: "print long", block: 2, run: run(long, "print", "--last", "1")},
			{name: "print short", block: 2, run: run(short, "print", "--last", "1")},
			{name: "fork", block: 2, run: run(long, "fork", "-q")},
			{name: "git", block: 2, run: func(ctx context.Context) error {
				made++
				return gitTo(ctx, long.packed.TopLevel, nil, nil, "update-ref", fmt.Sprintf("refs/heads/made%d", made), string(long.head))
			}},
		})
		if err != nil {
			return nil, err
		}
		return []row{{
			Name: fmt.Sprintf("jp print --last 1 at %s events", grouped(n)), RivalName: "at 100 events", Unit: seconds, Target: printEndTarget,
			JP: took["print long"].median().Seconds(), Rival: took["print short"].median().Seconds(),
		}, {
			Name: fmt.Sprintf("jp fork at %s events", grouped(n)), RivalName: "git update-ref", Unit: seconds, Target: forkCommandTarget,
			JP: took["fork"].median().Seconds(), Rival: took["git"].median().Seconds(),
		}}, nil
	}
}
