package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
)

// updateRef is the rival of a fork.
const updateRef = "git update-ref"

// shortEvents is how long a short conversation is.
const shortEvents = 100

// forksOf measures a whole jp fork of a conversation of n events, packed by git: of all of it, which must
// be independent of n, and up to its middle.
func forksOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		jp, err := b.buildJP(ctx)
		if err != nil {
			return nil, err
		}
		if err := keepStoreKey(); err != nil {
			return nil, err
		}
		h, err := b.history(ctx, n, 1)
		if err != nil {
			return nil, err
		}
		fork := func(args ...string) func(context.Context) error {
			return func(ctx context.Context) error {
				return drained(exec.CommandContext(ctx, jp, append([]string{"fork", "-q", string(h.id)}, args...)...), h.packed.TopLevel)
			}
		}
		made := 0 // refs
		all, err := rounds(ctx, b.rng, b.processes, []side{
			{name: "fork", block: 2, run: fork()},
			{name: "slice", block: 2, run: fork("--until", strconv.Itoa(n/2))},
			{name: updateRef, block: 2, run: func(ctx context.Context) error {
				made++
				return gitTo(ctx, h.packed.TopLevel, nil, nil, "update-ref", fmt.Sprintf("refs/heads/made%d", made), string(h.head))
			}},
		})
		if err != nil {
			return nil, err
		}
		return []row{
			all.row("jp fork at "+grouped(n)+" events", "fork", updateRef).withinMore(startTarget).grows(workForkRun, n),
			all.row(fmt.Sprintf("jp fork --until %d of %s", n/2, grouped(n)), "slice", updateRef).grows(workSlice, n),
		}, nil
	}
}
