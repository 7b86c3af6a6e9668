package gittool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/testing/gitenv"
	"jp/tool"
	"jp/tool/gittool"
)

type fixture struct {
	*testing.T
	dir   string
	tools *tool.Registry

	changed, unrecorded []string // changed by the conversation's tools
	mayRun              func(gitcmd.Repository, gitcmd.Filter) error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: gitenv.Repo(t)}
	f.open()
	return f
}

// open makes new tools, as a new turn does.
func (f *fixture) open() {
	f.Helper()
	repo, err := gitcmd.Locate(f.Context(), f.dir, gitcmd.Options{})
	require.NoError(f, err)
	f.tools, err = tool.NewRegistry(gittool.Tools(gitcmd.At(repo, gitcmd.Options{MayRun: f.mayRun}), gittool.Options{
		Changed: func(context.Context, conversation.ID) ([]string, []string, error) {
			return f.changed, f.unrecorded, nil
		},
	})...)
	require.NoError(f, err)
}

type arguments map[string]any

func (f *fixture) run(name string, args arguments) tool.Result {
	f.Helper()
	run, ok := f.tools.Lookup(name)
	require.True(f, ok, name)
	raw, err := json.Marshal(args)
	require.NoError(f, err)
	if args == nil {
		raw = nil
	}
	checked, err := tool.Check(run.Definition(), raw)
	require.NoError(f, err)
	result, err := run.Run(f.Context(), tool.Call{Arguments: checked})
	require.NoError(f, err)
	return result
}

func (f *fixture) done(name string, args arguments) tool.Result {
	f.Helper()
	result := f.run(name, args)
	require.False(f, result.IsError, "%s", result.Content)
	return result
}

func (f *fixture) refused(name string, args arguments) string {
	f.Helper()
	result := f.run(name, args)
	require.True(f, result.IsError, "%s", result.Content)
	require.True(f, strings.HasPrefix(result.Effect, "error: "))
	return string(result.Content)
}

func (f *fixture) write(name, content string) {
	f.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f, os.WriteFile(path, []byte(content), 0o644))
}

func (f *fixture) git(args ...string) string {
	f.Helper()
	return gitenv.Git(f, f.dir, args...)
}

func TestStatus(t *testing.T) {
	f := newFixture(t)
	result := f.done("git_status", nil)
	require.Equal(t, "## main\n", string(result.Content))
	require.Equal(t, "clean", result.Effect)
	f.write("README.md", "changed\n")
	f.write("ünew", "")
	result = f.done("git_status", nil)
	require.Equal(t, "## main\n M README.md\n?? ünew\n", string(result.Content))
	require.Equal(t, "2 files changed", result.Effect)
}

func TestDiff(t *testing.T) {
	f := newFixture(t)
	require.Equal(t, "no changes", f.done("git_diff", nil).Effect)
	f.write("README.md", "# Staged\n")
	f.git("add", "README.md")
	f.write("README.md", "# Working\n")
	f.git("config", "diff.noprefix", "true")
	for name, tc := range map[string]struct {
		args     arguments
		old, new string
	}{
		"working tree": {nil, "-# Staged", "+# Working"},
		"staged":       {arguments{"staged": true}, "-# A repository", "+# Staged"},
		"revision":     {arguments{"revision": "HEAD", "paths": []string{"README.md"}}, "-# A repository", "+# Working"},
		"absolute":     {arguments{"paths": []string{filepath.Join(f.dir, "README.md")}}, "-# Staged", "+# Working"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(f.done("git_diff", tc.args).Content)
			require.Contains(t, text, "--- a/README.md\n+++ b/README.md\n")
			require.Contains(t, text, tc.old+"\n"+tc.new+"\n")
		})
	}
	require.Equal(t, "[no changes]\n", string(f.done("git_diff", arguments{"paths": []string{"other"}}).Content))
}

func TestDiffRefuses(t *testing.T) {
	f := newFixture(t)
	require.Equal(t, "HEAD..HEAD compares two revisions, and has nothing staged: give one revision, or leave staged out",
		f.refused("git_diff", arguments{"staged": true, "revision": "HEAD..HEAD"}))
	require.Equal(t, 1, strings.Count(f.refused("git_show", arguments{"revision": "nosuch:a.txt"}), "nosuch"), "git's reason is said once")
}

func TestLog(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "")
	f.git("add", "a.txt")
	f.git("commit", "-q", "-m", "Add a (file)")
	result := f.done("git_log", nil)
	require.Equal(t, "2 commits", result.Effect)
	require.Regexp(t, `^[0-9a-f]{7} \d{4}-\d\d-\d\d Ada Lovelace: Add a \(file\)\n[0-9a-f]{7} .*: first\n$`, string(result.Content))
	require.Equal(t, "1 commit", f.done("git_log", arguments{"count": 1}).Effect)
	require.Contains(t, string(f.done("git_log", arguments{"query": "A (FILE)"}).Content), "Add a (file)")
	require.Equal(t, "no commits", f.done("git_log", arguments{"query": "--all"}).Effect)
	require.Equal(t, "1 commit", f.done("git_log", arguments{"paths": []string{"a.txt"}}).Effect)
}

func TestShow(t *testing.T) {
	f := newFixture(t)
	text := string(f.done("git_show", arguments{"revision": "HEAD"}).Content)
	require.Contains(t, text, "    first\n")
	require.Contains(t, text, " README.md | 1 +\n")
	require.Contains(t, text, "+# A repository\n")
	result := f.done("git_show", arguments{"revision": "HEAD:README.md"})
	require.Equal(t, "# A repository\n", string(result.Content))
	require.Equal(t, "1 line", result.Effect)
	require.Contains(t, f.refused("git_show", arguments{"revision": "nothing"}), "bad revision")
}

func TestNamesAreNeverOptions(t *testing.T) {
	f := newFixture(t)
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("canary"), 0o644))
	for _, name := range []string{"--output=owned", "-p", "--no-index", "--", "-"} {
		f.refused("git_show", arguments{"revision": name})
		f.refused("git_diff", arguments{"revision": name})
		for _, toolName := range []string{"git_diff", "git_log"} {
			f.refused(toolName, arguments{"paths": []string{name}})
		}
		f.refused("git_commit", arguments{"message": "x", "paths": []string{name}})
	}
	for _, pair := range [][]string{{outside, "/dev/null"}, {"README.md", outside}, {"..", "../x"}, {"", "a"}, {"a\x00b"}} {
		require.NotContains(t, f.refused("git_diff", arguments{"paths": pair}), "canary")
	}
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing but .git and README.md")
}

func TestShowIsCut(t *testing.T) {
	f := newFixture(t)
	f.write("big", strings.Repeat("0123456789\n", 1_000_000))
	f.git("add", "big")
	f.git("commit", "-q", "-m", "big")
	result := f.done("git_show", arguments{"revision": "HEAD:big"})
	require.Equal(t, int64(11_000_000), result.Truncated.Bytes)
	require.LessOrEqual(t, len(result.Content), tool.Limit)
	require.Equal(t, "1000000 lines", result.Effect)
}

func TestSubjects(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string][2]string{
		"git_diff":   {`{"paths":["a","b"],"staged":true,"revision":"HEAD~1"}`, "HEAD~1 staged a b"},
		"git_log":    {`{"query":"a b","count":3}`, `"a b"`},
		"git_show":   {`{"revision":"HEAD"}`, "HEAD"},
		"git_commit": {`{"message":"Add retry\n\nBecause."}`, `"Add retry"`},
	} {
		run, ok := f.tools.Lookup(name)
		require.True(t, ok)
		require.Equal(t, tc[1], run.Definition().Subject(json.RawMessage(tc[0])), name)
		require.Equal(t, name != "git_commit", run.Definition().Run == tool.Unattended)
	}
}

// The index is the user's. git diff writes file states into a copy.
func TestDiffLeavesTheIndexAlone(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "one\n")
	f.write("b.txt", "two\n")
	f.git("add", ".")
	f.git("commit", "-q", "-m", "files")
	index := filepath.Join(f.dir, ".git", "index")
	before, err := os.ReadFile(index)
	require.NoError(t, err)
	long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(f.dir, "a.txt"), long, long))
	require.Equal(t, "[no changes]\n", string(f.done("git_diff", arguments{}).Content))
	f.write("b.txt", "owt\n") // as long as it was, and maybe in the same moment
	require.Contains(t, string(f.done("git_diff", arguments{}).Content), "\n-two\n+owt\n")
	after, err := os.ReadFile(index)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
