package main

import (
	"context"
	"path/filepath"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/process"
)

// registry is where the running conversations of this repository are told.
func (r *repo) registry() (process.Registry, error) {
	id, err := r.workspaceID()
	return r.registryOf(id), err
}

func (r *repo) registryOf(workspace string) process.Registry {
	return process.Registry{DataDir: r.paths.DataDir, Workspace: workspace, Repository: r.CommonDir}
}

// toldRegistry is the registry for somebody who only looks; ok is false where
// nothing ever ran.
func (r *repo) toldRegistry() (registry process.Registry, ok bool) {
	id, err := readWord(filepath.Join(r.CommonDir, "jp", "workspace-id"))
	return r.registryOf(id), err == nil && id != ""
}

// told is what the process that holds a conversation tells of itself; ok is false
// where it tells nothing. What is there of an earlier process does not count.
func (r *repo) told(id conversation.ID, holder process.Holder) (e process.Entry, ok bool) {
	registry, ok := r.toldRegistry()
	if !ok {
		return e, false
	}
	e, err := registry.Get(id)
	return e, err == nil && e.PID == holder.PID && registry.Owns(e)
}

// attached reports whether somebody is attached to the process that holds a
// conversation.
func (r *repo) attached(id conversation.ID, holder process.Holder) bool {
	e, ok := r.told(id, holder)
	return ok && e.Attached
}

// sweep removes from the registry what was left by processes that ended without a
// word, and tells what is in it that no process put there.
func (r *repo) sweep(ctx context.Context, e *env) {
	registry, ok := r.toldRegistry()
	if !ok {
		return
	}
	if _, err := registry.Live(ctx); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			e.note("Warning: %s", terminal.Clean(line))
		}
	}
}
