package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/agent/problem"
)

// A model that fails leaves an incomplete turn, and one that speaks ends it.
const (
	refuses = "[[reply]]\nfail = \"auth\"\n"
	speaks  = "[[reply]]\nmessage = \"Over.\"\n"
)

// A confines is a place in which jp cannot write in some way. The disk of the repository is put back
// as it was before each command.
type confines struct {
	*workspace
	disk, kept   string
	whole, begun string // conversations: a complete one, and one whose turn is not
	heads        string // all refs, as they are in kept
}

// newConfines makes a repository with both conversations on a disk of its own.
func newConfines(t *testing.T) *confines {
	t.Helper()
	p := newPlace(t)
	root := filepath.Dir(p.dir)
	c := &confines{workspace: p, disk: filepath.Join(root, "disk"), kept: filepath.Join(root, "kept")}
	require.NoError(t, os.Mkdir(c.disk, 0o755))
	require.NoError(t, os.Rename(p.dir, filepath.Join(c.disk, "repo")))
	p.dir = filepath.Join(c.disk, "repo")
	temporary := filepath.Join(root, "tmp")
	require.NoError(t, os.Mkdir(temporary, 0o777))
	p.environ = append(p.environ, "TMPDIR="+temporary, unconfined)
	p.write("../five.toml", fiveTools)
	p.write("../broken.toml", refuses)
	p.write("../answered.toml", speaks)
	require.Zero(t, p.jp("query", "-y", "-m", "script/../five.toml", "Go").exit)
	require.Equal(t, problem.ExitProvider, p.jp("query", "--new", "-m", "script/../broken.toml", "Two").exit)
	var list []struct{ ID, Title string }
	require.NoError(t, json.Unmarshal([]byte(p.jp("ls", "--json").stdout), &list))
	require.Len(t, list, 2)
	c.whole, c.begun = list[0].ID, list[1].ID
	if list[0].Title != "Go" {
		c.whole, c.begun = c.begun, c.whole
	}
	c.heads = p.git("for-each-ref")
	require.NoError(t, os.Rename(c.disk, c.kept))
	require.NoError(t, os.Mkdir(c.disk, 0o755))
	return c
}

// reset puts the disk back, on a file system of its own if options of a tmpfs are given, and returns a
// function that takes it away again.
func (c *confines) reset(options string) (remove func()) {
	c.t.Helper()
	if options != "" {
		if err := unix.Mount("tmpfs", c.disk, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			// Only a real file system can be really full, and mounting one is root's.
			c.t.Skipf("crash-skip e a full tmpfs: cannot mount one: %v", err)
		}
	}
	out, err := exec.Command("cp", "-a", c.kept+"/.", c.disk).CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	// The restored disk is older than the head that jp has seen, which a user would have to accept.
	require.NoError(c.t, os.RemoveAll(filepath.Join(filepath.Dir(c.disk), "home/.local/state/jp/heads")))
	remove = sync.OnceFunc(func() {
		if options != "" {
			require.NoError(c.t, unix.Unmount(c.disk, unix.MNT_DETACH))
			return
		}
		require.NoError(c.t, os.RemoveAll(c.disk))
		require.NoError(c.t, os.Mkdir(c.disk, 0o755))
	})
	c.t.Cleanup(remove)
	return remove
}

// fillFiles makes files until only some more can be made.
func fillFiles(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	folder := filepath.Join(dir, "fillers")
	require.NoError(t, os.Mkdir(folder, 0o755))
	for n := 0; ; n++ {
		err := os.WriteFile(filepath.Join(folder, fmt.Sprint(n)), nil, 0o644)
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			for i := range min(leave, n) {
				require.NoError(t, os.Remove(filepath.Join(folder, fmt.Sprint(i))))
			}
			return func() { require.NoError(t, os.RemoveAll(folder)) }
		}
	}
}

// A deed is a command that is tried within limits.
type deed struct {
	name string
	args func(c *confines) []string
	// reads: the command needs no write, and must succeed.
	reads bool
	// target is the conversation that it may change, "" for a new one.
	target func(c *confines) string
}

func whole(c *confines) string { return c.whole }
func begun(c *confines) string { return c.begun }
func none(*confines) string    { return "" }

var deeds = []deed{
	{"query", func(*confines) []string {
		return []string{"query", "--new", "-y", "--json", "-m", "script/../five.toml", "Go"}
	}, false, none},
	{"continue", func(c *confines) []string {
		return []string{"continue", c.begun, "--json", "-m", "script/../answered.toml"}
	}, false, begun},
	{"fork", func(c *confines) []string { return []string{"fork", c.whole} }, false, none},
	{"archive", func(c *confines) []string { return []string{"archive", c.whole} }, false, whole},
	{"rm", func(c *confines) []string { return []string{"rm", "-y", c.whole} }, false, whole},
	{"grep", func(*confines) []string { return []string{"grep", "Over"} }, true, none},
}

// try runs a command under a restriction, and lifts the restriction. It asserts the invariants of any
// outcome, and reports whether the command failed.
func (c *confines) try(d deed, says []string, run func(args []string) result, lift func()) (failed bool) {
	t := c.t
	t.Helper()
	out := run(d.args(c))
	lift()
	_ = os.Remove(filepath.Join(c.dir, "made.txt"))
	failed = out.exit != 0
	if failed {
		require.False(t, d.reads, "%s %s", d.name, out.stderr)
		require.Contains(t, []int{problem.ExitFailed, problem.ExitDecision}, out.exit, "%s: %s", d.name, out.stderr)
		for _, what := range says {
			require.Regexp(t, what, out.stderr, d.name)
		}
	}
	c.requireKept(d, !failed)
	if d.name == "query" && strings.HasPrefix(out.stdout, `{"type":"started"`) {
		lines := strings.SplitAfter(out.stdout, "\n")
		c.survives(lines[:len(lines)-1])
	}
	require.Empty(t, c.git("fsck", "--strict", "--no-dangling"), d.name)
	require.Zero(t, c.jp("verify", "--all").exit, d.name)
	if failed {
		again := c.jp(d.args(c)...)
		require.Zero(t, again.exit, "%s, with room again: %s", d.name, again.stderr)
	}
	return failed
}

// requireKept asserts that only the refs of the command have changed, and that those have only grown.
func (c *confines) requireKept(d deed, done bool) {
	t := c.t
	now := map[string]string{}
	for line := range strings.SplitSeq(c.git("for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		name, oid, _ := strings.Cut(line, " ")
		now[name] = oid
	}
	target := d.target(c)
	for line := range strings.SplitSeq(c.heads, "\n") {
		oid, rest, _ := strings.Cut(line, " ")
		_, ref, _ := strings.Cut(rest, "\t")
		switch {
		case target == "" || !strings.HasSuffix(ref, target):
			require.Equal(t, oid, now[ref], "%s: %s", d.name, ref)
		case d.name == "rm" && now[ref] == "":
		case d.name == "rm":
			require.Equal(t, oid, now[ref], ref)
			require.False(t, done, "acknowledged, and not done")
		case now[ref] == "":
			require.Equal(t, "archive", d.name)
			c.git("merge-base", "--is-ancestor", oid, now[strings.Replace(ref, "/conversations/", "/archive/", 1)])
		default:
			c.git("merge-base", "--is-ancestor", oid, now[ref])
		}
	}
	for _, name := range append([]string{"README.md"}, ".git/HEAD", ".git/index", ".git/config") {
		was, err := os.ReadFile(filepath.Join(c.kept, "repo", name))
		require.NoError(t, err)
		is, err := os.ReadFile(filepath.Join(c.dir, name))
		require.NoError(t, err)
		require.Equal(t, was, is, "%s: %s", d.name, name)
	}
}

// ended is the result of a command that was started otherwise.
func (c *confines) ended(cmd *exec.Cmd) result {
	c.t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(c.t, err)
	}
	return result{exit: exitOf(c.t, err), stdout: stdout.String(), stderr: stderr.String()}
}
