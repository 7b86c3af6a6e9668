package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"jp/gitcmd"
	"jp/gitstore"
)

// mostOfLarge is the most memory of any command, in bytes.
const mostOfLarge = 2 << 30

// largeCommands are run once each, in this order: a later one finds an earlier one's caches. ID stands for
// the first conversation, and MIDDLE for an event in its middle.
var largeCommands = []struct{ name, args string }{
	{"log -n 5", "log -n 5 ID"},
	{"show @-1", "show ID@-1"},
	{"show @middle, first", "show ID@MIDDLE"},
	{"show @middle, again", "show ID@MIDDLE"},
	{"ls, first", "ls"},
	{"ls, again", "ls"},
	{"status", "status ID"},
	{"grep, first", "grep -c zzqqxxabsent"},
	{"grep, again", "grep -c zzqqxxabsent"},
	{"verify", "verify ID"},
	{"print --last 1", "print --last 1 ID"},
	{"undo --dry-run", "undo --dry-run ID@-2"},
	{"pack", "pack"},
}

// largeNames are the names of the rows.
func largeNames(size string) (names []string) {
	for _, c := range largeCommands {
		names = append(names, "jp "+c.name+", "+size, "memory, "+c.name+", "+size)
	}
	return names
}

// largeEvents measures commands in one conversation of n events.
func largeEvents(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		return b.largeRows(ctx, grouped(n)+" events", n, func(repo gitcmd.Repository) error {
			store, err := openUsersStore(repo)
			if err != nil {
				return err
			}
			defer store.Close()
			return gitstore.Collection{Store: store}.Do(ctx, func() error {
				m := newMix(b.corpus, 1)
				return appendEach(ctx, store, conversationID(0), m, func(made int) bool { return made < n || len(m.queue) > 0 }) // whole turns
			})
		})
	}
}

// largeLists measures commands beside n conversations.
func largeLists(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		return b.largeRows(ctx, grouped(n)+" conversations", 3, func(repo gitcmd.Repository) error { return b.fillIdle(ctx, repo, n) })
	}
}

// largeRows are the processor time and the memory of the commands. The first conversation has
// the given number of events.
func (b *bench) largeRows(ctx context.Context, size string, events int, fill func(gitcmd.Repository) error) ([]row, error) {
	jp, err := b.buildJP(ctx)
	if err != nil {
		return nil, err
	}
	if err := keepStoreKey(); err != nil {
		return nil, err
	}
	repo, err := b.newRepo(ctx, b.scratch)
	if err != nil {
		return nil, err
	}
	if err := fill(repo); err != nil {
		return nil, err
	}
	start, err := once(ctx, jp, repo.TopLevel, "version")
	if err != nil {
		return nil, err
	}
	names := largeNames(size)
	var rows []row
	for i, c := range largeCommands {
		words := strings.NewReplacer("ID", string(conversationID(0)), "MIDDLE", strconv.Itoa(events/2)).Replace(c.args)
		took, err := once(ctx, jp, repo.TopLevel, words)
		if err != nil {
			return rows, err
		}
		time := row{Name: names[2*i], RivalName: startOfJP, Unit: seconds, JP: took.processor.Seconds(), Rival: start.processor.Seconds()}
		time.rounds = pairs{jp: []float64{time.JP}, rival: []float64{time.Rival}}
		memory := sized(names[2*i+1], "jp version", []float64{float64(took.peak)}, []float64{float64(start.peak)}).within(mostOfLarge)
		memory.Alone = true
		rows = append(rows, time, memory)
		fmt.Fprintf(b.log, "  jp %s: %s, %s\n", c.name, quantity(time.JP, seconds), quantity(memory.JP, octets))
	}
	return rows, nil
}

func once(ctx context.Context, jp, dir, words string) (usage, error) {
	cmd := exec.CommandContext(ctx, jp, strings.Fields(words)...)
	cmd.Dir = dir
	return used(ctx, cmd)
}
