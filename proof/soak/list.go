package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// listRounds is how often jp ls is timed, and listTarget how much longer it may
// take for the processes.
const (
	listRounds = 9
	listTarget = 2
)

// compareLists times jp ls while all wait, in turns with the same in a copy of the repository and an empty
// registry, without processes.
func (s *soak) compareLists(ctx context.Context) error {
	alone := *s.arena
	dir := filepath.Join(s.arena.dir, "copy")
	if err := s.arena.copyPacked(ctx, filepath.Join(dir, ".git")); err != nil {
		return err
	}
	alone.repo.TopLevel = dir
	alone.environ = append(alone.environ[:len(alone.environ):len(alone.environ)], "XDG_DATA_HOME="+dir)
	var with, without timings
	for range listRounds {
		if err := timeList(ctx, s.arena, &with); err != nil {
			return err
		}
		if err := timeList(ctx, &alone, &without); err != nil {
			return err
		}
	}
	s.table.ratio(fmt.Sprintf("jp ls with %d processes, against a copy without", s.n), with.all(), without.all(), listTarget)
	return nil
}

// copyPacked copies the repository while no turn runs. A packer that the last of them started may still be
// at work, and remove files: so copyPacked first packs the rest, and repeats the copy if files were gone.
func (a *environment) copyPacked(ctx context.Context, to string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := a.jp(ctx, 0, "pack")
		if err == nil {
			err = os.CopyFS(to, os.DirFS(a.repo.CommonDir))
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
}

func timeList(ctx context.Context, a *environment, took *timings) error {
	start := time.Now()
	_, err := a.jp(ctx, 0, "ls")
	took.since(start)
	return err
}
