package reconcile

import (
	"time"

	"jp/conversation"
)

// A RepoState is what the repository says now.
type RepoState struct {
	Git      conversation.Git        // HEAD, branch, worktree, repository, operation in progress
	Descends bool                    // HEAD is, or descends from, the HEAD that was recorded last
	Tree     string                  // of the files now
	Changed  []conversation.PathStat // what moved in the record's spans, the last one until now
	Dirty    []string                // what `git status` names, quoted as paths are
	// Untracked are untracked files, not ignored, that differ from the start of the
	// turn, or from the last message about them.
	Untracked []Untracked
	// Submodules says that there are some, which git status does not look into.
	Submodules bool
	// ChangedSince are files, quoted, that are not as they were at the start of a lost
	// call, by the call's seq.
	ChangedSince map[int][]string
	// Unrecorded are files that lost calls name, quoted, of which no snapshot tells
	// whether they changed; true are those that are there now.
	Unrecorded map[string]bool
	Alive      map[int]bool // open calls, by seq, whose process still lives
	Again      map[int]bool // open calls, by seq, that somebody wants run again whatever they did
	Now        time.Time    // for the age
	Tools      map[string]Tool
	// Delegates are the conversations of open calls that work in one of their
	// own, by the call's seq.
	Delegates map[int]Delegate
}

// An Untracked is a file that no snapshot has.
type Untracked struct {
	Path string // quoted
	What string // "new", "changed" or "gone"
}

// A Tool is what a tool's name stands for now.
type Tool struct {
	Reads      bool // it changes nothing
	Idempotent bool // running it twice is as good as once
	Exclusive  bool // only a person may allow it
	Resumes    bool // running it again goes on with a conversation of its own
}

// A Difference is one way in which this is not the place where the turn stopped.
type Difference struct {
	What string // "repository", "worktree", "branch", "HEAD" or "in progress"
	Was  string
	Is   string
}

// MadeAnew stands behind the name of a worktree that is not the earlier one of that
// name.
const MadeAnew = " (made anew)"

// Elsewhere lists how this place differs from the one where the turn stopped. A HEAD
// with newer commits on the recorded one does not count: the model is told of it.
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
