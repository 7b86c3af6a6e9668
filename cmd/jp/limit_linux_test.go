package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/agent/problem"
	crash "jp/internal/testing/crashtest/row"
)

// noRoom is jp's output on a full disk, with the commands that help.
var noRoom = []string{`(?i)no space left`, `df -h `, `jp status`}

// combinations counts commands, and those of them that failed.
type combinations struct{ tried, failed int }

func (n *combinations) add(failed bool) {
	n.tried++
	if failed {
		n.failed++
	}
}

func (n combinations) log(t *testing.T, name string) {
	t.Helper()
	require.Positive(t, n.failed, "nothing was felt of the limit")
	crash.Log(t, crash.Row{
		Class: "e", Name: name, Points: n.tried,
		Note: fmt.Sprintf("query, continue, fork, archive, rm, grep; %d were refused", n.failed),
	})
}

// steps are 0, by, 2×by … below end.
func steps(by, end int) (all []int) {
	for n := 0; n < end; n += by {
		all = append(all, n)
	}
	return all
}

// TestLimitBytes lets a disk become full in the middle of each command.
func TestLimitBytes(t *testing.T) {
	t.Parallel()
	fills(t, "full tmpfs, 0, 4, 8 … KiB left", "size=8m", crash.Of([]int{16}, steps(16, 100), steps(4, 132)), func(t *testing.T, dir string, leave int) (free func()) {
		return fillUp(t, dir, leave<<10)
	})
}

// TestLimitFiles lets a disk run out of inodes in the middle of each command.
func TestLimitFiles(t *testing.T) {
	t.Parallel()
	fills(t, "tmpfs without inodes, 0, 1, 2 … left", "size=32m,nr_inodes=1200", crash.Of([]int{3}, steps(4, 20), steps(1, 40)), fillFiles)
}

// fills tries each command on a disk that is full but for a little.
func fills(t *testing.T, name, disk string, leaves []int, fill func(t *testing.T, dir string, leave int) (free func())) {
	t.Helper()
	c := newConfines(t)
	var n combinations
	for _, d := range deeds {
		for _, leave := range leaves {
			remove := c.reset(disk)
			free := fill(t, c.disk, leave)
			n.add(c.try(d, noRoom, func(args []string) result { return c.jp(args...) }, free))
			remove()
		}
	}
	n.log(t, name)
}

// TestLimitFileSize limits the size of the files that jp writes.
func TestLimitFileSize(t *testing.T) {
	t.Parallel()
	c := newConfines(t)
	var n combinations
	for _, d := range deeds {
		for _, blocks := range crash.Of([]int{1}, []int{0, 1, 2, 8}, steps(1, 24)) { // of 512 bytes
			remove := c.reset("")
			run := func(args []string) result {
				jp := c.command(args...)
				cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, blocks), jp.Path}, args...)...)
				cmd.Dir, cmd.Env = jp.Dir, jp.Env
				return c.ended(cmd)
			}
			n.add(c.try(d, []string{`(?i)file too large`, `ulimit -f unlimited`, `jp status`}, run, func() {}))
			remove()
		}
	}
	n.log(t, "limited file size, 0, 512, 1024 … bytes")
}

// TestLimitReadOnly mounts the repository so that it can only be read.
func TestLimitReadOnly(t *testing.T) {
	t.Parallel()
	c := newConfines(t)
	var n combinations
	for _, d := range deeds {
		remove := c.reset("")
		if err := unix.Mount(c.disk, c.disk, "", unix.MS_BIND, ""); err != nil {
			// Only a real mount refuses root, too, and mounting needs a permission.
			t.Skipf("crash-skip e a read-only mount: cannot mount: %v", err)
		}
		require.NoError(t, unix.Mount("", c.disk, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
		lift := func() { require.NoError(t, unix.Unmount(c.disk, unix.MNT_DETACH)) }
		n.add(c.try(d, []string{`(?i)cannot be written to|read-only file system`, `jp verify`}, func(args []string) result { return c.jp(args...) }, lift))
		remove()
	}
	n.log(t, "read-only mount")
}

// TestLimitOtherUser works in a repository of another user, who allows reading.
func TestLimitOtherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		// Two users are needed, and to become the other one is root's.
		t.Skip("crash-skip e a repository of another uid: only root can become another user")
	}
	c := newConfines(t)
	letRead(t, c.kept)
	const nobody = 65534
	jp := filepath.Join(filepath.Dir(c.kept), "jp")
	copyFile(t, c.command().Path, jp)
	home := filepath.Join(filepath.Dir(c.kept), "nobody")
	require.NoError(t, os.Mkdir(home, 0o700))
	environ := childEnviron(home)
	configuration := filepath.Join(home, ".gitconfig")
	give := func() {
		out, err := exec.Command("chown", "-R", fmt.Sprint(nobody), home).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	give()
	as := func(args []string) result {
		cmd := exec.Command(jp, args...)
		cmd.Dir, cmd.Env = c.dir, environ
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return c.ended(cmd)
	}
	remove := c.reset("")
	refused := as([]string{"ls"})
	require.Equal(t, problem.ExitUsage, refused.exit)
	require.Regexp(t, `belongs to another user\n(.*\n)*.*git config --global --add safe\.directory`, refused.stderr)
	remove()
	text, err := os.ReadFile(configuration)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(configuration, append(text, "[safe]\n\tdirectory = *\n"...), 0o600))
	var n combinations
	for _, d := range deeds {
		remove := c.reset("")
		n.add(c.try(d, []string{`(?i)cannot be written to|permission denied|written by someone else`, `jp verify|jp fork`}, as, func() {}))
		remove()
	}
	n.log(t, "repository of another uid")
}

// letRead lets everybody read the file at path, and reach it.
func letRead(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("chmod", "-R", "go+rX", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o755))
}
