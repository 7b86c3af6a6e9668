package instructions

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden table anew, by the real Codex where it is installed")

const trees = 20

// fallback are the names that both programs are told of.
var fallback = []string{"CLAUDE.md", "RULES.txt"}

// makeTree makes a tree with files of instructions, the same for the same number, and returns the
// folder to start in. Each file contains its own place.
func makeTree(t *testing.T, root string, number int) (start string) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(number)))
	start = "."
	for depth := 1 + random.IntN(4); depth > 0; depth-- {
		start = filepath.Join(start, []string{"pkg", "cmd", "a b", "größe"}[random.IntN(4)])
	}
	for _, dir := range []string{start, filepath.Join(start, "below"), "beside", ".git"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
	}
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	put(".git/HEAD", "ref: refs/heads/main\n")
	put("beside/real.md", "LINKED\n")
	put("beside/empty.md", "\n \t\n")
	put("below.md", "not a name that counts\n")
	put(filepath.Join(start, "below", "AGENTS.md"), "BELOW\n")
	for _, dir := range Chain(filepath.ToSlash(start)) {
		for _, name := range append(Names[:2:2], fallback...) {
			file := filepath.Join(dir, name)
			up, err := filepath.Rel(filepath.Join(root, dir), root)
			require.NoError(t, err)
			link := func(to string) { require.NoError(t, os.Symlink(filepath.Join(up, to), filepath.Join(root, file))) }
			switch random.IntN(28) {
			case 0, 1, 2, 3:
				put(file, "FILE "+file+"\n")
			case 4:
				put(file, "FILE "+file+" without an end of line")
			case 5:
				put(file, "")
			case 6:
				put(file, " \n\t\n")
			case 7:
				put(file, "FILE "+file+"\n"+strings.Repeat("0123456789abcde\n", 1100))
			case 8:
				put(file, "FILE "+file+"\n"+strings.Repeat("0123456789abcde\n", 2600))
			case 9:
				link("beside/real.md")
			case 10:
				link("beside/empty.md")
			case 11:
				link("beside/nowhere.md")
			case 12:
				require.NoError(t, os.Mkdir(filepath.Join(root, file), 0o777))
			}
		}
	}
	return start
}

// found are the files that count in a tree, as a model gets them.
func found(t *testing.T, root, start string) []File {
	t.Helper()
	dir, err := os.OpenRoot(root)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dir.Close() })
	const most = 32 << 10
	files, _ := Find(Dir{Root: dir, Format: "sha1"}, Chain(filepath.ToSlash(start)), fallback)
	fitting, _ := Fit(files, most)
	return fitting
}

// row is a tree's line in the golden table: the start, and the files with their bytes.
func row(number int, start string, files []File) string {
	line := fmt.Sprintf("%02d %s:", number, start)
	for _, f := range files {
		line += fmt.Sprintf(" [%s %d]", f.Path, len(f.Text))
	}
	return line + "\n"
}

const golden = "testdata/trees.golden"

// TestTrees holds the order of files to a table, which the real Codex has confirmed: see TestCodex.
func TestTrees(t *testing.T) {
	var table strings.Builder
	for n := range trees {
		root := t.TempDir()
		start := makeTree(t, root, n)
		table.WriteString(row(n, start, found(t, root, start)))
	}
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(table.String()), 0o666))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), table.String())
	for _, shape := range []string{"AGENTS.override.md", "/AGENTS.md", "CLAUDE.md", "RULES.txt", "[AGENTS"} {
		require.Contains(t, table.String(), shape, "the table has each kind of file")
	}
}
