package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/fs"
)

type fixture struct {
	testing.TB
	root  string
	tools *tool.Registry
	races bool // others change files beside the calls
}

func newFixture(t *testing.T, opts fs.Options) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return fixtureAt(t, root, opts)
}

func fixtureAt(t testing.TB, root string, opts fs.Options) *fixture {
	t.Helper()
	all, err := fs.Tools(root, opts)
	require.NoError(t, err)
	tools, err := tool.NewRegistry(all...)
	require.NoError(t, err)
	return &fixture{TB: t, root: root, tools: tools}
}

type arguments map[string]any

// run calls a tool as a turn does: the arguments are checked first. A fault that is known before is
// the error of the run.
func (f *fixture) run(name string, args arguments, answers ...string) tool.Result {
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
	call := tool.Call{Arguments: checked}
	if len(answers) > 0 {
		call.Answers = map[string]json.RawMessage{"overwrite": json.RawMessage(answers[0])}
	}
	var fault error
	if run.Definition().Fault != nil {
		fault = run.Definition().Fault(checked)
	}
	result, err := run.Run(f.Context(), call)
	require.NoError(f, err)
	if !f.races && (fault != nil || run.Definition().Fault != nil && result.IsError && len(answers) == 0) {
		require.EqualError(f, fault, string(result.Content))
	}
	return result
}

// done runs a tool that must succeed.
func (f *fixture) done(name string, args arguments, answers ...string) tool.Result {
	f.Helper()
	result := f.run(name, args, answers...)
	require.False(f, result.IsError, "%s", result.Content)
	require.Nil(f, result.Question)
	return result
}

// refused runs a tool that must fail, and returns the text for the model.
func (f *fixture) refused(name string, args arguments) string {
	f.Helper()
	result := f.run(name, args)
	require.True(f, result.IsError, "%s %v", name, args)
	require.Empty(f, result.WrittenFiles)
	require.NotNil(f, result.WrittenFiles)
	require.True(f, strings.HasPrefix(result.Effect, "error: "), result.Effect)
	return string(result.Content)
}

func (f *fixture) write(name, content string) {
	f.Helper()
	full := filepath.Join(f.root, name)
	require.NoError(f, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(f, os.WriteFile(full, []byte(content), 0o644))
}

func (f *fixture) content(name string) string {
	f.Helper()
	content, err := os.ReadFile(filepath.Join(f.root, name))
	require.NoError(f, err)
	return string(content)
}

func (f *fixture) absent(name string) {
	f.Helper()
	require.NoFileExists(f, filepath.Join(f.root, name))
}

func (f *fixture) link(target, name string) {
	f.Helper()
	require.NoError(f, os.Symlink(target, filepath.Join(f.root, name)))
}

// names lists the files and links in the workspace.
func (f *fixture) names() []string {
	f.Helper()
	return slices.DeleteFunc(f.everything(), func(name string) bool { return strings.HasSuffix(name, "/") })
}

// everything lists also the folders, with a slash at the end.
func (f *fixture) everything() []string {
	f.Helper()
	var names []string
	require.NoError(f, filepath.WalkDir(f.root, func(path string, entry os.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.root, path)
		if entry.IsDir() {
			rel += "/"
		}
		names = append(names, rel)
		return err
	}))
	return names
}

func TestDefinitions(t *testing.T) {
	f := newFixture(t, fs.Options{})
	for name, reads := range map[string]bool{
		"fs_read_file": true, "fs_list_files": true, "fs_grep_files": true,
		"fs_create_file": false, "fs_modify_file": false, "fs_delete_file": false, "fs_move_file": false,
	} {
		found, ok := f.tools.Lookup(name)
		require.True(t, ok, name)
		def := found.Definition()
		require.Equal(t, reads, def.Effect == tool.Reads, name)
		require.Equal(t, reads, def.Run == tool.Unattended, name)
		require.Equal(t, reads, def.Run != tool.Ask, name)
		require.NotEmpty(t, def.Description)
	}
	require.Len(t, f.tools.All(), 7)
}

func TestSubjectsAndPaths(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("dir/real.txt", "x")
	f.link("dir", "alias")
	f.link("/etc", "out")
	for _, tc := range []struct {
		name, args, subject string
		paths               []string
		known               bool
	}{
		{"fs_read_file", `{"path":"./dir/../dir/real.txt"}`, "./dir/../dir/real.txt", []string{"dir/real.txt"}, true},
		{"fs_create_file", `{"path":"alias/new.txt"}`, "alias/new.txt", []string{"dir/new.txt"}, true},
		{"fs_create_file", `{"path":"a/b/c.txt"}`, "a/b/c.txt", []string{"a/b/c.txt"}, true},
		{"fs_create_file", `{"path":"out/passwd"}`, "out/passwd", nil, false},
		{"fs_create_file", `{"path":"a/../../b"}`, "a/../../b", nil, false},
		{"fs_move_file", `{"source":"dir/real.txt","target":"b"}`, "dir/real.txt to b", []string{"dir/real.txt", "b"}, true},
		{"fs_delete_file", `{"path":"alias"}`, "alias", []string{"alias"}, true},
		{"fs_delete_file", `{"path":"."}`, ".", nil, false},
		{"fs_modify_file", `{"path":"dir/.."}`, "dir/..", nil, false},
		{"fs_move_file", `{"source":"dir/real.txt","target":"./"}`, "dir/real.txt to ./", []string{"dir/real.txt", "real.txt"}, true},
	} {
		found, _ := f.tools.Lookup(tc.name)
		def := found.Definition()
		require.Equal(t, tc.subject, def.Subject(json.RawMessage(tc.args)))
		paths, known := def.Paths(json.RawMessage(tc.args))
		require.Equal(t, tc.known, known, tc.args)
		require.Equal(t, tc.paths, paths, tc.args)
	}
	grep, _ := f.tools.Lookup("fs_grep_files")
	require.Equal(t, "TODO in cmd", grep.Definition().Subject(json.RawMessage(`{"pattern":"TODO","path":"cmd"}`)))
	require.Nil(t, grep.Definition().Paths)
}

func TestFailuresAreShortInOneLine(t *testing.T) {
	f := newFixture(t, fs.Options{})
	require.Equal(t, "error: no such file", f.run("fs_read_file", arguments{"path": "a"}).Effect)
	require.Equal(t, "error: outside the workspace", f.run("fs_read_file", arguments{"path": "../a"}).Effect)
	require.Equal(t, "error: protected", f.run("fs_read_file", arguments{"path": ".git/a"}).Effect)
}
