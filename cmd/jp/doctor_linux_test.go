package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Doctor reports a disk that cannot be written to, and data that is in memory only.
func TestDoctorOnAReadOnlyDisk(t *testing.T) {
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
	disk := small(t, "8m")
	p.git("clone", "-q", "--mirror", "--no-hardlinks", ".", filepath.Join(disk, "repo"))
	p.dir = filepath.Join(disk, "repo")
	full := []string{"--cfg", "store.durability=full"}
	seen := p.examined(full...)
	require.Empty(t, seen.about("writable"))
	require.Contains(t, seen.about("durability"), "warn on tmpfs: everything is gone")
	require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""))
	seen = p.examined(full...)
	require.Regexp(t, `^fail .*/repo cannot be written to: read-only file system\. Conversations can be read`, seen.about("writable"))
	require.Equal(t, "ok 1 live, 0 archived, 0 fetched → ", seen.about("conversations"))
	require.Contains(t, seen.about("repository"), "a bare repository")
	p.examined("--fix")
}

// A lock of git's is left to a git that works in the repository, from any directory, and although it
// closes its lock while it waits for an editor.
func TestDoctorSeesTheGitOfALock(t *testing.T) {
	t.Parallel()
	for name, arg := range map[string]struct {
		dir  string // from the repository
		args []string
		env  []string
	}{
		"in the repository":      {dir: "."},
		"below it":               {dir: "sub"},
		"with -C":                {dir: "..", args: []string{"-C", "repo"}},
		"with -C and --git-dir":  {dir: "..", args: []string{"-C", "repo", "--git-dir=.git", "--work-tree=../home"}},
		"with --git-dir":         {dir: "..", args: []string{"--git-dir", "repo/.git", "--work-tree=home"}},
		"with GIT_DIR":           {dir: "..", env: []string{"GIT_DIR=repo/.git", "GIT_WORK_TREE=home"}},
		"in another worktree":    {dir: "../linked"},
		"in another, as a child": {dir: "../linked", args: []string{"-c", "alias.x=!git commit --allow-empty", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("sub/file", "")
			p.git("worktree", "add", "-q", "../linked")
			p.write("../editor", "#!/bin/sh\necho >\"$0.begun\"\nread line\nexit 1\n") // the test ends it
			args := arg.args
			if len(args) == 0 || args[len(args)-1] != "x" {
				args = append(args, "commit", "--allow-empty")
			}
			git := exec.Command("git", args...)
			git.Dir = filepath.Join(p.dir, arg.dir)
			git.Env = append(append(p.environ, "GIT_EDITOR="+filepath.Join(p.dir, "../editor"), "PWD="+git.Dir), arg.env...) // as a shell does
			input, err := git.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, git.Start())
			t.Cleanup(func() { input.Close(); _ = git.Wait() })
			require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(p.dir, "../editor.begun")); return err == nil }, 30*time.Second, time.Millisecond)
			lock := filepath.Join(p.dir, ".git/HEAD.lock")
			p.write(".git/HEAD.lock", "")
			agedBy(t, time.Hour, lock)

			seen := p.examined().about("leftovers")
			require.Regexp(t, `(?m)^warn \.git/HEAD\.lock is 60 min old, and keeps git from writing HEAD; a git works in this repository \(pid \d+\), and may hold it → wait for that process$`, seen)
			require.NoError(t, input.Close())
			require.Error(t, git.Wait(), "the editor failed")
			seen = p.examined().about("leftovers")
			require.Contains(t, seen, "HEAD; the git that made it has ended → rm "+lock)

			holder := exec.Command("sh", "-c", `exec 9<"$1"; echo open; read line`, "sh", lock) // files that this process opened would be shared by its new children
			ends, err := holder.StdinPipe()
			require.NoError(t, err)
			says, err := holder.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, holder.Start())
			_, err = io.ReadFull(says, make([]byte, len("open\n")))
			require.NoError(t, err)
			require.Contains(t, p.examined().about("leftovers"), fmt.Sprintf("HEAD; pid %d has it open → wait", holder.Process.Pid))
			require.NoError(t, ends.Close())
			_ = holder.Wait() // it read no line
			agedBy(t, 30*time.Second, lock)
			require.Contains(t, p.examined().about("leftovers"), "jp cannot see whether the git that made it has ended → if no git works here")
		})
	}
}
