package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"jp/conversation"
)

// Limits for a command that looks at the end, or at an event in the middle, of a conversation: processor
// time beyond that of `jp version`, in seconds, and memory, in bytes.
const (
	endTarget    = 0.008
	middleTarget = 2 * endTarget
	flatMemory   = 40 << 20
)

// startOfJP is the rival of such a command.
const startOfJP = "jp version, CPU"

// A flatCommand must take no longer in a longer conversation. ID stands for the conversation, MIDDLE for
// the number of the event in its middle, and BEFORE for the one two before.
type flatCommand struct {
	name   string // in a row
	args   string
	target float64 // seconds beyond the start of jp
}

var flatCommands = []flatCommand{
	{name: "print --last 1", args: "print --last 1 ID", target: endTarget},
	{name: "log -n 5", args: "log -n 5 ID", target: endTarget},
	{name: "status", args: "status ID", target: endTarget},
	{name: "show @-1", args: "show ID@-1", target: endTarget},
	{name: "show --ref @-1", args: "show --ref ID@-1", target: endTarget},
	{name: "diff @-3..@-1", args: "diff ID@-3..@-1", target: endTarget},
	{name: "undo --dry-run", args: "undo --dry-run ID@-4", target: endTarget},
	{name: "show @middle", args: "show ID@MIDDLE", target: middleTarget},
	{name: "show --ref @middle", args: "show --ref ID@MIDDLE", target: middleTarget},
	{name: "diff @middle-2..@middle", args: "diff ID@BEFORE..@MIDDLE", target: middleTarget},
}

// work names the kind of work in the table of growth.
func (c flatCommand) work() string { return "jp " + c.name + ", events" }

// in gives the arguments for a conversation of n events.
func (c flatCommand) in(id conversation.ID, n int) []string {
	return strings.Fields(strings.NewReplacer("ID", string(id), "MIDDLE", strconv.Itoa(n/2), "BEFORE", strconv.Itoa(n/2-2)).Replace(c.args))
}

// flatOf measures the processor time and the memory of whole commands in a conversation of n
// events, whose last turn made a file.
func flatOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		s, err := b.newEnded(ctx, n)
		if err != nil {
			return nil, err
		}
		sides := []side{processorSide(startOfJP, s.repo.TopLevel, s.jp, "version")}
		for _, c := range flatCommands {
			sides = append(sides, processorSide(c.name, s.repo.TopLevel, s.jp, c.in(s.id, n)...))
		}
		all, err := rounds(ctx, b.rng, b.processes, sides)
		if err != nil {
			return nil, err
		}
		var rows []row
		for _, c := range flatCommands {
			r := all.row(fmt.Sprintf("jp %s at %s events", c.name, grouped(n)), c.name, startOfJP)
			rows = append(rows, r.withinMore(c.target).grows(c.work(), n))
		}
		peaks, err := s.peakRows(ctx, n)
		return append(rows, peaks...), err
	}
}

// newEnded makes a long conversation, packed, and adds a turn in which a tool makes a file.
func (b *bench) newEnded(ctx context.Context, n int) (*stopped, error) {
	s, err := b.newStopped(ctx, n)
	if err != nil {
		return nil, err
	}
	server := newCallingServer(func(int) (name, arguments string) { return "fs_create_file", `{"path":"made.txt","content":"made"}` })
	defer server.Close()
	server.left.Store(1)
	cmd := exec.CommandContext(ctx, s.jp, "query", "--id", string(s.id), "-m", callingModel, "-y", "--discard-turn", "Make a file.")
	cmd.Env = server.environ()
	return s, drained(cmd, s.repo.TopLevel)
}

// peakRows are the greatest memory of the commands.
func (s *stopped) peakRows(ctx context.Context, n int) ([]row, error) {
	start, err := peaks(ctx, in(s.repo.TopLevel, s.jp, "version"))
	if err != nil {
		return nil, err
	}
	rows := []row{{Name: fmt.Sprintf("memory, end and middle of %s events", grouped(n))}}
	for _, c := range flatCommands {
		took, err := peaks(ctx, in(s.repo.TopLevel, s.jp, c.in(s.id, n)...))
		if err != nil {
			return nil, err
		}
		r := sized("", "jp version", took, start)
		r.Alone, r.Target = true, flatMemory
		if r.JP > rows[0].JP {
			r.Name = rows[0].Name
			rows[0] = r
		}
	}
	return rows, nil
}
