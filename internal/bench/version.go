package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// startTarget is how much longer than git jp may take to start, in seconds.
const startTarget = 0.020

// measureVersion compares two programs that do nothing but start.
func measureVersion(ctx context.Context, b *bench, _ place) ([]row, error) {
	jp, err := b.buildJP(ctx)
	if err != nil {
		return nil, err
	}
	took, err := rounds(ctx, b.rng, b.processes, []side{
		{name: "jp", block: 6, run: func(ctx context.Context) error { return exec.CommandContext(ctx, jp, "version").Run() }},
		{name: "git", block: 6, run: func(ctx context.Context) error { return gitTo(ctx, b.scratch, nil, nil, "--version") }},
	})
	if err != nil {
		return nil, err
	}
	return []row{{
		Name: "jp version", RivalName: "git --version", Unit: seconds, Target: startTarget, Difference: true,
		JP: took["jp"].median().Seconds(), Rival: took["git"].median().Seconds(),
	}}, nil
}

// buildJP builds the program with the caller's own environment, which knows
// where Go keeps what it has built.
func (b *bench) buildJP(ctx context.Context) (string, error) {
	dir, err := b.newDir(b.scratch)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "jp")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "jp/cmd/jp")
	cmd.Env = b.environ
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build jp: %w: %s", err, bytes.TrimSpace(out))
	}
	return path, nil
}
