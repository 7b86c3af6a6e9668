package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"jp/internal/plainfile"
	"jp/internal/safetext"
	"jp/turnloop"
)

// obeyed are the files of a git directory that say what git runs, each with what
// changes when it does. A program of a tool may write them, since it may commit;
// the user's next git would obey them.
type obeyed map[string]string

// whyObeyed is why such a file is listed with what a tool left out of the tree.
const whyObeyed = "git obeys it"

// obeyedIn looks at them. What cannot be read counts as not there.
func obeyedIn(gitDir, commonDir string) obeyed {
	found := obeyed{}
	found.add(commonDir, "config")
	found.add(gitDir, "config.worktree")
	for _, folder := range []string{"hooks", "info"} {
		found.add(commonDir, folder)
		entries, _ := os.ReadDir(filepath.Join(commonDir, folder))
		for _, entry := range entries {
			if name := folder + "/" + entry.Name(); name != "info/refs" { // a list that git gc makes
				found.add(commonDir, name)
			}
		}
	}
	if gitDir != commonDir {
		found.add(gitDir, "info/sparse-checkout")
	}
	return found
}

func (o obeyed) add(dir, name string) {
	path := filepath.Join(dir, name)
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return
	}
	what := fmt.Sprint(stat.Mode)
	if stat.Mode&unix.S_IFMT == unix.S_IFREG { // of a folder, what is in it counts
		if text, err := plainfile.Read(path); err == nil {
			what += fmt.Sprintf(" %x", sha256.Sum256(text)) // writing the same again changes nothing
		} else {
			what += fmt.Sprint(" ", stat.Size, stat.Ino, stat.Ctim)
		}
	}
	if link, err := os.Readlink(path); err == nil {
		what += " " + link
	}
	o[name] = what
}

// changed are the files that differ from those before, in order.
func (o obeyed) changed(before obeyed) []string {
	var names []string
	for name := range maps.Keys(before) {
		if o[name] != before[name] {
			names = append(names, ".git/"+name)
		}
	}
	for name := range maps.Keys(o) {
		if _, there := before[name]; !there {
			names = append(names, ".git/"+name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// review asks the person at the terminal whether the turn goes on though a tool changed
// files that git obeys. Where there is none it is nil, and the turn ends.
func (q *query) review() func(ctx context.Context, tool string, files []string) (bool, error) {
	u := q.user
	for p := q.parent; u == nil && p != nil; p = p.parent {
		u = p.user
	}
	if u == nil {
		return nil
	}
	return func(ctx context.Context, tool string, files []string) (bool, error) {
		text := safetext.Show(tool) + " changed files that git obeys. Look at them before you use git here:\n"
		for _, name := range files {
			text += "  " + safetext.Show(name) + "\n"
		}
		key, err := u.Decide(ctx, userDecision{text: text, choices: []userChoice{{'n', "no, stop the turn here"}, {'y', "yes, go on"}}})
		switch {
		case errors.Is(err, errUserGone):
			return false, &turnloop.Interrupt{Signal: "SIGHUP"}
		case errors.Is(err, errUserLeft), errors.Is(err, errUserSilent):
			return false, nil
		}
		return key == 'y', err
	}
}

// stoppedByObeyed is the end of a turn whose tool changed files that git obeys.
func (q *query) stoppedByObeyed(e *turnloop.ObeyedError) *failure {
	f := fail(exitDecision, "incomplete_turn", "the turn stopped: %s changed files that git obeys.", safetext.Show(e.Tool)).about(q.id)
	for _, name := range e.Files {
		f.details = append(f.details, safetext.Show(name))
	}
	f.details = append(f.details, "Look at these files before you use git here. The result of the tool is recorded.")
	return f.hint("jp continue "+q.id.Short(), "go on with the turn").hint("jp discard "+q.id.Short(), "give the turn up; the files stay as they are")
}
