package worktree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// ground is a repository whose untracked files are listed.
type ground struct {
	t      *testing.T
	dir    string
	git    *gitcmd.Git
	lister *untrackedLister
	// stopped says that the clock stands still: every folder may change again unseen.
	stopped bool
	saved   []byte // for the next process
}

func newGround(t *testing.T) *ground {
	g := &ground{t: t, dir: gitenv.Repo(t)}
	located, err := gitcmd.Locate(t.Context(), g.dir, gitcmd.Options{})
	require.NoError(t, err)
	g.git = gitcmd.At(located, gitcmd.Options{})
	g.process()
	return g
}

// process begins another process, which has only the saved listing.
func (g *ground) process() {
	g.lister = newLister(listerOptions{
		Git: g.git, Index: filepath.Join(g.dir, ".git", "index"), Boot: "boot", Now: g.now,
		Load: func() ([]byte, error) {
			if g.saved == nil {
				return nil, errors.New("nothing was saved")
			}
			return g.saved, nil
		},
		Save: func(data []byte) { g.saved = data },
	})
}

func (g *ground) now(context.Context) (changeTime, error) {
	if g.stopped {
		return changeTime{Sec: 1}, nil
	}
	name := filepath.Join(g.dir, ".git", "now")
	err := os.WriteFile(name, nil, 0o600)
	var st unix.Stat_t
	err = errors.Join(err, unix.Lstat(name, &st), os.Remove(name))
	return changeTime{Sec: int64(st.Ctim.Sec), Nsec: int64(st.Ctim.Nsec)}, err
}

// later waits until the clock of the file system has gone on.
func (g *ground) later() changeTime {
	if g.stopped {
		return changeTime{}
	}
	first, err := g.now(g.t.Context())
	require.NoError(g.t, err)
	for {
		now, err := g.now(g.t.Context())
		require.NoError(g.t, err)
		if now != first {
			return now
		}
		time.Sleep(time.Millisecond)
	}
}

func (g *ground) write(name, text string) {
	g.t.Helper()
	require.NoError(g.t, os.MkdirAll(filepath.Dir(filepath.Join(g.dir, name)), 0o755))
	require.NoError(g.t, os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o644))
}

func (g *ground) run(args ...string) string { g.t.Helper(); return gitenv.Git(g.t, g.dir, args...) }

// wanted is git's present list.
func (g *ground) wanted() []string {
	out := g.run("ls-files", "-z", "--others", "--exclude-standard")
	paths := strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
	slices.Sort(paths)
	return paths
}

func (g *ground) list() *untrackedListing {
	g.t.Helper()
	l, err := g.lister.List(g.t.Context())
	require.NoError(g.t, err)
	return l
}

// same requires that a listing equals git's.
func (g *ground) same(what string) {
	g.t.Helper()
	got := g.list().paths()
	require.Equal(g.t, g.wanted(), append([]string{}, got...), what)
}

// After any changes to the files, the rules and the index, at any distance from the last look, the list is
// git's.
func TestListIsGits(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 32))
			g := newGround(t)
			g.stopped = seed%4 == 0
			g.write("tracked/a", "a")
			g.run("add", ".")
			g.run("commit", "-qm", "a")
			var did []string
			for range 60 {
				did = append(did, g.step(random))
				if random.IntN(3) > 0 {
					g.same(strings.Join(did, "\n"))
				}
				if random.IntN(4) == 0 {
					g.later()
				}
				if random.IntN(6) == 0 {
					g.process()
				}
			}
			g.same(strings.Join(did, "\n"))
		})
	}
}

// step does one thing to the repository, and returns its name.
func (g *ground) step(random *rand.Rand) string {
	name := func() string {
		parts := []string{"a", "b", "out", "x.log", "é", "d", "-n", ":m"}
		p := parts[random.IntN(len(parts))]
		for range random.IntN(3) {
			p = path.Join(parts[random.IntN(len(parts))], p)
		}
		return p
	}
	rules := []string{"*.log\n", "out/\n", "out\n", "/a\n!b\n", "d/*\n!d/a\n", "", "é\n"}
	rule := rules[random.IntN(len(rules))]
	at, to := name(), name()
	full := filepath.Join(g.dir, at)
	var err error
	kind := random.IntN(14)
	switch kind {
	case 0, 1, 2, 3:
		err = errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(at), 0o644))
	case 4:
		err = os.MkdirAll(full, 0o755)
	case 5:
		err = os.RemoveAll(full)
	case 6:
		err = os.Rename(full, filepath.Join(g.dir, to))
	case 7:
		err = os.WriteFile(filepath.Join(g.dir, path.Dir(at), ".gitignore"), []byte(rule), 0o644)
	case 8:
		err = os.Remove(filepath.Join(g.dir, path.Dir(at), ".gitignore"))
	case 9:
		err = os.WriteFile(filepath.Join(g.dir, ".git", "info", "exclude"), []byte(rule), 0o644)
	case 10:
		err = os.Symlink(to, full)
	case 11:
		_, err = g.git.Run(g.t.Context(), "add", "-f", "--", at)
	case 12:
		_, err = g.git.Run(g.t.Context(), "rm", "-rq", "--cached", "--", at)
	case 13:
		if random.IntN(4) == 0 {
			_, err = g.git.Run(g.t.Context(), "init", "-q", full)
		} else {
			err = os.RemoveAll(filepath.Join(full, ".git"))
		}
	}
	return fmt.Sprint(kind, " ", at, " ", to, " ", fmt.Sprintf("%q", rule), " ", err)
}

// A write into a file leaves its folder as it was, and is found.
func TestWritten(t *testing.T) {
	g := newGround(t)
	for i := range 300 {
		g.write(fmt.Sprintf("d%03d/f", i), "x")
	}
	since := g.later()
	before := g.list()
	g.write("d007/f", "y")
	g.write("d200/g", "new")
	now := g.list()
	require.Contains(t, now.written(g.dir, since), "d007/f")
	require.Equal(t, []string{"d200/g"}, now.lacks(before))
	require.Empty(t, before.lacks(now))
	require.True(t, now.Has("d200/g"))
	require.False(t, before.Has("d200/g"))
	if gone := os.Remove(filepath.Join(g.dir, "d007/f")); gone != nil {
		t.Fatal(gone)
	}
	require.Equal(t, []string{"d007/f"}, now.lacks(g.list()))
}

// A saved list that another program has written names only files in the working tree, and one that is cut
// off is ignored.
func TestSavedListings(t *testing.T) {
	g := newGround(t)
	g.write("dir/own", "x")
	g.later()
	g.same("first")
	whole := g.saved
	for length := range whole {
		g.saved = whole[:length]
		g.process()
		g.same(fmt.Sprint(length))
	}
	for at := range whole {
		g.saved = slices.Clone(whole)
		g.saved[at] ^= 1
		g.process()
		g.same(fmt.Sprint(at))
	}
}

func TestCrowded(t *testing.T) {
	var paths []string
	add := func(dir string, n int) {
		for i := range n {
			paths = append(paths, fmt.Sprintf("%s/f%d", dir, i))
		}
	}
	add("a", 5)
	add("big/in/one", 60)
	add("big/in/two", 50)
	add("big/x", 5)
	slices.Sort(paths)
	dir, files, ok := listingOf(paths).crowded(100)
	require.True(t, ok)
	require.Equal(t, "big/in", dir)
	require.Equal(t, 110, files)
	_, _, ok = listingOf(paths).crowded(1000)
	require.False(t, ok)
	var none *untrackedListing
	_, _, ok = none.crowded(0)
	require.False(t, ok)
}

// In an unchanged tree no git is started, in this process and in the next one.
func TestUnchangedTreeStartsNoGit(t *testing.T) {
	g := newGround(t)
	if !folderTimesReliable(g.dir) {
		t.Skip("the times of this file system are not known to tell")
	}
	for i := range 5 {
		g.write(fmt.Sprintf("d%d/own", i), "x")
	}
	g.write("out/ignored", "x")
	g.write(".gitignore", "out/\n")
	g.later()
	g.same("first")
	g.git = gitcmd.At(g.git.Repository(), gitcmd.Options{Program: filepath.Join(g.dir, "no-git")})
	for range 2 {
		g.process()
		require.Len(t, g.list().paths(), 6)
		g.write("d3/own", "written to, which leaves the folder as it is")
		g.write("out/more", "in a folder that git ignores")
		require.Len(t, g.list().paths(), 6)
	}
	g.write("d3/new", "x")
	_, err := g.lister.List(t.Context())
	require.ErrorIs(t, err, gitcmd.ErrGitMissing)
}
