package sandbox_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/sandbox"
)

// files is a file system with these files, and with links for names with " -> ".
func files(names ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, name := range names {
		name, target, link := strings.Cut(name, " -> ")
		f := &fstest.MapFile{Mode: 0o644}
		if link {
			f = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(target)}
		}
		tree[strings.TrimPrefix(name, "/")] = f
	}
	return tree
}

// of are the places that are granted with this access.
func of(grants []sandbox.Grant, access sandbox.Access) []string {
	names := []string{}
	for _, g := range grants {
		if g.Access == access && g.Path != "/dev/shm" {
			names = append(names, g.Path)
		}
	}
	return names
}

func TestGrants(t *testing.T) {
	home := []string{
		"/bin/sh", "/dev/null", "/dev/pts/3", "/home/u/.config/git", "/home/u/.config/jp/config.toml", "/home/u/.local/state/jp/key", "/home/u/.local/state/jp/other", "/home/u/.local/state/less",
		"/home/u/work/f", "/home/v/f", "/tmp/t", "/lib -> bin",
	}
	const key = "/home/u/.local/state/jp"
	for name, c := range map[string]struct {
		extra       []string
		rules       sandbox.Rules
		read, write []string
	}{
		"nothing hidden": {read: []string{"/bin", "/home", "/tmp"}},
		"beside what is hidden": {
			rules: sandbox.Rules{Hidden: []string{key}},
			read:  []string{"/bin", "/tmp", "/home/v", "/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
		},
		"hidden twice": {
			rules: sandbox.Rules{Hidden: []string{key + "/key", key, "/home/u/.config/jp/"}},
			read:  []string{"/bin", "/tmp", "/home/v", "/home/u/work", "/home/u/.config/git", "/home/u/.local/state/less"},
		},
		"hidden, and not there": {
			rules: sandbox.Rules{Hidden: []string{"/home/v/a/b"}},
			read:  []string{"/bin", "/tmp", "/home/u", "/home/v/f"},
		},
		"hidden behind links": {
			extra: []string{"/home/u/state -> .local/state", "/home/u/l -> /home/u/state", "/home/v/loop -> loop"},
			rules: sandbox.Rules{Hidden: []string{"/home/u/l/jp", "/home/v/loop/x"}},
			read:  []string{"/bin", "/tmp", "/home/v/f", "/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
		},
		"written": {
			rules: sandbox.Rules{Writable: []string{"/home/u/work", "/tmp", "/none", "/home/u/work/f", "/tmp/"}},
			read:  []string{"/bin", "/home", "/tmp"},
			write: []string{"/home/u/work", "/tmp"},
		},
		"written above what is hidden": {
			rules: sandbox.Rules{Hidden: []string{key}, Writable: []string{"/home/u"}},
			read:  []string{"/bin", "/tmp", "/home/v", "/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
			write: []string{"/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
		},
		"written and hidden": {
			rules: sandbox.Rules{Hidden: []string{"/home/u"}, Writable: []string{"/home/u", "/home/u/work"}},
			read:  []string{"/bin", "/tmp", "/home/v"},
		},
		"a user's link": {
			extra: []string{"/home/u/cache -> /tmp/t", "/home/v/w -> ../u/work"},
			rules: sandbox.Rules{Writable: []string{"/home/u/cache", "/home/v/w"}},
			read:  []string{"/bin", "/home", "/tmp"},
			write: []string{"/tmp/t", "/home/u/work"},
		},
		"a program's link": {
			extra: []string{"/tmp/cache -> /home/u", "/tmp/far -> /home/v"},
			rules: sandbox.Rules{Writable: []string{"/tmp", "/tmp/cache", "/tmp/far/f"}},
			read:  []string{"/bin", "/home", "/tmp"},
			write: []string{"/tmp"},
		},
		"everything": {
			rules: sandbox.Rules{Hidden: []string{key}, Writable: []string{"/"}},
			read:  []string{"/bin", "/tmp", "/home/v", "/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
			write: []string{"/bin", "/tmp", "/home/v", "/home/u/.config", "/home/u/work", "/home/u/.local/state/less"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			grants := c.rules.Grants(files(append(home, c.extra...)...))
			require.Equal(t, []string{"/"}, of(grants, sandbox.List))
			require.ElementsMatch(t, c.read, of(grants, sandbox.Read))
			require.ElementsMatch(t, c.write, of(grants, sandbox.Write))
			require.Equal(t, []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}, of(grants, sandbox.Device))
		})
	}
}

func TestDevices(t *testing.T) {
	tree := files("/dev/null", "/dev/pts/3", "/dev/dri/card0", "/dev/shm -> ../run/shm", "/run/shm/f")
	grants := sandbox.Rules{Writable: []string{"/dev/dri", "/dev/none"}}.Grants(tree)
	require.Contains(t, of(grants, sandbox.Device), "/dev/dri")
	require.NotContains(t, of(grants, sandbox.Device), "/dev/none")
	require.Equal(t, []string{"/run/shm"}, of(grants, sandbox.Write), "memory that is shared is no device")
	grants = sandbox.Rules{}.Grants(files("/dev/null", "/dev/shm/f"))
	require.Contains(t, grants, sandbox.Grant{Path: "/dev/shm", Access: sandbox.Write})
}

// With any links: a granted place contains no hidden one, and leads a program only to places that it was
// meant to write to.
func TestHiddenStaysHidden(t *testing.T) {
	names := []string{"a", "b", "c"}
	paths := rapid.Custom(func(t *rapid.T) string {
		return "/" + path.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "path")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		tree := fstest.MapFS{}
		for _, name := range rapid.SliceOfNDistinct(paths, 1, 8, rapid.ID).Draw(t, "files") {
			f := &fstest.MapFile{Mode: 0o644}
			if rapid.Bool().Draw(t, "link") {
				f = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(paths.Draw(t, "target"))}
			}
			tree[name[1:]] = f
		}
		r := sandbox.Rules{Hidden: rapid.SliceOfN(paths, 0, 2).Draw(t, "hidden"), Writable: rapid.SliceOfN(paths, 0, 3).Draw(t, "writable")}
		grants := r.Grants(tree)
		for _, hidden := range r.Hidden {
			for _, g := range grants {
				real := sandbox.Follow(tree, hidden)
				if g.Access == sandbox.List {
					continue
				}
				require.False(t, below(real, g.Path), "%s is granted, and %s is in it", g.Path, real)
				require.False(t, below(g.Path, real), "%s is granted in %s", g.Path, real)
			}
		}
		for _, g := range grants {
			require.Equal(t, g.Path, sandbox.Follow(tree, g.Path), "no link is granted")
		}
	})
}

func below(name, folder string) bool {
	return name == folder || folder == "/" || strings.HasPrefix(name, folder+"/")
}

func TestCanMake(t *testing.T) {
	tree := fstest.MapFS{
		"tmp/u/state/jp/key": {}, "tmp/u/cache/x": {}, "tmp/other/x": {}, "w/x": {}, "h/x": {}, "dev/shm/x": {},
		"w/link": {Data: []byte("/tmp/u"), Mode: fs.ModeSymlink},
	}
	r := sandbox.Rules{Hidden: []string{"/tmp/u/state/jp"}, Writable: []string{"/w", "/tmp"}}
	for folder, want := range map[string]bool{
		"/tmp": false, "/tmp/u": false, "/tmp/u/state": false, "/tmp/u/state/jp": false, "/w/link": false,
		"/tmp/u/cache": true, "/tmp/other": true, "/w": true, "/dev/shm": true,
		"/h": false, "/": false, "/tmp/missing": false,
	} {
		require.Equal(t, want, r.CanMake(tree, folder), folder)
	}
	r.Hidden = []string{"/h/.state"}
	require.True(t, r.CanMake(tree, "/tmp"), "with a home elsewhere")
}
