package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/gitcmd"
)

// Sizes and targets of the rows of tool calls.
const (
	untrackedFiles  = 50_000
	untrackedTarget = 1.5 // of git status -uall
	createdIn       = 100_000
	createdMore     = 10    // files, beside the first one
	createdTarget   = 0.010 // seconds for each
	confinedCalls   = 20
	confinedTarget  = 0.002 // seconds for each
)

// Sides of those rows.
const (
	callOnce      = "1 program"
	statusAll     = "git status -uall"
	createMany    = "11 new files"
	createOne     = "1 new file"
	callsConfined = "20 programs"
	callsFree     = "unconfined"
)

// measureUntracked measures a question with one call of a program, as a whole command, with very many
// untracked files that are not ignored.
func measureUntracked(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	c, err := b.newToolCalls(ctx, 100)
	if err != nil {
		return nil, err
	}
	if err := writeFiles(filepath.Join(c.repo.TopLevel, "data"), untrackedFiles); err != nil {
		return nil, err
	}
	once, err := c.query("once", shellCalls(1))
	if err != nil {
		return nil, err
	}
	all, err := rounds(ctx, b.rng, b.slowOps, []side{
		{name: callOnce, block: 3, run: once},
		{name: statusAll, block: 3, run: func(ctx context.Context) error {
			return gitTo(ctx, c.repo.TopLevel, nil, nil, "status", "--porcelain=v2", "-uall")
		}},
	})
	if err != nil {
		return nil, err
	}
	return []row{all.row("jp query, 1 program, "+grouped(untrackedFiles)+" untracked", callOnce, statusAll).within(untrackedTarget)}, nil
}

// measureCreating measures the cost of each further file that a tool makes in a large tree.
func measureCreating(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	c, err := b.newToolCalls(ctx, createdIn)
	if err != nil {
		return nil, err
	}
	many, err := c.query("many", createCalls(1+createdMore))
	if err != nil {
		return nil, err
	}
	one, err := c.query("one", createCalls(1))
	if err != nil {
		return nil, err
	}
	clear := func() error { return os.RemoveAll(filepath.Join(c.repo.TopLevel, "made")) }
	all, err := rounds(ctx, b.rng, b.slowOps, []side{
		{name: createMany, block: 2, prepare: clear, run: many},
		{name: createOne, block: 2, prepare: clear, run: one},
	})
	if err != nil {
		return nil, err
	}
	return []row{all.row("jp query, 11 new files, "+grouped(createdIn)+" files", createMany, createOne).withinMore(createdMore * createdTarget)}, nil
}

// measureConfined measures the cost of the walls around a program.
func measureConfined(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	c, err := b.newToolCalls(ctx, 100)
	if err != nil {
		return nil, err
	}
	confined, err := c.query("confined", shellCalls(confinedCalls))
	if err != nil {
		return nil, err
	}
	free, err := c.query("free", shellCalls(confinedCalls), "--cfg", "sandbox.enable=false")
	if err != nil {
		return nil, err
	}
	all, err := rounds(ctx, b.rng, b.processes, []side{
		{name: callsConfined, block: 2, run: confined},
		{name: callsFree, block: 2, run: free},
	})
	if err != nil {
		return nil, err
	}
	return []row{all.row("jp query, 20 programs, confined", callsConfined, callsFree).withinMore(confinedCalls * confinedTarget)}, nil
}

// toolCalls are questions to a scripted model that calls tools.
type toolCalls struct {
	jp      string
	scripts string // folder
	repo    gitcmd.Repository
}

func (b *bench) newToolCalls(ctx context.Context, files int) (*toolCalls, error) {
	c := &toolCalls{}
	var err error
	if c.jp, err = b.buildJP(ctx); err != nil {
		return nil, err
	}
	if err := keepStoreKey(); err != nil {
		return nil, err
	}
	if c.scripts, err = b.newDir(b.scratch); err != nil {
		return nil, err
	}
	if c.repo, err = b.newRepo(ctx, b.scratch); err != nil {
		return nil, err
	}
	if err := writeFiles(c.repo.TopLevel, files); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "files"}, {"update-index", "--refresh"}} {
		if _, err := git(ctx, c.repo.TopLevel, args...); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// query asks in a new conversation.
func (c *toolCalls) query(name string, calls []string, flags ...string) (func(context.Context) error, error) {
	return c.ask(name, [][]string{calls}, append([]string{"--new"}, flags...)...)
}

// ask asks a model that makes the calls of each turn, one in each answer.
func (c *toolCalls) ask(name string, turns [][]string, flags ...string) (func(context.Context) error, error) {
	var script strings.Builder
	for _, calls := range turns {
		for _, call := range calls {
			fmt.Fprintf(&script, "[[reply]]\nmessage = \"Next.\"\n[[reply.tool_call]]\n%s\n", call)
		}
		script.WriteString("[[reply]]\nmessage = \"Done.\"\n")
	}
	file := filepath.Join(c.scripts, name+".toml")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		return nil, err
	}
	args := append([]string{"query", "-y", "-m", "script/" + file}, flags...)
	return func(ctx context.Context) error {
		return drained(exec.CommandContext(ctx, c.jp, append(args, "Go.")...), c.repo.TopLevel)
	}, nil
}

// shellCalls start a program without effect, each with another argument: a turn ends if a model repeats
// itself.
func shellCalls(n int) (calls []string) {
	for i := range n {
		calls = append(calls, fmt.Sprintf("name = \"shell_run\"\narguments = { argv = [\"true\", \"%d\"] }", i))
	}
	return calls
}

func createCalls(n int) (calls []string) {
	for i := range n {
		calls = append(calls, fmt.Sprintf("name = \"fs_create_file\"\narguments = { path = \"made/f%d.txt\", content = \"%d\" }", i, i))
	}
	return calls
}
