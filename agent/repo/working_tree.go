package repo

import (
	"os"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/turnloop"
)

func PlaceWord(s string) string {
	switch {
	case s == "":
		return "none"
	case gitcmd.IsObjectName(s):
		return s[:7]
	}
	return safetext.Show(s)
}

// WorktreeDir is the folder of the working tree with a name, of the main one for "". It is "" if it is
// missing.
func (r *Repo) WorktreeDir(name string) string {
	if name == "" {
		if main := filepath.Dir(r.At.CommonDir); filepath.Base(r.At.CommonDir) == ".git" && isFolder(main) {
			return main
		}
		return ""
	}
	if filepath.Base(name) != name {
		return ""
	}
	link, err := readWord(filepath.Join(r.At.CommonDir, "worktrees", name, "gitdir"))
	if dir := filepath.Dir(link); err == nil && filepath.IsAbs(link) && isFolder(dir) {
		return dir
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (r *Repo) HasCommit(commit string) bool {
	kind, _, err := r.Store.ReadObject(commit)
	return err == nil && kind == "commit"
}

// startFile names the conversation on which a worktree's sessions start.
func (r *Repo) startFile() string { return filepath.Join(r.At.GitDir, "jp-start") }

// StartOn makes every session of the worktree start on a conversation.
func (r *Repo) StartOn(id conversation.ID) error {
	return safefile.Replace(r.startFile(), []byte(string(id)+"\n"), safefile.Options{Mode: 0o666})
}

// startsOn is the conversation on which sessions start here, or "".
func (r *Repo) startsOn() conversation.ID {
	word, err := readWord(r.startFile())
	if err != nil {
		return ""
	}
	id, err := conversation.ParseID(word)
	if err != nil {
		return ""
	}
	return id
}

// WhichWorktree names another working tree than the present one.
func WhichWorktree(then, now conversation.Git) string {
	switch {
	case then.Repo != now.Repo && then.Repo != "":
		return "another repository"
	case then.Worktree == "":
		return "the main working tree"
	case then.Worktree == now.Worktree:
		return "an earlier worktree " + safetext.Show(then.Worktree)
	}
	return "worktree " + safetext.Show(then.Worktree)
}

// Outside is the record of other programs' changes.
func Outside(s turnloop.SnapshotResult) *conversation.Workspace {
	n := conversation.ListableCount(s.Stat, func(p conversation.PathStat) string { return p.Path })
	return &conversation.Workspace{Paths: s.Stat[:n], More: len(s.Stat) - n}
}

// Moved is the present place of the repository, if it differs from the events.
func Moved(events []*conversation.Event, now conversation.Git) *conversation.Git {
	for _, e := range slices.Backward(events) {
		switch {
		case e.Git == nil:
		case e.Git.SamePlace(now):
			return nil
		default:
			if e.Git.Head != now.Head {
				now.HeadWas = e.Git.Head
			}
			if e.Git.Branch != now.Branch {
				now.BranchWas = e.Git.Branch
			}
			return &now
		}
	}
	return &now
}
