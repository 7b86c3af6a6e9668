package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
	"jp/internal/safefile"
)

// A refState has the refs of a repository at one time, without replacements, which are control
// files. Those of jp are apart.
type refState struct {
	loose  map[string]string
	packed string // git's list of the others
	stash  string // the log of refs/stash: the second word of each line is a commit
	own    *gitstore.RefList
	ends   string // .git/shallow: commits at which git's history ends
}

const (
	mostLoose  = 20_000
	mostPacked = 16 << 20
	mostMoved  = 3 // that are named
)

// refs reads them. Before a tool those of jp are as they were after the tool before it: each look at them
// reads the time of every file, and another program made the changes between two tools.
func (f *Files) refs(ctx context.Context, after bool) (s refState) {
	if _, err := os.Lstat(filepath.Join(f.git.CommonDir, "reftable", "tables.list")); err == nil {
		s = f.refsOfTables(ctx)
	} else {
		s = f.refsInFiles()
	}
	ends, _ := safefile.ReadRegular(filepath.Join(f.git.CommonDir, "shallow"))
	s.ends = string(ends)
	f.state.Lock()
	defer f.state.Unlock()
	if f.store != nil && (after || f.state.own == nil) {
		own := f.store.SeenRefs().Read(f.state.own)
		f.state.own = &own
	}
	s.own = f.state.own
	if f.state.stashes == nil {
		f.state.stashes = &s.stash
	}
	return s
}

// refsOfTables asks git for them.
func (f *Files) refsOfTables(ctx context.Context) (s refState) {
	out, _ := f.run.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	s.packed = string(out)
	if strings.Contains(s.packed+"\n", " refs/stash\n") {
		out, _ := f.run.Run(ctx, "rev-list", "--walk-reflogs", "refs/stash")
		for commit := range strings.Lines(string(out)) {
			s.stash += "stash " + strings.TrimSpace(commit) + " \n"
		}
	}
	return s
}

func (f *Files) refsInFiles() refState {
	s := refState{loose: map[string]string{}}
	if file, err := os.OpenFile(filepath.Join(f.git.CommonDir, "packed-refs"), os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		text, _ := safefile.ReadOpened(file, mostPacked)
		s.packed = string(text)
		file.Close()
	}
	log, _ := safefile.ReadRegular(filepath.Join(f.git.CommonDir, "logs", "refs", "stash"))
	s.stash = string(log)
	root := filepath.Join(f.git.CommonDir, "refs")
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error { // git cannot read such a folder either
		rel, _ := filepath.Rel(f.git.CommonDir, path)
		name := filepath.ToSlash(rel)
		switch {
		case err != nil || len(s.loose) >= mostLoose || strings.HasSuffix(name, ".lock"):
		case entry.IsDir() && apart(name+"/"):
			return fs.SkipDir
		case !entry.IsDir():
			text, _ := safefile.ReadRegular(path)
			s.loose[name] = strings.TrimSpace(string(text))
		}
		return nil
	})
	return s
}

// apart reports whether a ref is jp's own, or a replacement, which is a control file.
func apart(name string) bool {
	return strings.HasPrefix(name, "refs/jp/") || strings.HasPrefix(name, replaceRefs)
}

// all are the refs with the objects that they name.
func (s refState) all() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(s.packed) {
		object, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.HasPrefix(name, "refs/") && !apart(name) {
			all[name] = object
		}
	}
	maps.Copy(all, s.loose)
	return all
}

// GitStash is the path under which a result lists stashes that are gone.
const GitStash = ".git/refs/stash"

// dropped lists the stashes that are gone and that were there at first.
func (s refState) dropped(before refState, first string) []conversation.SkippedPath {
	var words []string
	for line := range strings.Lines(before.stash) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.Contains(first, " "+fields[1]+" ") && !strings.Contains(s.stash, " "+fields[1]+" ") {
			words = append(words, action.StoreStash(fields[1]).String())
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []conversation.SkippedPath{{Path: GitStash, Why: "gone from the stashes; this brings it back: " + Some(words, mostMoved)}}
}

// movedRefs says in one line how refs differ from before, and lists stashes and refs of conversations
// that are gone. The branch at HEAD is among those that moved unless it has only grown: the place
// names its new commits.
func (f *Files) movedRefs(ctx context.Context, before refState, branch string) (words string, gone []conversation.SkippedPath) {
	now := f.refs(ctx, true)
	words = now.changed(before, func(name, old, object string) bool {
		if name != "refs/heads/"+branch {
			return false
		}
		_, err := f.run.Run(ctx, "merge-base", "--is-ancestor", old, object)
		return err == nil
	})
	taken := f.takenRefs(now, before)
	var said []string
	for _, ref := range taken {
		said = append(said, conversation.QuotePath(ref.name)+" "+ref.what)
	}
	if more := len(said) - mostMoved; more > 0 {
		said = append(said[:mostMoved], fmt.Sprintf("%d more of refs/jp", more))
	}
	if was, is := strings.Count(before.ends, "\n"), strings.Count(now.ends, "\n"); now.ends != before.ends {
		said = append(said, fmt.Sprintf("shallow %d → %d", was, is))
	}
	if words != "" && len(said) > 0 {
		words += ", "
	}
	gone = now.dropped(before, *f.state.stashes)
	for _, ref := range taken {
		gone = append(gone, conversation.SkippedPath{Path: conversation.QuotePath(".git/" + ref.name), Why: ref.what + ", and not by jp; " + ref.back})
	}
	return words + strings.Join(said, ", "), gone
}

// A takenRef is a ref of a conversation that something other than jp deleted or set back.
type takenRef struct {
	name, what string
	back       string // the command that brings it back
}

func (f *Files) takenRefs(now, before refState) (taken []takenRef) {
	if now.own == nil || before.own == nil {
		return nil
	}
	for _, name := range now.own.Differing(before.own) {
		is := now.own.Value(name)
		newest, was := f.store.SeenRefs().Taken(name, before.own.Value(name), is)
		switch back := "this brings it back: "; {
		case !was:
		case newest == "":
			taken = append(taken, takenRef{name, "deleted", "the next turn of the conversation makes it again"})
		case is == "":
			taken = append(taken, takenRef{name, "deleted", back + action.SetRef(name, string(newest)).String()})
		default:
			taken = append(taken, takenRef{name, "set back", back + action.SetRefFrom(name, string(newest), is).String()})
		}
	}
	return taken
}

// IsRef reports whether the path of a result names a ref.
func IsRef(path string) bool { return strings.HasPrefix(path, ".git/refs/") }

// changed describes in one line how refs differ from before, "" if they are the same: how many are new and
// gone of each kind, and which ones moved, without those that grew.
func (s refState) changed(before refState, grew func(name, old, object string) bool) string {
	if s.packed == before.packed && maps.Equal(s.loose, before.loose) {
		return ""
	}
	type counts struct{ added, gone int }
	kinds := map[string]*counts{}
	of := func(name string) *counts {
		kind := strings.Join(strings.SplitN(name, "/", 3)[:2], "/")
		if kinds[kind] == nil {
			kinds[kind] = &counts{}
		}
		return kinds[kind]
	}
	now, was := s.all(), before.all()
	var moved []string
	for name, object := range now {
		if old, known := was[name]; !known {
			of(name).added++
		} else if old != object && !grew(name, old, object) {
			moved = append(moved, name)
		}
	}
	for name := range was {
		if _, is := now[name]; !is {
			of(name).gone++
		}
	}
	var said []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		line := conversation.QuotePath(kind)
		if n := kinds[kind].added; n > 0 {
			line += fmt.Sprintf(" +%d", n)
		}
		if n := kinds[kind].gone; n > 0 {
			line += fmt.Sprintf(" -%d", n)
		}
		said = append(said, line)
	}
	slices.Sort(moved)
	for i, name := range moved {
		if i == mostMoved {
			said = append(said, fmt.Sprintf("%d more moved", len(moved)-i))
			break
		}
		said = append(said, conversation.QuotePath(strings.TrimPrefix(name, "refs/heads/"))+" moved")
	}
	return strings.Join(said, ", ")
}
