package main

import (
	"context"
	"os/exec"
	"path/filepath"

	"jp/proof/prooftool"
)

// startTarget is how much longer than git jp may take for a command that is little
// else than its start, in seconds.
const startTarget = 0.020

// measureStart compares programs that only start, and the shortest
// list that there is.
func measureStart(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
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
	if err := b.fillMany(ctx, repo, 1); err != nil {
		return nil, err
	}
	all, err := rounds(ctx, b.rng, b.processes, []side{
		{name: "jp version", block: 6, run: func(ctx context.Context) error { return exec.CommandContext(ctx, jp, "version").Run() }},
		{name: "git --version", block: 6, run: func(ctx context.Context) error { return gitTo(ctx, b.scratch, nil, nil, "--version") }},
		{name: "jp ls", block: 6, run: func(ctx context.Context) error { return drained(exec.CommandContext(ctx, jp, "ls"), repo.TopLevel) }},
		{name: "git for-each-ref", block: 6, run: func(ctx context.Context) error { return eachRef(ctx, repo) }},
	})
	if err != nil {
		return nil, err
	}
	return []row{
		all.row("jp version", "jp version", "git --version").withinMore(startTarget),
		all.row("jp ls of 1 conversation", "jp ls", "git for-each-ref"),
	}, nil
}

// buildJP builds the program, once, with the caller's own environment, which knows Go's build cache.
func (b *bench) buildJP(ctx context.Context) (string, error) {
	if b.built != "" {
		return b.built, nil
	}
	dir, err := b.newDir(b.scratch)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "jp")
	if err := prooftool.BuildJP(ctx, path, b.environ); err != nil {
		return "", err
	}
	b.built = path
	return path, nil
}
