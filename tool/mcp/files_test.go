package mcp_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/mcp"
)

// within is a repository without a git directory of its own.
func within(root string) func(string) bool {
	return func(path string) bool {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	}
}

// workingTree is a folder with files that a command line may name, beside a file outside of the repository.
func workingTree(t *testing.T) mcp.Approvals {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root := filepath.Join(dir, "tree")
	for _, name := range []string{"server.js", "conf.json", "bin/run", "lib/main.py", "pkg/__main__.py", "pkg/__init__.py", "app/index.js", "app/package.json", "../outside.js", "../home/target.js", "../path/tool"} {
		put(t, filepath.Join(root, name), name)
	}
	require.NoError(t, os.Symlink("../home/target.js", filepath.Join(root, "out.js")))
	require.NoError(t, os.Symlink("server.js", filepath.Join(root, "in.js")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "dangling.js")))
	require.NoError(t, os.Symlink("tree/server.js", filepath.Join(dir, "to-tree.js")))
	require.NoError(t, os.Symlink("../tree/bin/run", filepath.Join(dir, "path", "linked")))
	t.Setenv("PATH", filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
	return mcp.Approvals{Dir: filepath.Join(dir, "state"), Root: root, Holds: func(path string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel) || within(root)(path)
	}}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		require.NoError(t, os.Remove(path)) // a pipe without a reader
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
}

// TOP is the working tree, ALL its surroundings.
func TestFilesOfACommandLine(t *testing.T) {
	for command, want := range map[string]string{
		"docs-server --stdio":                 "",
		"node":                                "",
		"node server.js":                      "server.js",
		"node ./server.js":                    "server.js",
		"node TOP/server.js":                  "server.js",
		"node bin/../server.js":               "server.js",
		"./bin/run":                           "bin/run",
		"bin/run --config=conf.json":          "bin/run conf.json",
		"TOP/bin/run -cconf.json":             "bin/run conf.json",
		"docs --set a=conf.json,b=server.js":  "conf.json server.js",
		"node --import file://TOP/server.js":  "server.js",
		"node ALL/outside.js":                 "",
		"node ../outside.js":                  "",
		"node missing.js":                     "",
		"node in.js":                          "in.js",
		"node out.js":                         "out.js",
		"node dangling.js":                    "",
		"node ALL/to-tree.js":                 "ALL/to-tree.js",
		"linked --stdio":                      "ALL/path/linked",
		"tool --stdio":                        "",
		"python -m http.server":               "",
		"python3 -m lib.main":                 "lib/main.py",
		"env A=b python3.12 -I -m pkg":        "pkg/__init__.py pkg/__main__.py",
		"pytest -m pkg.nothing":               "",
		"node app":                            "app/index.js app/package.json",
		"node .":                              "",
		"node TOP":                            "",
		"uv run --directory lib main.py":      "lib/main.py",
		"uv run main.py --directory ./lib":    "lib/main.py",
		"sh -c|cd lib && python main.py <a":   "lib/main.py",
		"sh -c|exec './bin/run';node \"in.js": "bin/run in.js",
	} {
		t.Run(command, func(t *testing.T) {
			a := workingTree(t)
			full := strings.NewReplacer("TOP", a.Root, "ALL", filepath.Dir(a.Root)).Replace
			argv := strings.Fields(full(command))
			if before, script, found := strings.Cut(full(command), "|"); found {
				argv = append(strings.Fields(before), script)
			}
			files := a.Files(mcp.Spec{Name: "docs", Command: argv})
			require.Equal(t, strings.Fields(full(want)), append([]string{}, slices.Sorted(maps.Keys(files))...))
			for name, hash := range files {
				require.Len(t, hash, 64, name)
			}
			require.Empty(t, mcp.Approvals{Root: a.Root}.Files(mcp.Spec{Command: argv}), "outside of a repository there are none")
			inVariable := a.Files(mcp.Spec{Name: "docs", Command: []string{"docs"}, Env: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}})
			if !strings.Contains(command, "-m") && !strings.Contains(command, "TOP/bin") && !strings.HasPrefix(command, "bin") && !strings.HasPrefix(command, "./bin") && !strings.HasPrefix(command, "linked") {
				require.Equal(t, files, inVariable, "a variable may name them, too")
			}
		})
	}
}

// If any file that a server starts with changes, the server stays stopped until the user decides, and the
// change is named.
func TestAChangedFileAsksAgain(t *testing.T) {
	at := func(s *stage, name string) string { return filepath.Join(s.opts.Dir, name) }
	for name, tt := range map[string]struct {
		change func(t *testing.T, s *stage)
		want   []mcp.FileChange
	}{
		"nothing":     {func(*testing.T, *stage) {}, nil},
		"other file":  {func(t *testing.T, s *stage) { put(t, at(s, "other.json"), "x") }, nil},
		"same bytes":  {func(t *testing.T, s *stage) { put(t, at(s, "conf.json"), "{}") }, nil},
		"one byte":    {func(t *testing.T, s *stage) { put(t, at(s, "conf.json"), "[]") }, []mcp.FileChange{{"conf.json", "changed"}}},
		"no file":     {func(t *testing.T, s *stage) { require.NoError(t, os.Remove(at(s, "conf.json"))) }, []mcp.FileChange{{"conf.json", "gone"}}},
		"new file":    {func(t *testing.T, s *stage) { put(t, at(s, "later.json"), "{}") }, []mcp.FileChange{{"later.json", "new"}}},
		"link target": {func(t *testing.T, s *stage) { put(t, at(s, "target"), "other") }, []mcp.FileChange{{"link", "changed"}}},
		"pipe": {func(t *testing.T, s *stage) {
			require.NoError(t, os.Remove(at(s, "conf.json")))
			require.NoError(t, syscall.Mkfifo(at(s, "conf.json"), 0o600))
		}, []mcp.FileChange{{"conf.json", "changed"}}},
		"two": {func(t *testing.T, s *stage) {
			put(t, at(s, "conf.json"), "[]")
			put(t, at(s, "later.json"), "{}")
		}, []mcp.FileChange{{"conf.json", "changed"}, {"later.json", "new"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "plain")
			// The log of the stage is in this folder, but counts as outside of the repository.
			s.opts.Approvals.Root = s.opts.Dir
			s.opts.Approvals.Holds = func(path string) bool { return within(s.opts.Dir)(path) && path != s.logFile }
			put(t, at(s, "conf.json"), "{}")
			put(t, at(s, "target"), "text")
			require.NoError(t, os.Symlink("target", at(s, "link")))
			s.spec.Command = append(s.spec.Command, "--config=conf.json", "link", "later.json")
			s.again()

			_, err := s.server.List(t.Context())
			require.ErrorIs(t, err, mcp.ErrFiles)
			require.ErrorContains(t, err, "conf.json is new, link is new (jp trust --mcp fake)")
			require.Zero(t, s.starts(), "it is not even started to see what it offers")
			s.server.Accept(s.server.Files())
			s.approve()
			s.again()
			offered := s.offered()
			require.NotEmpty(t, offered)
			call := s.tool("echo")
			before := s.starts()

			tt.change(t, s)
			state := s.server.State()
			require.Equal(t, tt.want, state.Files)
			require.True(t, state.Approved)
			if tt.want == nil {
				require.Equal(t, offered, s.offered())
				require.False(t, s.call("echo", `{}`).IsError)
				return
			}
			require.Empty(t, s.offered())
			for range 2 { // a tool offered before the change stays refused, too
				result, err := call.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
				require.NoError(t, err)
				require.True(t, result.IsError)
				require.Contains(t, string(result.Content), tt.want[0].Name+" is "+tt.want[0].What)
			}
			require.Equal(t, before, s.starts())

			seen := s.server.Files()
			s.server.Accept(seen)
			put(t, at(s, "conf.json"), "and again")
			_, err = s.server.List(t.Context())
			require.ErrorIs(t, err, mcp.ErrFiles, "a yes is for the files that were seen")
			put(t, at(s, "conf.json"), "{}")
			s.server.Accept(s.server.Files())
			s.approve()
			s.again()
			require.Equal(t, offered, s.offered())
		})
	}
}
