package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/action"
	"jp/internal/leftover"
	"jp/internal/safetext"
	"jp/process"
)

// leftBehind finds the files and entries of killed processes.
func (c *checkup) leftBehind(ctx context.Context) []Finding {
	found := c.leftovers(ctx)
	found.Kept = c.kept
	return found.Findings()
}

func (c *checkup) place(ctx context.Context) leftover.Place {
	// If it is unknown whether a conversation exists, it counts as existing.
	return leftover.Place{CommonDir: c.repo.At.CommonDir, GitDir: c.repo.At.GitDir, TopLevel: c.repo.At.TopLevel, Gone: func(id conversation.ID) bool {
		if c.repo.Store == nil {
			return false
		}
		_, err := c.repo.Store.Head(ctx, id)
		return errors.Is(err, conversation.ErrNotFound)
	}}
}

func (c *checkup) leftovers(ctx context.Context) Leftovers {
	limited, done := c.patience(ctx)
	defer done()
	files, whole := c.place(ctx).Find(limited)
	found := Leftovers{Files: files, Partly: !whole, Network: diskOf(c.repo.At.CommonDir).Network, Root: c.repo.At.TopLevel}
	found.Stale, found.Errs = c.stale()
	return found
}

// stale are the entries of the registry whose processes have ended. It only reads. errs are the errors of
// unreadable entries.
func (c *checkup) stale() (entries []Entry, errs []error) {
	registry, ok := c.repo.States().ToldRegistry()
	if !ok {
		return nil, nil
	}
	files, err := os.ReadDir(registry.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{err}
	}
	for _, file := range files {
		stem, isEntry := strings.CutSuffix(file.Name(), ".json")
		id, err := conversation.ParseID(stem)
		if !isEntry || err != nil {
			continue
		}
		entry, err := registry.Get(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its process ended
		case errors.Is(err, process.ErrNotOurs):
			return entries, []error{err} // an unreadable folder has unreadable entries
		case err != nil:
			errs = append(errs, err)
		default:
			if _, held := process.LocksIn(entry.Repository).Held(id); !held {
				entries = append(entries, Entry{ID: id, Age: ageOf(filepath.Join(registry.Folder(), file.Name()))})
			}
		}
	}
	return entries, errs
}

// ageOf is how long ago a file was written.
func ageOf(path string) time.Duration {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}

// Leftovers are the files that a kill may have left.
type Leftovers struct {
	Files   []leftover.File
	Partly  bool // the search of the working tree was cut short
	Network bool // gits of other machines may work in the repository
	Stale   []Entry
	Errs    []error // of the registry
	Root    string  // base of the shown paths
	// Kept is why files stay although they were to be removed, by their paths.
	Kept map[string]error
}

// An Entry is one of the registry whose process has ended.
type Entry struct {
	ID  conversation.ID
	Age time.Duration
}

// A trace groups leftover files of a kind into one finding.
type trace struct {
	kind      leftover.Kind
	one, many string
	otherwise string // removes them, besides --fix
}

var traces = []trace{
	{leftover.Object, "unfinished git object that a killed process left", "unfinished git objects that killed processes left", action.CollectGarbage.String() + " removes what is two weeks old"},
	{leftover.Pack, "unfinished git pack that a killed process left", "unfinished git packs that killed processes left", action.CollectGarbage.String() + " removes it"},
	{leftover.State, "unfinished file of jp that a killed process left", "unfinished files of jp that killed processes left", ""},
	{leftover.WorkFile, "temporary file in the working tree", "temporary files in the working tree", "or you"},
	{leftover.Staged, "folder of files that were being restored", "folders of files that were being restored", ""},
	{leftover.Worktree, "working tree that was being made", "working trees that were being made", "the next jp fork --worktree does"},
	{leftover.ToolLock, "lock of a tool that ended with its jp", "locks of tools that ended with their jp", "the next turn there does"},
	{leftover.Draft, "unfinished answer of a conversation that is gone", "unfinished answers of conversations that are gone", ""},
}

// Findings judges the leftovers.
func (l Leftovers) Findings() (all []Finding) {
	for _, f := range l.Files {
		switch {
		case len(all) == most: // the others are found when these are gone
		case f.Kind == leftover.RefLock, f.Kind == leftover.GitLock:
			all = append(all, l.lock(f))
		case f.Kind == leftover.WrittenOne:
			all = append(all, found(Note, "leftovers", "%s, %s old, holds what you wrote, and nothing asks for it any more", l.path(f), conversation.Ago(f.Age)).
				advise("read it, and delete it"))
		}
	}
	for _, t := range traces {
		all = append(all, l.together(t)...)
	}
	all = append(all, l.registry()...)
	if l.Partly {
		all = append(all, found(Note, "leftovers", "the working tree was not looked through to its end, which takes more than a second").advise("%s looks everywhere", action.DoctorLong))
	}
	if len(all) == 0 {
		all = append(all, found(OK, "leftovers", "nothing of jp's was left behind by a kill"))
	}
	return all
}

// lock judges the lock of a ref, or one of git's own.
func (l Leftovers) lock(f leftover.File) Finding {
	what := fmt.Sprintf("%s is %s old, and keeps %s", l.path(f), conversation.Ago(f.Age), l.blocked(f))
	inUse := func(why string) Finding {
		return found(Warn, "leftovers", "%s; %s", what, why).advise("wait for that process")
	}
	switch {
	case len(f.Openers) > 0:
		return inUse(fmt.Sprintf("pid %d has it open", f.Openers[0]))
	case f.Conversation != "":
		return found(Note, "leftovers", "%s; the next turn of %s takes it over", what, f.Conversation).advise("%s", l.fixes(f))
	case len(f.Gits) > 0:
		return inUse(fmt.Sprintf("a git works in this repository (pid %d), and may hold it", f.Gits[0]))
	case f.Free && !l.Network:
		return found(Warn, "leftovers", "%s; the git that made it has ended", what).advise("%s", action.RemoveFile(f.Path))
	}
	return found(Warn, "leftovers", "%s; jp cannot see whether the git that made it has ended", what).advise("if no git works here, delete it")
}

// blocked is the action that a lock prevents.
func (l Leftovers) blocked(f leftover.File) string {
	switch name := strings.TrimSuffix(filepath.Base(f.Path), ".lock"); {
	case f.Kind == leftover.RefLock && name == "packed-refs":
		return "refs from being deleted and packed"
	case f.Kind == leftover.RefLock:
		return "the ref from being moved"
	case name == "gc.pid", name == "maintenance":
		return "git from tidying up"
	default:
		return "git from writing " + name
	}
}

// fixes describes what --fix does about a file, or why it left it.
func (l Leftovers) fixes(f leftover.File) string {
	switch why := l.Kept[f.Path]; {
	case why != nil:
		return "it stays: " + why.Error()
	case f.Age < leftover.Abandoned:
		return action.DoctorFix.String() + " removes it when it is an hour old"
	}
	return action.DoctorFix.String()
}

// together tells all files of a kind at once.
func (l Leftovers) together(t trace) []Finding {
	var files []leftover.File
	for _, f := range l.Files {
		if f.Kind == t.kind {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	oldest, bytes := files[0], int64(0)
	var names []string
	for _, f := range files {
		if bytes += f.Bytes; f.Age > oldest.Age {
			oldest = f
		}
		names = append(names, l.path(f))
	}
	slices.Sort(names)
	what := "1 " + t.one
	if len(files) > 1 {
		what = fmt.Sprintf("%d %s", len(files), t.many)
	}
	advice := l.fixes(oldest)
	if t.otherwise != "" {
		advice += "; " + t.otherwise
	}
	return []Finding{found(Note, "leftovers", "%s, %s, the oldest %s old: %s", what, safetext.Bytes(bytes), conversation.Ago(oldest.Age), listed(names, 3)).advise("%s", advice)}
}

// registry judges the entries of processes that ended.
func (l Leftovers) registry() (all []Finding) {
	for _, err := range l.Errs {
		for line := range strings.Lines(err.Error()) {
			all = append(all, found(Warn, "registry", "%s", strings.TrimSpace(line)))
		}
	}
	if len(l.Stale) == 0 {
		return all
	}
	var names []string
	oldest := time.Duration(0)
	for _, e := range l.Stale {
		names, oldest = append(names, string(e.ID)), max(oldest, e.Age)
	}
	return append(all, found(Note, "registry", "of %s that ended there are still an entry and a socket, the oldest %s old: %s",
		processes(len(names)), conversation.Ago(oldest), listed(names, 3)).advise("%s removes them, %s, too", action.Status, action.DoctorFix))
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// path is the file's path, relative to the repository.
func (l Leftovers) path(f leftover.File) string {
	if rest, ok := strings.CutPrefix(f.Path, l.Root+"/"); ok && l.Root != "" {
		return rest
	}
	return f.Path
}
