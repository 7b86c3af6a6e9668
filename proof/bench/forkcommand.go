package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// endTarget is of the time that a command takes in a short conversation.
const endTarget = 3

// endCommands need only the end of a conversation, which ID stands for.
var endCommands = []string{"print --last 1 ID", "log -n 5 ID", "status ID", "show ID@-1", "ref ID@-1", "diff ID@-3..@-1"}

// middleTarget is how much longer than `jp version` a command may take that looks at the middle
// of a conversation.
const middleTarget = 0.016

// middleCommands look at an event in the middle, whose number MIDDLE stands for. Their rival
// is the start of jp.
var middleCommands = []string{"show ID@MIDDLE", "ref ID@MIDDLE", "diff ID@BEFORE..@MIDDLE"}

// middleRow is the name of a row of such a command.
func middleRow(words string, n int) string {
	return endRow(strings.NewReplacer("BEFORE", "middle-2", "MIDDLE", "middle").Replace(words), n)
}

// inMiddle is a command with the numbers of the middle of a conversation of n events.
func inMiddle(words string, n int) string {
	return strings.NewReplacer("BEFORE", strconv.Itoa(n/2-2), "MIDDLE", strconv.Itoa(n/2)).Replace(words)
}

// endRow is the name of a row of such a command.
func endRow(words string, n int) string {
	return "jp " + strings.NewReplacer(" ID@", " @", " ID", "").Replace(words) + " at " + grouped(n) + " events"
}

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
		var rows []row
		for _, words := range endCommands {
			end := all.row(endRow(words, n), words, words+" of the short one").within(endTarget)
			end.RivalName = "at 100 events"
			rows = append(rows, end)
		}
		return append(rows,
			all.row("jp fork"+at, "fork", updateRef).withinMore(startTarget).grows(workForkRun, n),
			all.row(fmt.Sprintf("jp fork --until %d of %s", n/2, grouped(n)), "slice", updateRef).grows(workSlice, n),
		), nil
	}
}

// middlesOf measures whole processes that look at the middle of a conversation of n events,
// packed by git. What they take must not depend on n.
func middlesOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		c, err := b.newCommands(ctx, n)
		if err != nil {
			return nil, err
		}
		const start = "jp version"
		sides := []side{{name: start, block: 2, run: c.of(c.long, "version")}}
		for _, words := range middleCommands {
			run := c.of(c.long, inMiddle(words, n))
			if err := run(ctx); err != nil { // the first look makes the index
				return nil, err
			}
			sides = append(sides, side{name: words, block: 2, run: run})
		}
		all, err := rounds(ctx, b.rng, b.processes, sides)
		if err != nil {
			return nil, err
		}
		var rows []row
		for i, words := range middleCommands {
			rows = append(rows, all.row(middleRow(words, n), words, start).withinMore(middleTarget).grows(workMiddle[i], n))
		}
		return rows, nil
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
	var sides []side
	for _, words := range endCommands {
		sides = append(sides, side{name: words, block: 2, run: c.of(c.long, words)},
			side{name: words + " of the short one", block: 2, run: c.of(c.short, words)})
	}
	return append(sides,
		side{name: "fork", block: 2, run: c.of(c.long, "fork -q ID")},
		side{name: "slice", block: 2, run: c.of(c.long, "fork -q --until "+strconv.Itoa(middle)+" ID")},
		side{name: updateRef, block: 2, run: func(ctx context.Context) error {
			c.made++
			return gitTo(ctx, c.long.packed.TopLevel, nil, nil, "update-ref", fmt.Sprintf("refs/heads/made%d", c.made), string(c.long.head))
		}},
	)
}

// of runs jp with a conversation in the place of ID.
func (c *commands) of(h *history, words string) func(context.Context) error {
	args := strings.Fields(strings.ReplaceAll(words, "ID", string(h.id)))
	return func(ctx context.Context) error {
		return drained(exec.CommandContext(ctx, c.jp, args...), h.packed.TopLevel)
	}
}
