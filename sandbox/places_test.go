package sandbox_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

func TestPlaces(t *testing.T) {
	common := []string{"/w", "/w/.git", "/tmp", "/var/tmp"}
	for name, c := range map[string]struct {
		environ, write []string
		want           []string
	}{
		"no home": {want: []string{"/w/~/.npm/_cacache", "/abs"}},
		"a home": {environ: []string{"HOME=/h"}, want: []string{
			"/h/.cache/jp-tools", "/h/.cache/pip", "/h/.npm/_cacache", "/abs",
		}},
		"elsewhere": {
			environ: []string{"TMPDIR=/t", "GOTMPDIR=relative", "XDG_CACHE_HOME=/c", "GOCACHE=/old", "GOCACHE=/g", "GOMODCACHE=/m", "GOPATH=/p:/q"},
			want:    []string{"/t", "/c/jp-tools", "/g", "/c/pip", "/w/~/.npm/_cacache", "/abs"},
		},
		"further": {
			environ: []string{"XDG_CACHE_HOME=relative"}, write: []string{"/data", "~/out", "build"},
			want: []string{"/w/~/.npm/_cacache", "/abs", "/data", "/w/~/out", "/w/build"},
		},
		"in the home": {
			environ: []string{"HOME=/h", "XDG_CACHE_HOME=/c"}, write: []string{"~/out"},
			want: []string{"/c/jp-tools", "/c/pip", "/h/.npm/_cacache", "/abs", "/h/out"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := sandbox.Places{
				Workspace: "/w", GitDir: "/w/.git", CommonDir: "/w/.git", Environ: c.environ, Write: c.write, Hidden: []string{"/k"}, Network: true,
				Caches: []string{"pip", "~/.npm/_cacache", "/abs"},
			}
			r := p.Rules(fstest.MapFS{})
			require.Equal(t, append(common[:len(common):len(common)], c.want...), r.Writable)
			require.Equal(t, []string{"/k"}, r.Hidden)
			require.True(t, r.Network)
		})
	}
}

// A git directory outside of the working tree is the working tree's only if it
// says so itself.
func TestGitDirectories(t *testing.T) {
	const linked, module, other = "/repo/.git/worktrees/w", "/repo/.git/modules/w", "/other/.git"
	for name, c := range map[string]struct {
		gitDir, commonDir string
		file, text        string
		want              []string
	}{
		"none":                {},
		"inside":              {gitDir: "/w/.git", commonDir: "/w/.git", want: []string{"/w/.git"}},
		"linked":              {linked, "/repo/.git", linked + "/gitdir", "/w/.git\n", []string{"/repo/.git"}},
		"linked, relative":    {linked, "/repo/.git", linked + "/gitdir", "../../../../w/.git\n", []string{"/repo/.git"}},
		"linked to another":   {linked, "/repo/.git", linked + "/gitdir", "/v/.git\n", nil},
		"not linked":          {linked, "/repo/.git", "", "", nil},
		"another's as shared": {"/w/.git", other, "/w/.git/gitdir", "/w/.git\n", nil},
		"as if linked":        {"/w/fake/worktrees/w", other, "/w/fake/worktrees/w/gitdir", "/w/.git\n", nil},
		"a module":            {module, module, module + "/config", "[core]\n\tbare = false\n\tworktree = ../../../../w\n", []string{module}},
		"a module, quoted":    {module, module, module + "/config", "[core]\n\tworktree = \"/w\"\n", []string{module}},
		"another's module":    {module, module, module + "/config", "[core]\n\tworktree = ../../../../v\n", nil},
		"not of the core":     {module, module, module + "/config", "[other]\n\tworktree = /w\n", nil},
		"another repository":  {other, other, other + "/config", "[core]\n\tbare = false\n", nil},
		"no repository":       {other, other, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			tree := files("/w/f", "/v/f")
			if c.file != "" {
				tree[c.file[1:]] = &fstest.MapFile{Data: []byte(c.text)}
			}
			r := sandbox.Places{Workspace: "/w", GitDir: c.gitDir, CommonDir: c.commonDir}.Rules(tree)
			require.Equal(t, append(append([]string{"/w"}, c.want...), "/tmp", "/var/tmp"), r.Writable)
		})
	}
}

// A configuration is a stranger's text.
func FuzzGitConfiguration(f *testing.F) {
	f.Add("[core]\n\tworktree = /w\n")
	f.Add("[core]\nworktree")
	f.Add("=\n[core] worktree=../..")
	f.Fuzz(func(t *testing.T, text string) {
		tree := files("/w/f", "/elsewhere/f")
		tree["elsewhere/config"] = &fstest.MapFile{Data: []byte(text)}
		r := sandbox.Places{Workspace: "/w", GitDir: "/elsewhere", CommonDir: "/elsewhere"}.Rules(tree)
		require.Contains(t, [][]string{{"/w", "/tmp", "/var/tmp"}, {"/w", "/elsewhere", "/tmp", "/var/tmp"}}, r.Writable)
	})
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		support       sandbox.Support
		offline, with int
	}{
		{sandbox.Support{ABI: 1}, 7, 4},
		{sandbox.Support{ABI: 1, Calls: true}, 3, 3},
		{sandbox.Support{ABI: 3}, 6, 3},
		{sandbox.Support{ABI: 7}, 3, 1},
		{sandbox.Support{ABI: 7, Calls: true}, 0, 0},
		{sandbox.Support{ABI: 10}, 1, 1},
	} {
		require.Len(t, c.support.Gaps(false), c.offline, "%v", c.support)
		require.Len(t, c.support.Gaps(true), c.with, "%v", c.support)
		require.True(t, c.support.Enforced())
	}
	require.False(t, sandbox.Support{Reason: "x"}.Enforced())
}
