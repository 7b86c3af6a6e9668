package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/backup"
	"jp/conversation"
	"jp/internal/action"
	"jp/worktree"
)

// A start is the state before a tool that touches only the files that it names, for the look after it.
type start struct {
	at           worktree.Timestamp
	skipped      notRecorded
	controlFiles gitControlFiles // nil: it cannot write them
	refs         refState
	moment       *backup.Moment // or nil
}

// A mark is the state before a tool, for the look after it.
type mark struct {
	tree         worktree.Timestamp
	controlFiles gitControlFiles
	refs         refState
	missed       notRecorded
	stale        []string // those of missed that the tree has in another state
	index        *stagedIndex
	inodes       *worktree.Inodes         // of the tree
	listed       *worktree.UntrackedFiles // before the mark
	moment       *backup.Moment           // or nil
}

// revertedFiles are files that differed from the tree, unrecorded, and are again as in the tree: the tree's
// changes lack them.
func (m *mark) revertedFiles(after worktree.Snapshot) (left []conversation.SkippedPath) {
	told := reportedBy(after)
	for _, path := range m.stale {
		if !told.has(path) {
			left = append(left, conversation.SkippedPath{Path: conversation.QuotePath(path), Why: whyReverted})
		}
	}
	return left
}

// withoutOld drops the files that were left out for the same reason before the tool, and were not written
// since: these are not the tool's work. If only a filter gives the content that git would store of a file, jp
// cannot even tell whether it has changed.
func (f *Files) withoutOld(before *mark, left []conversation.SkippedPath) []conversation.SkippedPath {
	return slices.DeleteFunc(left, func(l conversation.SkippedPath) bool {
		path, err := conversation.UnquotePath(l.Path)
		why, was := before.missed[path]
		return err == nil && was && why == l.Why && path != "." && f.Tree.Older(path, before.tree)
	})
}

// GitIndex is the path under which a result lists files that are no longer staged, or newly staged.
const GitIndex = ".git/index"

const mostUnstaged = 5

// NewlyStaged begins the words for files that a tool staged without changing them. They hold until HEAD
// moves.
const NewlyStaged = "newly staged: "

// StagedNoMore reports whether these are such words, of an event before HEAD moved.
func StagedNoMore(l conversation.SkippedPath, event, moved int) bool {
	return l.Path == GitIndex && event < moved && strings.HasPrefix(l.Why, NewlyStaged)
}

// HeadMoved is the newest event at which HEAD moved, or 0.
func HeadMoved(events []*conversation.Event) (seq int) {
	for _, e := range events {
		if e.Git != nil && e.Git.HeadWas != "" {
			seq = e.Seq
		}
	}
	return seq
}

// unstaged are the files that the user had staged and a tool unstaged, those that it untracked, and those
// that it staged but did not write. If it wrote a file, undo unstages it itself.
func (f *Files) unstaged(ctx context.Context, before *mark, head string, wrote func(path string) bool) []conversation.SkippedPath {
	index := before.index
	before.index = nil // one look closes it
	lost, dropped, added, err := index.Lost(ctx, f.run, head)
	added = slices.DeleteFunc(added, wrote)
	var words []string
	if len(lost) > 0 {
		words = append(words, "no longer staged: "+stagedWords(lost, mostUnstaged, conversation.QuotePath))
	}
	if len(dropped) > 0 {
		words = append(words, "no longer tracked: "+Some(quoted(dropped), mostUnstaged)+"; "+
			action.TrackAgain(dropped[:min(len(dropped), mostUnstaged)]...).String()+" tracks it again")
	}
	if err != nil {
		return nil
	}
	var left []conversation.SkippedPath
	if len(words) > 0 {
		left = append(left, conversation.SkippedPath{Path: GitIndex, Why: strings.Join(words, ". ")})
	}
	if len(added) > 0 {
		left = append(left, conversation.SkippedPath{Path: GitIndex, Why: NewlyStaged + Some(quoted(added), mostUnstaged) + "; " +
			action.TrackAgain(added[:min(len(added), mostUnstaged)]...).String() + " unstages"})
	}
	return left
}

// Unstage unstages the changes of files that jp has put back. It returns these paths, and those at which the
// index still differs from both HEAD and the file.
func (f *Files) Unstage(ctx context.Context, head string, done []worktree.WriteOp) (unstaged, still []string, err error) {
	stageable := func(v worktree.Version) string {
		if v == (worktree.Version{}) {
			return ""
		}
		return v.Mode + " " + v.OID
	}
	var changes []indexChange
	for _, op := range done {
		changes = append(changes, indexChange{Path: op.Path, Was: stageable(op.Is), Is: stageable(op.To)})
	}
	return unstage(ctx, f.run, head, changes)
}

const whyReverted = "it is again as it was recorded last; what it held before is recorded nowhere"

// deletedFiles are files outside of all trees that are gone now.
func (f *Files) deletedFiles(before notRecorded, after worktree.Snapshot) (left []conversation.SkippedPath) {
	told := reportedBy(after)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if told.has(path) || before[path] == worktree.WhyGone {
			continue
		}
		if _, err := os.Lstat(filepath.Join(f.git.TopLevel, filepath.FromSlash(path))); errors.Is(err, fs.ErrNotExist) {
			left = append(left, conversation.SkippedPath{Path: conversation.QuotePath(path), Why: worktree.WhyGone})
		}
	}
	return left
}

func reportedBy(snap worktree.Snapshot) notRecorded {
	told := missedBy(snap)
	for _, c := range snap.Changes {
		told[c.Path] = ""
	}
	return told
}

// notRecorded are the paths that a snapshot left out, with the reasons: its tree has their last recorded
// content, or lacks them.
type notRecorded map[string]string

func missedBy(snap worktree.Snapshot) notRecorded {
	paths := notRecorded{}
	for _, l := range snap.LeftOut {
		paths[l.Path] = l.Why
	}
	return paths
}

func (m notRecorded) has(path string) bool {
	_, is := m[path]
	return is
}
