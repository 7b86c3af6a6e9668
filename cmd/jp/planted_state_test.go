package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlantedState puts every kind of file in the place of each one that jp reads back from .git/jp,
// as a program that writes there could. jp's answers are as before, or name the file.
func TestPlantedState(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.environ = append(p.environ, "JP_SESSION=mine")
	ask := func(text string) string {
		p.write("../edit.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \""+strings.Fields(text)[1]+
			".txt\", content = \"x\" }\n[[reply]]\nmessage = \"needle\"\n")
		r := p.jp("query", "--new", "-y", "-m", "script/../edit.toml", text)
		require.Zero(t, r.exit, r.stderr)
		return filepath.Base(strings.TrimSpace(p.jp("show", "--ref").stdout))
	}
	other, id := ask("needle one"), ask("needle two")
	own := filepath.Join(p.dir, ".git", "jp")
	for range 2 { // the second search makes marks
		require.Zero(t, p.jp("grep", "needle").exit)
	}
	require.Zero(t, p.jp("usage").exit)
	require.Zero(t, p.jp("undo", "-y").exit)
	require.Zero(t, p.jp("undo", "-y").exit) // of the undo
	require.Zero(t, p.jp("pack").exit)
	sessions, err := filepath.Glob(filepath.Join(own, "sessions", "*.json"))
	require.NoError(t, err)
	require.Len(t, sessions, 1)

	answered := func(args ...string) func() (string, string) {
		return func() (string, string) {
			r := p.jp(args...)
			return fmt.Sprintf("%d %s", r.exit, r.stdout), r.stderr
		}
	}
	searched := answered("grep", "needle")
	for _, c := range []struct {
		file   string
		other  string // the same file of another conversation
		forged string // a file that would say something else; "": the other one
		asks   func() (answer, said string)
		said   bool // jp names the file
	}{
		{"cache/" + id + ".words", "cache/" + other + ".words", "", searched, false},
		{"cache/" + id + ".commits", "cache/" + other + ".commits", "", searched, false},
		{"cache/" + id + ".index", "", "jp-index 2\n" + strings.Repeat("x", 24), answered("show", id+"@3", "--json"), false},
		{"usage/shared.json", "", `{"` + id + `":{"v":1,"head":"x","calls":[]}}`, answered("usage", "--json"), false},
		{"undo/" + id, "", "jp-undo 1 9999 " + strings.Repeat("0", 40) + " " + strings.Repeat("0", 64) + "\n", answered("undo", id, "--dry-run"), false},
		{"lists/conversations", "", "jp-list 3\n" + strings.Repeat("x", 64), answered("ls", "--json"), false},
		{"packing.json", "", `{"at":"2999-01-01T00:00:00Z","began":"2999-01-01T00:00:00Z","left":1000000,"packs":[{"name":"../../x","gone":true}]}`, answered("verify"), false},
		{"sessions/" + filepath.Base(sessions[0]), "", `{"source":"JP_SESSION=mine","history":[{"id":"` + other + `","at":"2026-01-01T00:00:00Z"}]}`, answered("print"), true},
		{"drafts/" + id + ".queue", "", `{"text":"forged","after":0}`, answered("print", id), false},
		{"drafts/" + id + ".answer", "", `{"seq":99,"call":1,"text":"forged"}`, answered("print", id), false},
	} {
		path := filepath.Join(own, c.file)
		ours, err := os.ReadFile(path)
		had := err == nil
		want, _ := c.asks()
		if had {
			ours, err = os.ReadFile(path)
			require.NoError(t, err)
		}
		theirs := []byte("theirs\n")
		if c.other != "" {
			theirs, err = os.ReadFile(filepath.Join(own, c.other))
			require.NoError(t, err, c.file)
		}
		forged := theirs
		if c.forged != "" {
			forged = []byte(c.forged)
		}
		for kind, plant := range map[string]func() error{
			"absent":    func() error { return os.Remove(path) },
			"empty":     func() error { return os.WriteFile(path, nil, 0o600) },
			"garbage":   func() error { return os.WriteFile(path, []byte("\x00\xff{[\n"), 0o600) },
			"huge":      func() error { return os.Truncate(path, 1<<40) },
			"another's": func() error { return os.WriteFile(path, theirs, 0o600) },
			"forged":    func() error { return os.WriteFile(path, forged, 0o600) },
		} {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.WriteFile(path, ours, 0o600))
			require.NoError(t, plant(), "%s %s", c.file, kind)
			got, said := c.asks()
			if c.said {
				require.NotContains(t, got, "needle one", "%s %s", c.file, kind)
				require.Equal(t, kind != "absent", strings.Contains(said, "damaged or was not written by your jp"), "%s %s: %s", c.file, kind, said)
				continue
			}
			require.Equal(t, want, got, "%s %s: %s", c.file, kind, said)
			require.NotContains(t, got+said, "forged", "%s %s", c.file, kind)
		}
		require.NoError(t, os.RemoveAll(path))
		if had {
			require.NoError(t, os.WriteFile(path, ours, 0o600))
		}
	}
	require.Equal(t, 0, p.jp("verify").exit)
}
