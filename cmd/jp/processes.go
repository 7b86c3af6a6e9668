package main

import (
	"context"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
)

// registry is where the running conversations of this repository are told.
func (r processes) registry() (process.Registry, error) {
	id, err := r.workspaceID()
	return r.registryOf(id), err
}

func (r processes) registryOf(workspace string) process.Registry {
	return process.Registry{DataDir: r.paths.DataDir, Workspace: workspace, Repository: r.CommonDir}
}

// toldRegistry is the registry for somebody who only looks; ok is false where
// nothing ever ran.
func (r states) toldRegistry() (registry process.Registry, ok bool) {
	id := r.knownWorkspaceID()
	return r.processes().registryOf(id), id != ""
}

// told is what the process that holds a conversation tells of itself, an empty
// entry where it tells nothing. What is there of an earlier process does not
// count.
func (r states) told(id conversation.ID, holder process.Holder) process.Entry {
	registry, ok := r.toldRegistry()
	if !ok {
		return process.Entry{}
	}
	e, err := registry.Get(id)
	if err != nil || e.PID != holder.PID || !registry.Owns(e) {
		return process.Entry{}
	}
	return e
}

// sweep removes from the registry what was left by processes that ended without a
// word, and tells what is in it that no process put there.
func (r states) sweep(ctx context.Context, e *host) {
	registry, ok := r.toldRegistry()
	if !ok {
		return
	}
	if _, err := registry.Live(ctx); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			e.note("Warning: %s", safetext.Clean(line))
		}
	}
}

// awaitEnd gives what waits for the end of the process that holds a conversation now.
func (r processes) awaitEnd(id conversation.ID) func(context.Context) error {
	holder, _ := r.locks.Held(id)
	return func(ctx context.Context) error { return r.locks.AwaitEnd(ctx, id, holder) }
}

// The processes are those that run conversations of the repository.
type processes struct{ *repo }

func (r *repo) processes() processes { return processes{r} }
