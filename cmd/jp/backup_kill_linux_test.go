package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deleting is a model whose program deletes, changes and moves files one after the other.
const deleting = `[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "for n in 1 2 3 4 5 6; do rm -f own$n.txt own$n.log; echo changed >kept$n.txt; sleep 0.02; done; rm -rf d; mv t.txt moved.txt"] }
[[reply]]
message = "Over."
times = 9
`

// plantOwn makes the files of the user, tracked, untracked and ignored.
func plantOwn(p *workspace) {
	p.write(".gitignore", "*.log\n")
	p.write("t.txt", "tracked\n")
	p.git("add", ".")
	p.git("commit", "-qm", "files")
	for n := range 6 {
		for _, name := range []string{"own%d.txt", "own%d.log", "kept%d.txt", "d/in%d.txt"} {
			p.write(fmt.Sprintf(name, n+1), "mine\n")
		}
	}
	p.write("../deleting.toml", deleting)
}

// requireNothingLost undoes the newest turn. Each file is then as before, or named.
func requireNothingLost(t *testing.T, p *workspace, before map[string]string, told string) {
	undo := p.jp("undo", "@0", "-y")
	left := named(told, undo.stdout)
	now := (&grove{p: p}).sight()
	for _, path := range union(before, now) {
		require.True(t, before[path] == now[path] || names(left, path), "%s was %s and is %s\n%s", path, before[path], now[path], told+undo.stdout)
		require.True(t, before[path] == "" || now[path] != "" || path == "t.txt" || strings.HasPrefix(path, "kept"), "%s is gone\n%s", path, told+undo.stdout)
	}
}

// jp is killed at a random time before, while and after a program deletes files. Undo brings back each file, or names it.
func TestKillWhileAProgramDeletes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for i := range 12 {
		after := time.Duration(random.IntN(300)) * time.Millisecond
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, unconfined)
			plantOwn(p)
			before := (&grove{p: p}).sight()
			cmd := p.command("query", "--new", "-y", "-m", "script/../deleting.toml", "Go")
			require.NoError(t, cmd.Start())
			kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			kill.Stop()
			p.toolsEnded()
			if strings.TrimSpace(p.jp("ls", "--json").stdout) == "[]" {
				require.Equal(t, before, (&grove{p: p}).sight()) // no program ran
				return
			}
			var settled result
			require.Eventually(t, func() bool { // the program may have just begun
				settled = p.jp("continue", "-y")
				return settled.exit == 0 || !strings.Contains(settled.stderr, "of the earlier run")
			}, time.Minute, time.Millisecond, "%s", settled.stderr)
			t.Logf("killed after %v: %.60q", after, settled.stderr)
			p.toolsEnded()
			requireNothingLost(t, p, before, settled.stderr)
		})
	}
}

// The disk of the copies is full, or fills up while jp writes them. A program that deletes files runs only behind whole copies.
func TestFullDiskOfBackups(t *testing.T) {
	refused := 0
	for _, leave := range []int{0, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 256 << 10} {
		p := newPlace(t)
		p.environ = append(p.environ, unconfined)
		plantOwn(p)
		disk := small(t, "4m")
		state := filepath.Join(disk, "state")
		require.NoError(t, os.Mkdir(state, 0o700))
		p.environ = append(p.environ, "XDG_STATE_HOME="+state)
		require.Zero(t, p.jp("query", "-y", "-m", "script/../deleting.toml", "Go").exit)
		p.jp("undo", "-y")
		p.write("own1.txt", strings.Repeat("new\n", 8<<10))
		before := (&grove{p: p}).sight()
		free := fillUp(t, disk, leave)
		full := p.jp("query", "--new", "-y", "-m", "script/../deleting.toml", "Go")
		free()
		if now := (&grove{p: p}).sight(); full.exit != 0 || strings.Contains(full.stderr, "could not copy") {
			refused++
			require.Equal(t, before, now, full.stderr)
			continue
		}
		requireNothingLost(t, p, before, full.stderr)
	}
	require.Positive(t, refused)
}
