package snapshot

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

// Git's steps may be shortened, as git's own continue does. A line of another program counts, and in a new
// operation a line that starts a program.
func TestPendingOperations(t *testing.T) {
	const todo = "pick 1 one\nexec make\npick 2 two\n# pick 3\n"
	rebase := map[string]string{"git-rebase-todo": todo, "done": "pick 0\n", "head-name": "refs/heads/main\n", "msgnum": "1\n"}
	am := map[string]string{"0001": "From: a\n", "0002": "From: b\n", "apply-opt": "\n", "next": "1\n"}
	picks := map[string]string{"todo": "pick 1\npick 2\n", "opts": "[options]\n\tedit = true\n"}
	renewed := map[string]string{"git-rebase-todo": "pick 1 one\npick 2 two\n", "author-script": "GIT_AUTHOR_NAME='Ada'\n", "update-refs": "refs/heads/a\n1\n0\n"}
	shorter := map[string]string{"git-rebase-todo": "pick 2 two\n"}
	merge := map[string]string{"MERGE_HEAD": "1\n", "MERGE_MSG": "Merge a\n\n# Conflicts\n"}
	squash := map[string]string{"SQUASH_MSG": "Squashed commit of the following:\n\ncommit " + strings.Repeat("1", 40) + "\nAuthor: Ada\n\n    one\n"}
	both := func(a, b map[string]string) map[string]string {
		a = maps.Clone(a)
		maps.Copy(a, b)
		return a
	}
	with := func(of map[string]string, name, text string) map[string]string {
		of = maps.Clone(of)
		of[name] = text
		return of
	}
	for name, c := range map[string]struct {
		folder        string
		before, after map[string]string
		want          []string
	}{
		"continued":           {"rebase-merge", rebase, map[string]string{"git-rebase-todo": "pick 2 two\n", "done": "pick 0\npick 1 one\nexec make\n", "head-name": "refs/heads/main\n"}, nil},
		"ended":               {"rebase-merge", rebase, nil, nil},
		"put back":            {"rebase-merge", rebase, with(rebase, "git-rebase-todo", "exec make\nexec make\npick 2 two\n"), nil},
		"exec":                {"rebase-merge", rebase, with(rebase, "git-rebase-todo", todo+"exec touch OWNED\n"), []string{"git-rebase-todo"}},
		"exec, indented":      {"rebase-merge", rebase, with(rebase, "git-rebase-todo", " \tx touch OWNED"), []string{"git-rebase-todo"}},
		"another commit":      {"rebase-merge", rebase, with(rebase, "git-rebase-todo", "pick 9 nine\n"), []string{"git-rebase-todo"}},
		"another branch":      {"rebase-merge", rebase, with(rebase, "head-name", "refs/heads/other\n"), []string{"head-name"}},
		"a strategy":          {"rebase-merge", rebase, with(rebase, "strategy", "ours\n"), []string{"strategy"}},
		"new":                 {"rebase-merge", nil, map[string]string{"git-rebase-todo": "pick 1 one\nfixup 2\nbreak\nreword 3\n", "strategy": "ort\n", "head-name": "x"}, nil},
		"new, with exec":      {"rebase-merge", nil, map[string]string{"git-rebase-todo": "pick 1 one\nx\tmake\n"}, []string{"git-rebase-todo"}},
		"new, odd strategy":   {"rebase-merge", nil, map[string]string{"strategy": "evil\n"}, []string{"strategy"}},
		"the next author":     {"rebase-merge", renewed, with(both(renewed, shorter), "author-script", "GIT_AUTHOR_NAME='Pat O'\\''Hara'\nGIT_AUTHOR_EMAIL='p@x'\nGIT_AUTHOR_DATE='@1 +0000'\n"), nil},
		"a first author":      {"rebase-merge", rebase, with(both(rebase, shorter), "author-script", "GIT_AUTHOR_NAME='Ada'\n"), nil},
		"another author":      {"rebase-merge", renewed, with(renewed, "author-script", "GIT_AUTHOR_NAME='Eve'\n"), []string{"author-script"}},
		"an author more":      {"rebase-merge", rebase, with(rebase, "author-script", "GIT_AUTHOR_NAME='Eve'\n"), []string{"author-script"}},
		"a branch moves":      {"rebase-merge", renewed, with(both(renewed, shorter), "update-refs", "refs/heads/a\n1\n2\n"), nil},
		"a branch is moved":   {"rebase-merge", renewed, with(renewed, "update-refs", "refs/heads/a\n1\n2\n"), []string{"update-refs"}},
		"a branch more":       {"rebase-merge", renewed, with(both(renewed, shorter), "update-refs", "refs/heads/a\n1\n0\nrefs/heads/main\n1\n2\n"), []string{"update-refs"}},
		"a branch's commit":   {"rebase-merge", renewed, with(both(renewed, shorter), "update-refs", "refs/heads/a\n3\n0\n"), []string{"update-refs"}},
		"first branches":      {"rebase-merge", rebase, with(rebase, "update-refs", "refs/heads/a\n1\n0\n"), []string{"update-refs"}},
		"new, with branches":  {"rebase-merge", nil, renewed, nil},
		"another strategy":    {"rebase-merge", with(rebase, "strategy_opts", " --ours\n"), with(rebase, "strategy_opts", " --theirs\n"), []string{"strategy_opts"}},
		"another base":        {"rebase-merge", with(rebase, "onto", "1\n"), with(rebase, "onto", "2\n"), []string{"onto"}},
		"a merge":             {"", nil, merge, nil},
		"another merge":       {"", merge, both(merge, map[string]string{"MERGE_HEAD": "2\n", "MERGE_MSG": "Merge b\n"}), nil},
		"a message":           {"", merge, with(merge, "MERGE_MSG", "Merge a\nEvil\n"), []string{"MERGE_MSG"}},
		"a shorter message":   {"", merge, with(merge, "MERGE_MSG", "\n"), []string{"MERGE_MSG"}},
		"conflicts solved":    {"", merge, with(merge, "MERGE_MSG", "Merge a\n"), nil},
		"a merge's end":       {"", merge, map[string]string{}, nil},
		"of a pick":           {"", map[string]string{"CHERRY_PICK_HEAD": "1\n", "MERGE_MSG": "a\n"}, map[string]string{"CHERRY_PICK_HEAD": "1\n", "MERGE_MSG": "b\n"}, []string{"MERGE_MSG"}},
		"a pick to the index": {"", map[string]string{"MERGE_MSG": "a\n"}, map[string]string{"MERGE_MSG": "b\n"}, nil},
		"squashed":            {"", nil, squash, nil},
		"squashed otherwise":  {"", squash, map[string]string{"SQUASH_MSG": strings.ReplaceAll(squash["SQUASH_MSG"], "1", "2")}, nil},
		"a squashed message":  {"", squash, map[string]string{"SQUASH_MSG": squash["SQUASH_MSG"] + "    two\n"}, []string{"SQUASH_MSG"}},
		"no squashed commits": {"", squash, map[string]string{"SQUASH_MSG": "Evil\n"}, []string{"SQUASH_MSG"}},
		"a message of no git": {"", nil, map[string]string{"SQUASH_MSG": "Evil\n"}, []string{"SQUASH_MSG"}},
		"an author's command": {"rebase-merge", rebase, with(rebase, "author-script", "GIT_AUTHOR_NAME='Ada'; touch OWNED\n"), []string{"author-script"}},
		"of a patch":          {"rebase-apply", nil, with(am, "author-script", "GIT_AUTHOR_NAME='Ada'\ntouch OWNED\n"), []string{"author-script"}},
		"patches go on":       {"rebase-apply", am, with(am, "next", "2\n"), nil},
		"another patch":       {"rebase-apply", am, with(am, "0002", "From: c\n"), []string{"0002"}},
		"one patch more":      {"rebase-apply", am, with(am, "0003", "From: c\n"), []string{"0003"}},
		"an option":           {"rebase-apply", am, with(am, "apply-opt", " '--directory=x'"), []string{"apply-opt"}},
		"new patches":         {"rebase-apply", nil, am, nil},
		"picks go on":         {"sequencer", picks, with(picks, "todo", "pick 2\n"), nil},
		"another pick":        {"sequencer", picks, with(picks, "todo", "pick 2\nexec x\n"), []string{"todo"}},
		"options of picks":    {"sequencer", picks, with(picks, "opts", "[options]\n\tstrategy = evil\n"), []string{"opts"}},
		"new picks":           {"sequencer", nil, picks, nil},
		"new, with a program": {"sequencer", nil, with(picks, "opts", "[options]\n\tstrategy = \"evil\"\n"), []string{"opts"}},
	} {
		for _, place := range []string{".git", ".git/worktrees/w", ".git/modules/lib", ".git/modules/lib/sub"} {
			t.Run(name+" in "+place, func(t *testing.T) {
				top := t.TempDir()
				dir := filepath.Join(top, place, c.folder)
				for _, file := range []string{".git/worktrees/w/commondir", place + "/HEAD"} {
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, file)), 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(top, file), []byte("../..\n"), 0o644))
				}
				last := map[string]string{}
				write := func(files map[string]string) {
					for name := range last {
						if files[name] != last[name] {
							require.NoError(t, os.Remove(filepath.Join(dir, name)))
						}
					}
					for name, text := range files {
						if last[name] == text {
							continue
						}
						require.NoError(t, os.MkdirAll(dir, 0o755))
						require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
					}
					last = files
				}
				f := &Files{git: gitcmd.Repository{TopLevel: top, GitDir: filepath.Join(top, ".git"), CommonDir: filepath.Join(top, ".git")}, Key: []byte("k")}
				write(c.before)
				before := f.controlFiles(t.Context())
				write(c.after)
				after := f.controlFiles(t.Context())
				var want []string
				for _, name := range c.want {
					want = append(want, filepath.Join(place, c.folder, name))
				}
				require.Equal(t, want, after.changed(before))
			})
		}
	}
}

// A replacement counts in every place of git's, and packing it counts as no change.
func TestReplacements(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o644))
	}
	f := &Files{git: gitcmd.Repository{TopLevel: top, GitDir: filepath.Join(top, ".git"), CommonDir: filepath.Join(top, ".git")}}
	write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\n1111 refs/heads/main\n2222 refs/replace/aaaa\n")
	look := func() gitControlFiles { return f.controlFiles(t.Context()) }
	before := look()
	write(".git/refs/replace/bbbb", "3333\n")
	loose := look()
	require.Equal(t, []string{".git/refs/replace/bbbb"}, loose.changed(before))
	write(".git/packed-refs", "1111 refs/heads/main\n2222 refs/replace/aaaa\n3333 refs/replace/bbbb\n")
	require.NoError(t, os.Remove(filepath.Join(top, ".git/refs/replace/bbbb")))
	packed := look()
	require.Empty(t, packed.changed(loose))
	write(".git/refs/replace/aaaa", "4444\n")
	require.Equal(t, []string{".git/refs/replace/aaaa"}, look().changed(packed))
	write(".git/packed-refs", "1111 refs/heads/main\n")
	require.Equal(t, []string{".git/refs/replace/aaaa", ".git/refs/replace/bbbb"}, look().changed(packed))
}
