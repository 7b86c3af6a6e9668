package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
)

// printEndTarget is of the time that the command takes in a short conversation.
const printEndTarget = 3

// updateRef is the rival of a fork.
const updateRef = "git update-ref"

// shortEvents is how long the short conversation is.
const shortEvents = 100

// commandsOf measures whole processes that need only the end, or a part, of a
// conversation of n events, packed by git: what needs the end must not depend on
// n.
func commandsOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		c, err := b.newCommands(ctx, n)
		if err != nil {
			return nil, err
		}
		all, err := rounds(ctx, b.rng, b.processes, c.sides(n/2))
		if err != nil {
			return nil, err
		}
		at := " at " + grouped(n) + " events"
		last := all.row("jp print --last 1"+at, "print long", "print short").within(printEndTarget)
		last.RivalName = "at 100 events"
		return []row{
			last,
			all.row("jp fork"+at, "fork", updateRef).withinMore(startTarget).grows(workForkRun, n),
			all.row(fmt.Sprintf("jp fork --until %d of %s", n/2, grouped(n)), "slice", updateRef).grows(workSlice, n),
		}, nil
	}
}

// commands run jp on a long conversation and on a short one.
type commands struct {
	jp          string
	long, short *history
	made        int // refs
}

func (b *bench) newCommands(ctx context.Context, n int) (*commands, error) {
	c := &commands{}
	var err error
	if c.jp, err = b.buildJP(ctx); err != nil {
		return nil, err
	}
	if err := keepStoreKey(); err != nil {
		return nil, err
	}
	if c.long, err = b.history(ctx, n, 1); err != nil {
		return nil, err
	}
	c.short, err = b.history(ctx, shortEvents, 1)
	return c, err
}

func (c *commands) sides(middle int) []side {
	return []side{
		{name: "print long", block: 2, run: c.of(c.long, "print", "--last", "1")},
		{name: "print short", block: 2, run: c.of(c.short, "print", "--last", "1")},
		{name: "fork", block: 2, run: c.of(c.long, "fork", "-q")},
		{name: "slice", block: 2, run: c.of(c.long, "fork", "-q", "--until", strconv.Itoa(middle))},
		{name: updateRef, block: 2, run: func(ctx context.Context) error {
			c.made++
			return gitTo(ctx, c.long.packed.TopLevel, nil, nil, "update-ref", fmt.Sprintf("refs/heads/made%d", c.made), string(c.long.head))
		}},
	}
}

// of runs jp with a conversation as its last argument.
func (c *commands) of(h *history, words ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return drained(exec.CommandContext(ctx, c.jp, append(words, string(h.id))...), h.packed.TopLevel)
	}
}
