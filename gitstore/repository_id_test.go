package gitstore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore"
	"jp/internal/safefile"
)

// A ground has repositories, which are folders here, and a user's record of them.
type ground struct {
	t    *testing.T
	dir  string
	seen gitstore.IDRegistry
}

func newGround(t *testing.T) ground {
	g := ground{t, t.TempDir(), gitstore.IDRegistry{Dir: filepath.Join(t.TempDir(), "repositories")}}
	g.make("a")
	return g
}

func (g ground) path(name string) string { return filepath.Join(g.dir, name) }
func (g ground) make(name string)        { require.NoError(g.t, os.Mkdir(g.path(name), 0o777)) }

func (g ground) place(name string) safefile.StateDir { return safefile.StateDir{GitDir: g.path(name)} }

func (g ground) id(name string) string {
	g.t.Helper()
	id, err := g.seen.ID(g.place(name))
	require.NoError(g.t, err)
	require.Regexp(g.t, `^[a-z0-9]{8}$`, id)
	known, err := g.seen.Known(g.place(name))
	require.NoError(g.t, err)
	require.Equal(g.t, id, known)
	inFile, err := gitstore.ReadID(g.path(name))
	require.NoError(g.t, err)
	require.Equal(g.t, id, inFile)
	return id
}

func (g ground) run(argv ...string) {
	g.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = g.dir
	out, err := cmd.CombinedOutput()
	require.NoError(g.t, err, "%s", out)
}

func (g ground) write(name, text string) {
	g.t.Helper()
	require.NoError(g.t, os.WriteFile(filepath.Join(g.path(name), "jp", gitstore.RepositoryIDFile), []byte(text), 0o666))
}

func TestARepositoryKeepsItsName(t *testing.T) {
	for name, change := range map[string]func(g ground, id string){
		"nothing":                   func(ground, string) {},
		"its file was removed":      func(g ground, _ string) { g.run("rm", "a/jp/workspace-id") },
		"its folder was removed":    func(g ground, _ string) { g.run("rm", "-r", "a/jp") },
		"its file was emptied":      func(g ground, _ string) { g.write("a", "") },
		"its file was changed":      func(g ground, _ string) { g.write("a", "anything\n") },
		"its file leads elsewhere":  func(g ground, _ string) { g.write("a", "../../../x\n") },
		"a backup was put there":    func(g ground, _ string) { g.run("sh", "-c", "cp -a a b && rm -r a && mv b a") },
		"a copy was made":           func(g ground, _ string) { g.run("cp", "-a", "a", "b"); g.id("b") },
		"a copy was made and moved": func(g ground, _ string) { g.run("cp", "-a", "a", "b"); g.id("b"); g.run("mv", "b", "c"); g.id("c") },
		"the registry was removed":  func(g ground, _ string) { g.run("rm", "-r", g.seen.Dir) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			id := g.id("a")
			change(g, id)
			require.Equal(t, id, g.id("a"))
			require.Equal(t, g.path("a"), g.seen.Place(id))
		})
	}
}

func TestAMovedRepositoryKeepsItsName(t *testing.T) {
	g := newGround(t)
	id := g.id("a")
	g.run("mv", "a", "b")
	require.Equal(t, id, g.id("b"))
	require.Equal(t, g.path("b"), g.seen.Place(id))
	g.make("a")
	require.NotEqual(t, id, g.id("a"), "another one in its old place")
	g.run("sh", "-c", "cp -a b c && rm -r b")
	require.Equal(t, id, g.id("c"), "moved to another disk")
}

func TestACopyGetsAName(t *testing.T) {
	g := newGround(t)
	id := g.id("a")
	g.run("cp", "-a", "a", "b")
	known, err := g.seen.Known(g.place("b"))
	require.NoError(t, err)
	require.Empty(t, known, "who only looks names nothing")
	copied := g.id("b")
	require.NotEqual(t, id, copied)
	require.Equal(t, id, g.id("a"))
	require.Equal(t, copied, g.id("b"))
	g.write("b", id+"\n") // as a tool would, to make the copy the original
	require.Equal(t, copied, g.id("b"))
}

func TestAnotherPathToARepository(t *testing.T) {
	g := newGround(t)
	id := g.id("a")
	g.run("ln", "-s", "a", "b")
	require.Equal(t, id, g.id("b"))
	require.Equal(t, g.path("a"), g.seen.Place(id))
}

func TestACopyIsNamedOnce(t *testing.T) {
	g := newGround(t)
	g.id("a")
	g.run("cp", "-a", "a", "b")
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i], _ = g.seen.ID(g.place("b")) })
	}
	all.Wait()
	for _, id := range ids {
		require.Equal(t, g.id("b"), id)
	}
}

func TestWithoutARegistry(t *testing.T) {
	g := newGround(t)
	g.seen.Dir = ""
	id := g.id("a")
	g.run("cp", "-a", "a", "b")
	require.Equal(t, id, g.id("b"), "nobody can tell")
	require.Empty(t, g.seen.Place(id))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	g.seen.Dir = filepath.Join(file, "below") // unwritable
	require.Equal(t, id, g.id("a"))
}

func TestAPipeInThePlaceOfTheName(t *testing.T) {
	g := newGround(t)
	g.run("mkdir", "a/jp")
	g.run("mkfifo", "a/jp/workspace-id")
	_, err := g.seen.ID(g.place("a"))
	require.ErrorContains(t, err, "is not a regular file")
}
