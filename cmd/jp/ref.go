package main

import (
	"context"
	"fmt"

	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
)

// runRef prints the name of a conversation's ref, or the commit of an event.
func runRef(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	target, event := repo.SplitTarget(word)
	if event == "" {
		info, err := r.Find().Known(ctx, e.Host, target)
		if info.Ref == "" {
			return err
		}
		return printRef(e, "ref", info.Ref)
	}
	_, found, err := r.Find().ViewEvent(ctx, e.Host, word)
	if err != nil {
		return err
	}
	return printRef(e, "commit", found.Commit)
}

func printRef(e *ui.Env, key, value string) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), map[string]string{key: value})
	}
	_, err := fmt.Fprintln(e.Results(), value)
	return err
}
