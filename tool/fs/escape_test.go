package fs_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
	"jp/tool/fs"
)

const canary = "canary 7f3a\n"

// hostile makes a workspace full of ways out, with a canary in each place that is closed to tools.
func hostile(t testing.TB) (*fixture, []string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	outside := filepath.Join(base, "outside")
	root := filepath.Join(base, "work")
	f := fixtureAt(t, mkdir(t, root), fs.Options{Protected: []string{
		filepath.Join(root, "home", ".config", "other"), filepath.Join(root, "keys"),
	}})
	canaries := []string{
		filepath.Join(outside, "secret"), filepath.Join(base, "work-evil", "secret"),
		filepath.Join(root, ".git", "config"), filepath.Join(root, "nested", ".git", "config"),
		filepath.Join(root, "keys", "secret"),
	}
	for _, path := range canaries {
		mkdir(t, filepath.Dir(path))
		require.NoError(t, os.WriteFile(path, []byte(canary), 0o644))
	}
	f.write("dir/plain", "plain\n")
	f.write("gitfile/.git", canary)
	f.link("../outside", "out")
	f.link(outside, "out-abs")
	f.link("../outside/secret", "out-file")
	f.link(".git", "innocent")
	f.link("../.git/config", "dir/config")
	f.link("loop", "loop")
	f.link("/proc/self/root", "proc")
	f.link("keys", "doors")
	return f, append(canaries, filepath.Join(root, "gitfile", ".git"))
}

func mkdir(t testing.TB, dir string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

// attack has every tool try one path.
func attack(f *fixture, path string) {
	f.Helper()
	for name, args := range map[string]arguments{
		"fs_read_file":   {"path": path},
		"fs_list_files":  {"path": path},
		"fs_grep_files":  {"path": path, "pattern": "canary"},
		"fs_create_file": {"path": path, "content": "owned"},
		"fs_modify_file": {"path": path, "edits": []edit{{Old: "canary", New: "owned"}}},
		"fs_delete_file": {"path": path},
		"fs_move_file":   {"source": path, "target": "loot"},
	} {
		result := f.run(name, args, "true")
		require.True(f, result.IsError, "%s %q", name, path)
		require.NotContains(f, string(result.Content), canary)
	}
	result := f.run("fs_move_file", arguments{"source": "dir/plain", "target": path})
	require.True(f, result.IsError, "move to %q", path)
}

func TestNoWayOut(t *testing.T) {
	f, canaries := hostile(t)
	before := f.everything()
	for _, path := range []string{
		"..", "../outside/secret", "dir/../../outside/secret", "./../work-evil/secret", f.root + "-evil/secret",
		"/etc/passwd", "/", "//etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/../../outside/secret",
		"out/secret", "out-abs/secret", "out-file/x", "proc/etc/passwd", "loop/x", "out/../outside/secret",
		".git/config", "./.git/config", "dir/../.git/config", ".git//config", ".git/./config", ".git/new/file",
		".GIT/config", ".Git/config", ".gIt/config", ".git./config", ".git /config", ".git. ./config", ".git::$INDEX_ALLOCATION/config",
		".g\u200cit/config", ".\ufeffgit/config", ".gi\u0307t/config", ".g\u0130t/config", "GIT~1/config", "git~1/config", "g\u200dit~2/config",
		"innocent/config", "dir/../innocent/config", "nested/.git/config", "nested/.GIT/config", "new/.git/config",
		f.root + "/.git/config", "gitfile/.git", "keys/secret", "doors/secret", "KEYS/secret/x",
		"a\x00b", ".git\x00/config", strings.Repeat("../", 50) + "etc/passwd",
	} {
		attack(f, path)
	}
	for _, path := range canaries {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, canary, string(content), path)
	}
	require.Equal(t, before, f.everything(), "nothing was made on the way to a refusal")
}

func TestLinksOutAreRefusedToReadAndWrite(t *testing.T) {
	f, _ := hostile(t)
	for _, path := range []string{"out-file", "dir/config", "innocent", "loop", "proc", "out-abs"} {
		f.refused("fs_read_file", arguments{"path": path})
		f.refused("fs_grep_files", arguments{"path": path, "pattern": "canary"})
		f.refused("fs_create_file", arguments{"path": path, "content": "owned"})
		f.refused("fs_modify_file", arguments{"path": path, "edits": []edit{{Old: "canary", New: "owned"}}})
	}
	require.Equal(t, "[no matches]\n", string(f.done("fs_grep_files", arguments{"pattern": "canary"}).Content))
	f.done("fs_delete_file", arguments{"path": "out-file"})
	_, err := os.Lstat(filepath.Join(f.root, "out-file"))
	require.ErrorIs(t, err, os.ErrNotExist, "the link itself may go")
}

func TestOwnFilesAreNotWritten(t *testing.T) {
	f := newFixture(t, fs.Options{Protected: []string{}})
	f.write(".jp/config.toml", "[model]\n")
	f.link(".jp", "alias")
	require.Equal(t, "[model]\n", string(f.done("fs_read_file", arguments{"path": ".jp/config.toml"}).Content))
	for _, path := range []string{
		".jp/config.toml", ".JP/config.toml", ".jp./config.toml", "alias/config.toml", ".jp/new", "sub/.jp/config.toml",
		"a/b/.Jp /config.toml", "jp~1/x", ".jp",
	} {
		f.refused("fs_create_file", arguments{"path": path, "content": "owned"})
		f.refused("fs_move_file", arguments{"source": ".jp/config.toml", "target": path})
	}
	require.Equal(t, []string{".jp/config.toml", "alias"}, f.names())
	g := newFixture(t, fs.Options{})
	g.refused("fs_create_file", arguments{"path": ".jp/config.toml", "content": "owned"})
	require.Empty(t, g.names(), "protected also while it does not exist")
}

func TestProtectedPathsThatDoNotExist(t *testing.T) {
	root := t.TempDir()
	config := filepath.Join(root, "home", ".config", "jp")
	f := fixtureAt(t, root, fs.Options{Protected: []string{config}})
	f.refused("fs_create_file", arguments{"path": "home/.config/jp/config.toml", "content": "owned"})
	require.Empty(t, f.names())
}

func TestNamesThatOnlyLookAlike(t *testing.T) {
	f := newFixture(t, fs.Options{})
	for _, path := range []string{".gitignore", ".github/workflows/ci.yml", "git/config", ".jpg", "jp", "..git", ".git-x", "a..b", "...", "-rf", " lead"} {
		f.done("fs_create_file", arguments{"path": path, "content": "x"})
	}
}

func TestRandomPathsStayInside(t *testing.T) {
	f, canaries := hostile(t)
	element := rapid.SampledFrom([]string{
		"..", ".", "", "out", "out-abs", "out-file", "innocent", "proc", ".git", ".GIT", ".git.", "nested", "dir", "doors", "keys",
		"config", "secret", "outside", "work", "work-evil", f.root, "plain", "loop", "\x00", "new", "tmp",
	})
	names := []string{"fs_read_file", "fs_list_files", "fs_create_file", "fs_delete_file"}
	rapid.Check(t, func(rt *rapid.T) {
		path := strings.Join(rapid.SliceOfN(element, 1, 8).Draw(rt, "elements"), "/")
		run, _ := f.tools.Lookup(rapid.SampledFrom(names).Draw(rt, "tool"))
		raw, err := json.Marshal(map[string]string{"path": path, "content": "owned"})
		require.NoError(rt, err)
		result, err := run.Run(context.Background(), tool.Call{Arguments: raw})
		require.NoError(rt, err)
		require.NotContains(rt, string(result.Content), canary)
		for _, path := range canaries {
			content, err := os.ReadFile(path)
			require.NoError(rt, err)
			require.Equal(rt, canary, string(content))
		}
	})
	outside, err := os.ReadDir(filepath.Dir(canaries[0]))
	require.NoError(t, err)
	require.Len(t, outside, 1)
}

// TestSwapRace has a folder and a file replaced by links, to and fro, while
// tools use them.
func TestSwapRace(t *testing.T) {
	const rounds = 400
	f, canaries := hostile(t)
	f.write("flip/config", "inside\n")
	f.write("flip/secret", "inside\n")
	path := func(name string) string { return filepath.Join(f.root, name) }
	f.races = true
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			target := []string{".git", "../outside", "keys"}[i%3]
			_ = os.Rename(path("flip"), path("aside"))
			_ = os.Symlink(target, path("flip"))
			_ = os.Remove(path("flip"))
			_ = os.Rename(path("aside"), path("flip"))
			_ = os.Symlink(".git/config", path("l"))
			_ = os.Rename(path("l"), path("leaf"))
			_ = os.WriteFile(path("r"), []byte("inside\n"), 0o644)
			_ = os.Rename(path("r"), path("leaf"))
		}
	}()
	succeeded := 0
	for range rounds {
		for _, name := range []string{"flip/config", "flip/secret", "leaf"} {
			read := f.run("fs_read_file", arguments{"path": name})
			require.NotContains(t, string(read.Content), canary)
			made := f.run("fs_create_file", arguments{"path": name, "content": "inside\n"}, "true")
			if !made.IsError {
				succeeded++
			}
		}
	}
	close(stop)
	<-stopped
	require.Positive(t, succeeded, "the race must be one that tools sometimes win")
	for _, path := range canaries {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, canary, string(content), path)
	}
}
