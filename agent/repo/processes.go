package repo

import (
	"context"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
)

// Registry opens the registry of this repository's running conversations.
func (r Processes) Registry() (process.Registry, error) {
	id, err := r.repo.Standings().WorkspaceID()
	return r.registryOf(id), err
}

func (r Processes) registryOf(workspace string) process.Registry {
	return process.Registry{DataDir: r.repo.Paths.DataDir, Workspace: workspace, Repository: r.repo.At.CommonDir}
}

// ToldRegistry is the registry for a read-only command. ok is false if the repository has had no process yet.
func (r States) ToldRegistry() (registry process.Registry, ok bool) {
	id := r.repo.Standings().KnownWorkspaceID()
	return r.repo.Processes().registryOf(id), id != ""
}

// entryOf is the registry entry of the process that holds a conversation, or an empty one. Entries of earlier
// processes do not count.
func (r States) entryOf(id conversation.ID, holder process.Holder) process.Entry {
	registry, ok := r.ToldRegistry()
	if !ok {
		return process.Entry{}
	}
	e, err := registry.Get(id)
	if err != nil || e.PID != holder.PID || !registry.SameRepository(e) {
		return process.Entry{}
	}
	return e
}

// Sweep removes the entries of processes that ended without cleaning up, and reports foreign files in the
// registry.
func (r States) Sweep(ctx context.Context, e *Host) {
	registry, ok := r.ToldRegistry()
	if !ok {
		return
	}
	if _, err := registry.Live(ctx); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			e.Note("Warning: %s", safetext.Clean(line))
		}
	}
}

// Runner is the process that runs a conversation, by its registry entry, or 0, and whether it is in the
// background.
func (r Processes) Runner(id conversation.ID) (pid int, background bool) {
	holder, held := r.repo.Locks.Held(id)
	if !held {
		return 0, false
	}
	e := r.repo.States().entryOf(id, holder)
	return e.PID, e.Detached
}

// AwaitEnd gives the function that waits for the end of the process that holds a conversation now.
func (r Processes) AwaitEnd(id conversation.ID) func(context.Context) error {
	holder, _ := r.repo.Locks.Held(id)
	return func(ctx context.Context) error { return r.repo.Locks.AwaitEnd(ctx, id, holder) }
}

// The Processes are those that run conversations of the repository.
type Processes struct{ repo *Repo }

func (r *Repo) Processes() Processes { return Processes{r} }
