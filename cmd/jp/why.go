package main

import (
	"context"

	"jp/blame"
	"jp/cmd/jp/internal/ui"
)

// runWhy shows the conversations that the lines of a commit come from.
func runWhy(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	index, err := blame.OpenIndex(ctx, r)
	if err != nil {
		return err
	}
	why, err := index.Why(ctx, word)
	if err != nil {
		return err
	}
	return ui.ShowWhy(why, e)
}
