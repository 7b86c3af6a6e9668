package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"jp/conversation"
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
	found.add(commonDir, "info/attributes")
	found.add(gitDir, "config.worktree")
	hooks, _ := os.ReadDir(filepath.Join(commonDir, "hooks"))
	found.add(commonDir, "hooks")
	for _, hook := range hooks {
		found.add(commonDir, "hooks/"+hook.Name())
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
		what += fmt.Sprint(" ", stat.Size, stat.Ino, stat.Ctim)
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

// watch adds to what a tool left out of the tree the files that git obeys and
// that it changed, and tells the user.
func (f *files) watch(before obeyed, leftOut []conversation.LeftOut) []conversation.LeftOut {
	for _, name := range obeyedIn(f.git.GitDir, f.git.CommonDir).changed(before) {
		leftOut = append(leftOut, conversation.LeftOut{Path: conversation.QuotePath(name), Why: whyObeyed})
		f.tell(name + " has changed while a tool ran, and git obeys it: look at it before you use git here.")
	}
	return leftOut
}
