package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
)

// No path lets a tool read or change protected or outside files.
func FuzzPaths(f *testing.F) {
	for _, path := range []string{
		"../outside/secret", ".git/config", ".GIT/config", ".git./config", ".g\u200cit/config", "git~1/config", "out/secret", "innocent/config",
		"dir/config", "nested/.git/config", "keys/secret", "doors/secret", "/etc/passwd", "a\x00b", "gitfile/.git", ".git::$INDEX_ALLOCATION/config",
		"dir/plain", "new/deep/file",
	} {
		f.Add(path, "loot")
		f.Add("dir/plain", path)
	}
	w, canaries := hostile(f)
	base := filepath.Dir(w.root)
	f.Fuzz(func(t *testing.T, path, other string) {
		for _, name := range []string{"fs_read_file", "fs_list_files", "fs_create_file", "fs_modify_file", "fs_move_file", "fs_delete_file"} {
			run, ok := w.tools.Lookup(name)
			require.True(t, ok)
			raw, err := json.Marshal(arguments{"path": path, "content": "owned", "source": path, "target": other, "edits": []edit{{Old: "canary", New: "owned"}}})
			require.NoError(t, err)
			call := tool.Call{Arguments: raw, Answers: map[string]json.RawMessage{"overwrite": json.RawMessage("true")}}
			result, err := run.Run(t.Context(), call)
			require.NoError(t, err)
			require.NotContains(t, string(result.Content), canary, "%s %q %q", name, path, other)
			for _, wrote := range result.WrittenFiles {
				require.True(t, filepath.IsLocal(wrote), "%s wrote %q", name, wrote)
			}
		}
		for _, path := range canaries {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, canary, string(content), path)
		}
		for _, dir := range []string{base, filepath.Join(base, "outside"), filepath.Join(w.root, ".git"), filepath.Join(w.root, "keys")} {
			requireOnlyOurs(t, dir)
		}
	})
}

// requireOnlyOurs asserts that a folder closed to tools is unchanged.
func requireOnlyOurs(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, strings.Contains(" outside work work-evil secret config ", " "+e.Name()+" "), "%s in %s", e.Name(), dir)
	}
}
