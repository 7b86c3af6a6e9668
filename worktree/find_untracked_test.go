package worktree_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// others lists the untracked files, and marks a later moment.
func (r *repo) others() (*worktree.UntrackedFiles, *worktree.Timestamp) {
	r.t.Helper()
	others, err := r.w.FindUntracked(r.t.Context(), nil)
	require.NoError(r.t, err)
	return others, r.later()
}

// later is a mark behind the times of all existing files: the kernel's clock for files has gone on.
func (r *repo) later() *worktree.Timestamp {
	r.t.Helper()
	for first := r.mark(); ; {
		if now := r.mark(); *now != *first {
			return now
		}
	}
}

func (r *repo) rename(from, to string) {
	r.t.Helper()
	require.NoError(r.t, os.Rename(r.path(from), r.path(to)))
}

func (r *repo) add(name, more string) {
	r.t.Helper()
	f, err := os.OpenFile(r.path(name), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(r.t, err)
	_, err = f.WriteString(more)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
}

// behind is a snapshot behind a tool that began when others had been listed.
func (r *repo) behind(parent string, others *worktree.UntrackedFiles, mark *worktree.Timestamp, inodes *worktree.Inodes) (worktree.Snapshot, []string) {
	r.t.Helper()
	s, err := r.w.Snapshot(r.t.Context(), parent, worktree.SnapshotOptions{Since: mark, Untracked: true, ListUntracked: others})
	require.NoError(r.t, err)
	return s, r.w.WithoutBaseline(s.Changes, *mark, others.Had, inodes, others.Hides)
}

func TestUnrecorded(t *testing.T) {
	tests := map[string]struct {
		between func(*repo) // behind the list, before the tool
		tool    func(*repo)
		want    []string // unrecorded
		new     []string // new in the tree, and absent before
		gone    []string
	}{
		"nothing":     {tool: func(*repo) {}},
		"a new file":  {tool: func(r *repo) { r.write("new", "n") }, new: []string{"new"}},
		"appended to": {tool: func(r *repo) { r.add("own", "+") }, want: []string{"own"}},
		"replaced":    {tool: func(r *repo) { r.write("tmp", "t"); r.rename("tmp", "own") }, want: []string{"own"}},
		"made again":  {tool: func(r *repo) { r.remove("own"); r.write("own", "n") }, want: []string{"own"}},
		"moved":       {tool: func(r *repo) { r.rename("own", "d") }, want: []string{"d"}, gone: []string{"own"}},
		"over another": {
			tool: func(r *repo) { r.rename("own", "dir/own") }, want: []string{"dir/own"}, gone: []string{"own"},
		},
		"deleted":       {tool: func(r *repo) { r.remove("own"); r.remove("dir") }, gone: []string{"dir/own", "own"}},
		"a tracked one": {tool: func(r *repo) { r.add("tracked", "+") }},
		"flagged, and not": {
			tool: func(r *repo) { r.git("update-index", "--no-assume-unchanged", "told"); r.add("told", "+") }, want: []string{"told"},
		},
		"flagged, and gone": {
			tool: func(r *repo) { r.git("update-index", "--no-assume-unchanged", "told"); r.remove("told") }, want: []string{"told"},
		},
		"tracked, moved":     {tool: func(r *repo) { r.rename("tracked", "new") }, new: []string{"new"}},
		"now tracked":        {tool: func(r *repo) { r.git("add", "own") }, want: []string{"own"}},
		"committed":          {tool: func(r *repo) { r.git("add", "-A"); r.git("commit", "-qm", "all") }, want: []string{"blank", "copy", "dir/own", "own"}},
		"a new branch's":     {tool: func(r *repo) { r.git("switch", "-q", "other") }, new: []string{"theirs"}},
		"made between":       {between: func(r *repo) { r.write("late", "l") }, tool: func(r *repo) { r.add("late", "+") }, want: []string{"late"}},
		"left as it was":     {between: func(r *repo) { r.write("late", "l") }, tool: func(*repo) {}},
		"ignored, and not":   {tool: func(r *repo) { r.write(".gitignore", ""); r.add("hidden", "+") }, want: []string{"hidden"}},
		"ignored, moved":     {tool: func(r *repo) { r.rename("hidden", "new"); r.add("new", "+") }, want: []string{"new"}},
		"ignored, committed": {tool: func(r *repo) { r.git("add", "-f", "hidden") }, want: []string{"hidden"}},
		"rules deleted":      {tool: func(r *repo) { r.remove(".gitignore"); r.add("hidden", "+") }, want: []string{"hidden"}},
		"excluded no more":   {tool: func(r *repo) { r.write(".git/info/exclude", ""); r.add("excluded", "+") }, want: []string{"excluded"}},
		"moved and changed":  {tool: func(r *repo) { r.rename("tracked", "new"); r.add("new", "+") }, new: []string{"new"}},
		"changed and moved":  {tool: func(r *repo) { r.add("tracked", "+"); r.rename("tracked", "new") }, new: []string{"new"}},
		"moved, made anew":   {tool: func(r *repo) { r.rename("tracked", "new"); r.write("tracked", "+") }, new: []string{"new"}},
		"moved twice":        {tool: func(r *repo) { r.rename("tracked", "n1"); r.rename("n1", "new"); r.add("new", "+") }, new: []string{"new"}},
		"another case":       {tool: func(r *repo) { r.rename("tracked", "Tracked"); r.add("Tracked", "+") }, new: []string{"Tracked"}},
		"moved by git":       {tool: func(r *repo) { r.git("mv", "tracked", "new"); r.add("new", "+") }, new: []string{"new"}},
		"folder, changed":    {tool: func(r *repo) { r.rename("app", "web"); r.add("web/a", "+") }, new: []string{"web/.gitignore", "web/a"}},
		"one over the other": {tool: func(r *repo) { r.rename("tracked", "own"); r.add("own", "+") }, want: []string{"own"}},
		"folder moved":       {tool: func(r *repo) { r.git("mv", "app", "web") }, new: []string{"web/.gitignore", "web/a"}},
		"folder renamed":     {tool: func(r *repo) { r.rename("app", "web") }, new: []string{"web/.gitignore", "web/a"}},
		"own folder renamed": {tool: func(r *repo) { r.rename("dir", "dir2") }, want: []string{"dir2/own"}, gone: []string{"dir/own"}},
		"ignored no more":    {tool: func(r *repo) { r.write(".gitignore", "") }},
		"empty ones":         {tool: func(r *repo) { r.remove("empty"); r.rename("blank", "dir/other") }, want: []string{"dir/other"}, gone: []string{"blank"}},
		"empty, renamed":     {tool: func(r *repo) { r.rename("empty", "web") }, new: []string{"web"}},
		"one for one":        {tool: func(r *repo) { r.rename("tracked", "dir/tracked"); r.rename("copy", "dir/copy") }, want: []string{"dir/copy"}, new: []string{"dir/tracked"}, gone: []string{"copy"}},
		"by a folder":        {tool: func(r *repo) { r.remove("own"); r.write("own/a", "a") }, new: []string{"own/a"}, gone: []string{"own"}},
		"moved in between":   {between: func(r *repo) { r.rename("hidden", "brought") }, tool: func(r *repo) { r.add("brought", "+") }, want: []string{"brought"}},
		"tracked, by the user": {
			between: func(r *repo) { r.rename("tracked", "notes") }, tool: func(r *repo) { r.add("notes", "+") }, want: []string{"notes"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"tracked": "t", "told": "t2", ".gitignore": "hidden\n", "empty": "", "app/.gitignore": "x\n", "app/a": "a"})
			r.write(".git/info/exclude", "excluded\n")
			r.git("switch", "-q", "-c", "other")
			r.write("theirs", "t")
			r.git("add", "theirs")
			r.git("commit", "-q", "-m", "theirs")
			r.git("switch", "-q", "-")
			for _, name := range []string{"own", "dir/own", "hidden", "excluded"} {
				r.write(name, "mine")
			}
			r.write("blank", "")
			r.write("copy", "t")
			r.git("update-index", "--assume-unchanged", "told")
			r.add("told", "mine")
			r.later()
			others, mark := r.others()
			if tt.between != nil {
				tt.between(r)
				mark = r.later()
			}
			parent := r.head()
			var inodes *worktree.Inodes // the snapshot before a tool has the user's changes
			if tt.between == nil {
				_, err := r.w.Snapshot(r.t.Context(), parent, worktree.SnapshotOptions{})
				require.NoError(t, err)
				inodes = worktree.InodesOf(r.w, parent)
				defer inodes.Close()
			}
			tt.tool(r)
			s, unrecorded := r.behind(parent, others, mark, inodes)
			require.Equal(t, tt.want, unrecorded)
			var fresh, gone []string
			for _, c := range s.Changes {
				if c.Status == "A" && !slices.Contains(tt.want, c.Path) {
					fresh = append(fresh, c.Path)
				}
			}
			for _, l := range s.LeftOut {
				if l.Why == worktree.WhyGone {
					gone = append(gone, l.Path)
				}
			}
			require.Equal(t, tt.new, fresh)
			require.Equal(t, tt.gone, gone)
		})
	}
}

// TestOthersAreHandedOn shows that a file of a snapshot is no other file for the next one, and that a file
// that it lacks is.
func TestOthersAreHandedOn(t *testing.T) {
	r := newRepo(t, map[string]string{"tracked": "t"})
	r.write("own", "mine")
	r.write("stashed", "mine")
	others, mark := r.others()
	r.write("made", "1")
	r.write("key.pem", "1") // stays out
	first, unrecorded := r.behind(r.head(), others, mark, nil)
	require.Empty(t, unrecorded)

	mark = r.later()
	r.remove("made")
	r.remove("stashed")
	second, _ := r.behind(first.Tree, first.Untracked, mark, nil)
	require.Equal(t, []worktree.Skipped{{Path: "stashed", Why: worktree.WhyGone}}, second.LeftOut)

	mark = r.later()
	r.write("made", "2")
	r.add("own", "+")
	r.rename("key.pem", "key")
	r.write("stashed", "mine")
	third, unrecorded := r.behind(second.Tree, second.Untracked, mark, nil)
	require.Equal(t, []string{"key", "own", "stashed"}, unrecorded)
	require.Equal(t, []worktree.Skipped{{Path: "key.pem", Why: worktree.WhyGone}}, third.LeftOut, "what went earlier is said once")

	r.open(worktree.Options{Mode: worktree.Off})
	none, err := r.w.FindUntracked(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

// A file of a folder that was exchanged for another has the old time.
func TestUntouched(t *testing.T) {
	r := newRepo(t, map[string]string{"tracked": "t"})
	for _, name := range []string{"a/f", "b/f", "c/kept", "c/written", "same"} {
		r.write(name, name)
	}
	parent := r.head()
	r.later() // a folder that changed while it was listed may have other entries
	before, mark := r.others()
	r.rename("a", "x")
	r.rename("b", "a")
	r.rename("x", "b")
	r.write("c/written", "more")
	r.write("same", "same")
	s, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{
		Since: mark, Untracked: true, ListUntracked: before, Unchanged: func(path string) bool { return path == "same" },
	})
	require.NoError(t, err)
	untouched := map[string]bool{}
	for _, name := range []string{"a/f", "b/f", "c/kept", "c/written", "same", "none"} {
		untouched[name] = s.Untracked.Untouched(before)(name)
	}
	require.Equal(t, map[string]bool{"a/f": false, "b/f": false, "c/kept": true, "c/written": false, "same": false, "none": false}, untouched)
	require.False(t, s.Untracked.Untouched(nil)("c/kept"))
	require.Len(t, s.Changes, 1)
	require.Equal(t, "c/written", s.Changes[0].Path)
}
