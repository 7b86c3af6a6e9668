package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

// writes is a model that writes a file in the first turn, and only reads in the second.
const writes = `
[[reply]]
message = "Writing."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "b.txt", content = "hello\n" }
[[reply]]
message = "Written"
[[reply]]
message = "Seen"
`

// TestRepositoryFormats works in repositories of every combination of formats that the git of
// PATH makes: in the main working tree, in that of a fork, and in a clone that borrows objects.
func TestRepositoryFormats(t *testing.T) {
	t.Parallel()
	refs := []string{"files"}
	if gitenv.KnowsReftable() {
		refs = append(refs, "reftable")
	}
	var ran []string
	for _, objects := range []string{"sha1", "sha256"} {
		for _, format := range refs {
			ran = append(ran, objects+" with "+format)
			t.Run(objects+" "+format, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.environ = append(p.environ, "GIT_DEFAULT_HASH="+objects, "GIT_DEFAULT_REF_FORMAT="+format)
				home := filepath.Dir(p.dir)
				require.NoError(t, os.WriteFile(filepath.Join(home, "model.toml"), []byte(writes), 0o600))
				require.NoError(t, os.RemoveAll(p.dir))
				require.NoError(t, os.Mkdir(p.dir, 0o777))
				p.git("init", "-q")
				p.write("a.txt", "one\n")
				p.git("add", ".")
				p.git("commit", "-qm", "first")
				repositoryFormat(p, map[string]int{"sha1": 40, "sha256": 64}[objects], format)
			})
		}
	}
	t.Log("combinations: " + strings.Join(ran, ", "))
}

func repositoryFormat(p *workspace, digits int, refs string) {
	t := p.t
	model := "script/" + filepath.Join(filepath.Dir(p.dir), "model.toml")
	ok := func(args ...string) string {
		t.Helper()
		out := p.jp(args...)
		require.Zero(t, out.exit, "%s: %s", args, out.stderr)
		return out.stdout
	}
	user := func() string { return p.git("for-each-ref", "refs/heads", "refs/tags") + p.git("symbolic-ref", "HEAD") }
	before := user()

	require.Contains(t, ok("query", "-y", "-m", model, "--title", "Talk", "Write."), "Written")
	id, head, _ := strings.Cut(p.git("for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/jp/conversations"), " ")
	require.Len(t, head, digits)
	require.Contains(t, ok("show", "@"+head[:7]), head)
	require.Contains(t, ok("doctor"), fmt.Sprintf("objects, refs as %s\n", refs))

	// Forks, one with a working tree of its own, in which a second turn goes on.
	early := strings.TrimSpace(ok("fork", "--until", "@3"))
	ok("fork", "--worktree", "../side")
	main := p.dir
	p.dir = filepath.Join(filepath.Dir(main), "side")
	require.FileExists(t, filepath.Join(p.dir, "b.txt"))
	require.NoError(t, os.Remove(filepath.Join(p.dir, "b.txt")))
	ok("query", "-y", "-m", model, "Again.")
	require.Contains(t, ok("log", "--limit", "50"), "outside: b.txt")
	p.dir = main

	// An archived one, and one that is deleted.
	ok("archive", id)
	require.Contains(t, ok("ls", "--archived"), id)
	ok("archive", "--undo", id)
	ok("rm", "-y", early)
	require.Len(t, strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/jp/conversations")), 2)

	// Sidecars, packs, and git's own maintenance.
	found := ok("grep", "Written")
	require.Equal(t, found, ok("grep", "Written"))
	require.Contains(t, ok("pack"), "Packed")
	p.git("gc", "-q", "--prune=now")
	p.git("fsck", "--strict")
	ok("verify", "--all")
	require.Equal(t, found, ok("grep", "Written"))

	// A clone that borrows objects has a conversation of its own.
	p.git("clone", "-q", "--shared", ".", "../borrowed")
	p.dir = filepath.Join(filepath.Dir(main), "borrowed")
	ok("query", "-y", "-m", model, "In a clone.")
	ok("verify", "--all")
	p.git("fsck", "--strict")
	p.dir = main
	require.Equal(t, before, user(), "jp moved a ref of the user's")
}
