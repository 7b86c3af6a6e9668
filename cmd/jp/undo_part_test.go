package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndoOfTheEnd plays turns in which tools and the user change, hide, move and delete files. An
// undo that knows that earlier events do not matter says the same as one that reads them all.
func TestUndoOfTheEnd(t *testing.T) {
	t.Parallel()
	known := 0
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 1))
		one := func(of ...string) string { return of[rng.IntN(len(of))] }
		p := newPlace(t)
		p.write(".gitignore", "hidden\n")
		folder := filepath.Join(p.dir, ".git", "jp", "undo")
		away := seed > 0 // files that no tree has go and come back
		replies := ""
		for turn := range 7 {
			for range rng.IntN(3) { // the user
				p.write(one("a", "b", "c"), fmt.Sprintf("user %d\n", turn))
			}
			command := one("echo %d >a", "echo %d >>b; rm -f c", "mv a b 2>/dev/null || echo %d >a", "rm -f a b", "git checkout -q . ; echo %d >c")
			switch {
			case away && turn%3 == 1:
				p.write("c", fmt.Sprintf("user %d\n", turn))
				command = "git stash -u -q; echo %d >b"
			case away && turn%3 == 0 && turn > 0:
				command = "git stash pop -q; echo %d >>a"
			case away && turn > 1:
				command = one(command, "echo %d >hidden; mv hidden ../kept", "mv ../kept c || echo %d >c")
			}
			if len(command) > 3 {
				command = fmt.Sprintf(command+" # %[1]d", turn)
			}
			replies += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n[[reply]]\nmessage = \"Over.\"\n", command)
			p.write("../turns.toml", replies)
			asked := p.jp("query", "-y", "-m", "script/../turns.toml", "Work")
			require.Zero(t, asked.exit, asked)
			if rng.IntN(3) == 0 {
				p.write(one("a", "b"), "user later\n")
			}
			if rng.IntN(4) == 0 {
				p.jp("undo", "-y") // 1 if a file could not be written
			}
			events := p.events()
			for _, event := range []string{"", fmt.Sprintf("@%d", rng.IntN(len(events))), fmt.Sprintf("@%d", len(events)-1-rng.IntN(4))} {
				args := []string{"undo", "--dry-run", "--json"}
				if event != "" {
					args = append(args, event)
				}
				files, _ := os.ReadDir(folder)
				known += len(files)
				end := p.jp(args...)
				require.NoError(t, os.RemoveAll(folder))
				whole := p.jp(args...)
				require.Equal(t, whole, end, "seed %d, turn %d, %s", seed, turn, event)
			}
		}
		// A file without this user's key, or of other events, has no effect.
		args := []string{"undo", "--dry-run", "--json"}
		whole := p.jp(args...)
		events := p.events()
		id := whole.field(t, "conversation")
		newest := events[len(events)-1]
		for _, text := range []string{
			"", "jp-undo 1\n", "jp-undo 1 x y z\n",
			fmt.Sprintf("jp-undo 1 %v %v %064d\n", newest["seq"], newest["commit"], 0),
			fmt.Sprintf("jp-undo 1 %v %v\n", newest["seq"], newest["commit"]),
		} {
			p.write(".git/jp/undo/"+id, text)
			require.Equal(t, whole, p.jp(args...), "seed %d: %q", seed, text)
		}
		require.Zero(t, p.jp("rm", "-y", id).exit)
		require.NoFileExists(t, filepath.Join(folder, id))
	}
	require.NotZero(t, known)
}
