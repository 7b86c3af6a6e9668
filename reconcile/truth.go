package reconcile

import (
	"time"

	"jp/conversation"
)

// A RepoState is the present state of the repository.
type RepoState struct {
	Git      conversation.Git        // HEAD, branch, worktree, repository, operation in progress
	Descends bool                    // HEAD is, or descends from, the HEAD that was recorded last
	Tree     string                  // of the files now
	Changed  []conversation.PathStat // changes in the record's spans, the last one until now
	Dirty    []string                // files by `git status`, quoted as paths are
	// Untracked are untracked files, not ignored, that differ from the start of the
	// turn, or from the last message about them.
	Untracked []Untracked
	// Submodules reports that there are some. git status does not look into them.
	Submodules bool
	// ChangedSince are files, quoted, that have changed since the start of a lost call, by the call's seq.
	ChangedSince map[int][]string
	// Unrecorded are files that lost calls name, quoted, for which no snapshot shows a change or its absence.
	// The value is true for those that exist now.
	Unrecorded map[string]bool
	Alive      map[int]bool // open calls, by seq, whose process still lives
	Again      map[int]bool // open calls, by seq, to run again in any case
	Now        time.Time    // for the age
	Tools      map[string]Tool
	// Delegates are the conversations of open calls that work in one of their
	// own, by the call's seq.
	Delegates map[int]Delegate
}

// An Untracked is a file outside of all snapshots.
type Untracked struct {
	Path string // quoted
	What string // "new", "changed" or "gone"
}

// A Tool is the present meaning of a tool's name.
type Tool struct {
	Reads      bool // it only reads
	Idempotent bool // running it twice is as good as once
	Exclusive  bool // only a person may allow it
	Resumes    bool // running it again goes on with a conversation of its own
}

// A Difference is one way in which this place differs from the one where the turn stopped.
type Difference struct {
	What string // "repository", "worktree", "branch", "HEAD" or "in progress"
	Was  string
	Is   string
}

// MadeAnew stands behind the name of a worktree that replaced an earlier one of that name.
const MadeAnew = " (made anew)"

// Elsewhere lists the differences of this place from that of the turn. A HEAD with newer commits on the
// recorded one does not count: the model gets a message about it.
func Elsewhere(r Record, t RepoState) []Difference {
	var differences []Difference
	add := func(what, was, is string) {
		if was != is {
			differences = append(differences, Difference{what, was, is})
		}
	}
	if r.Place.Repo != "" {
		add("repository", r.Place.Repo, t.Git.Repo)
	}
	add("worktree", r.Place.Worktree, t.Git.Worktree)
	if r.Place.Worktree == t.Git.Worktree && !(conversation.Git{WorktreeID: r.Place.WorktreeID}).SameWorktree(conversation.Git{WorktreeID: t.Git.WorktreeID}) {
		add("worktree", r.Place.Worktree, t.Git.Worktree+MadeAnew)
	}
	add("branch", r.branch(), t.Git.Branch)
	if r.Last.Git.Head != t.Git.Head && !t.Descends {
		add("HEAD", r.Last.Git.Head, t.Git.Head)
	}
	add("in progress", r.Place.InProgress, t.Git.InProgress)
	return differences
}

// branch is the branch that the turn was on last: a tool of it may have
// switched.
func (r Record) branch() string {
	if last := r.Last.Git; last.Branch != "" || last.Head != "" {
		return last.Branch
	}
	return r.Place.Branch
}
