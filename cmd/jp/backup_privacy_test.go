package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// TestBackupsStayHere looks for the content of backups in all data that leaves the machine or the
// repository.
func TestBackupsStayHere(t *testing.T) {
	t.Parallel()
	const content = "only on this machine"
	p, s := vendorPlace(t,
		vendortest.Reply{Calls: []vendortest.Call{{ID: "call_1", Name: "shell_run", Arguments: `{"argv":["rm","-rf","u.txt","d","a.log"]}`}}},
		vendortest.Reply{Text: "Gone."}, vendortest.Reply{Text: "Back."})
	v := vendortest.VendorNamed("anthropic")
	p.write(".gitignore", "*.log\n")
	for _, name := range []string{"u.txt", "d/v.txt", "a.log"} {
		p.write(name, content+": "+name+"\n")
	}
	require.Contains(t, p.asks(v, "Tidy up").stderr, "jp undo brings all back")
	require.Zero(t, p.jp("undo", "-y").exit)
	for _, name := range []string{"u.txt", "d/v.txt", "a.log"} {
		require.FileExists(t, filepath.Join(p.dir, name))
	}
	p.asks(v, "Are they back?")

	found := 0
	state := filepath.Join(filepath.Dir(p.dir), "home")
	require.NoError(t, filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".pack") {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			found += strings.Count(string(text), content)
		}
		return err
	}))
	require.Positive(t, found, "the backups have it")

	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	p.git("init", "-q", "--bare", at("mirror"))
	p.git("push", "-q", "--mirror", at("mirror"))
	p.git("init", "-q", "--bare", at("all"))
	p.git("push", "-q", "--all", at("all"))
	p.git("clone", "-q", "--mirror", p.dir, at("clone"))
	out, err := exec.Command("cp", "-r", filepath.Join(p.dir, ".git"), at("copy")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	p.git("bundle", "create", "-q", at("bundle"), "--all")
	p.git("clone", "-q", "--mirror", at("bundle"), at("unbundled"))
	for _, name := range []string{"mirror", "all", "clone", "copy", "unbundled"} {
		all := p.git("--git-dir", at(name), "cat-file", "--batch-all-objects", "--unordered", "--batch")
		require.Contains(t, all, "# A repository", name)
		require.NotContains(t, all, content, name)
		require.NoError(t, filepath.WalkDir(at(name), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NotContains(t, string(text), content, path)
			}
			return err
		}))
	}
	for _, format := range []string{"json", "md", "html", "claude", "codex", "opencode"} {
		out := p.jp("export", "--to", format, "-o", at("export-"+format))
		require.Zero(t, out.exit, out.stderr)
		text, err := os.ReadFile(at("export-" + format))
		require.NoError(t, err)
		require.Contains(t, string(text), "Are they back?", format)
		require.NotContains(t, string(text), content, format)
	}
	id := strings.TrimPrefix(strings.TrimSpace(p.jp("show", "--ref").stdout), "refs/jp/conversations/")
	e := p.connects(`{}`)
	e.Must("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, p.dir))
	e.Mu.Lock()
	defer e.Mu.Unlock()
	for _, line := range e.Said {
		require.NotContains(t, string(line), content)
	}
	require.NotEmpty(t, e.Said)
	for _, r := range s.Requests() {
		require.NotContains(t, string(r.Body), content)
	}
}
