package gitcmd_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

func TestExitErrorIsOneLine(t *testing.T) {
	dir := gitenv.Repo(t)
	_, err := gitcmd.New(dir, gitcmd.Options{}).Run(t.Context(), "rev-parse", "--verify", "nothing\nhere")
	var exit *gitcmd.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 128, exit.Code)
	require.Equal(t, "git rev-parse --verify nothing here: exit 128: Needed a single revision", exit.Error())
}

func TestExitErrorNamesTheFault(t *testing.T) {
	for stderr, want := range map[string]struct {
		fault error
		text  string
	}{
		"fatal: bad revision":                                        {nil, "bad revision"},
		"fatal: write error: No space left on device\n":              {syscall.ENOSPC, "write error: No space left on device"},
		"fatal: sha1 file 'x' write error. Out of diskspace\n":       {syscall.ENOSPC, "sha1 file 'x' write error. Out of diskspace: no space left on device"},
		"error: unable to create x: Read-only file system\nfatal: y": {syscall.EROFS, "y: read-only file system"},
	} {
		err := &gitcmd.ExitError{Args: []string{"x"}, Code: 128, Stderr: stderr}
		require.Equal(t, want.fault, err.Unwrap())
		require.Equal(t, "git x: exit 128: "+want.text, err.Error())
	}
}

func TestEnvironmentIsScrubbed(t *testing.T) {
	dir := gitenv.Repo(t)
	program := fakeGit(t, "env")
	g := gitcmd.New(dir, gitcmd.Options{Program: program, Environ: []string{
		"PATH=" + os.Getenv("PATH"), "GIT_DIR=/x", "GIT_INDEX_FILE=/y", "GIT_EXTERNAL_DIFF=evil",
		"GIT_CONFIG_GLOBAL=/home/ada/.gitconfig", "GIT_CONFIG_PARAMETERS='core.pager'='evil'",
		"GIT_SSH_COMMAND=ssh -i key", "LC_ALL=de_DE.UTF-8", "GIT_AUTHOR_NAME=Ada",
	}})
	offline, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"x"}, Env: []string{"GIT_INDEX_FILE=/z"}})
	require.NoError(t, err)
	lines := strings.Split(string(offline), "\n")
	for _, want := range []string{
		"GIT_INDEX_FILE=/z", "GIT_CONFIG_GLOBAL=/home/ada/.gitconfig", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1", "GIT_ALLOW_PROTOCOL=", "GIT_AUTHOR_NAME=Ada",
	} {
		require.Contains(t, lines, want)
	}
	for _, name := range []string{"GIT_DIR=", "GIT_EXTERNAL_DIFF=", "GIT_CONFIG_PARAMETERS=", "GIT_SSH_COMMAND="} {
		require.NotContains(t, string(offline), name)
	}
	network, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"push"}, Network: true})
	require.NoError(t, err)
	require.Contains(t, string(network), "GIT_SSH_COMMAND=ssh -i key")
	require.NotContains(t, string(network), "GIT_ALLOW_PROTOCOL")
}

func TestStandardInputAndLiteralPaths(t *testing.T) {
	dir := gitenv.Repo(t)
	g := gitcmd.New(dir, gitcmd.Options{})
	out, err := g.RunWith(t.Context(), gitcmd.Command{
		Args: []string{"hash-object", "--stdin"}, Stdin: strings.NewReader("text\n"),
	})
	require.NoError(t, err)
	require.Equal(t, testFormat.Name("blob", []byte("text\n"))+"\n", string(out))
	out, err = g.Run(t.Context(), "ls-files", "--", "*.md")
	require.NoError(t, err)
	require.Empty(t, out, "a path is no pattern")
}

// fakeGit makes a program in git's place out of a shell script.
func fakeGit(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return path
}

// grandchild is a git that starts a process of its own, writes its id down, and hangs.
const grandchild = `sleep 600 & echo $! > "$PIDFILE"; wait`

func TestEndOfContextKillsTheGroup(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"cancel": 0, "limit": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			pidfile := filepath.Join(t.TempDir(), "pid")
			require.NoError(t, syscall.Mkfifo(pidfile, 0o600))
			g := gitcmd.New(t.TempDir(), gitcmd.Options{
				Program: fakeGit(t, grandchild), Timeout: timeout, Environ: append(os.Environ(), "PIDFILE="+pidfile),
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pids := make(chan int, 1)
			go func() {
				text, _ := os.ReadFile(pidfile) // waits for the writer
				pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				pids <- pid
				if name == "cancel" {
					cancel()
				}
			}()
			_, err := g.Run(ctx, "anything")
			if name == "cancel" {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.ErrorIs(t, err, gitcmd.ErrTimeLimit)
			}
			pid := <-pids
			require.Positive(t, pid)
			require.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 5*time.Millisecond)
		})
	}
}

// gone reports whether a process has ended, zombies included.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestStartSpeaksWithTheChild(t *testing.T) {
	dir := gitenv.Repo(t)
	p, err := gitcmd.New(dir, gitcmd.Options{}).Start(t.Context(), gitcmd.Command{Args: []string{"cat-file", "--batch-check"}})
	require.NoError(t, err)
	answers := bufio.NewReader(p.Stdout)
	for range 3 {
		_, err = fmt.Fprintln(p.Stdin, "HEAD:README.md")
		require.NoError(t, err)
		line, err := answers.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, " blob 15\n")
	}
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
}

func TestStartReportsTheExitCode(t *testing.T) {
	p, err := gitcmd.New(t.TempDir(), gitcmd.Options{}).Start(t.Context(), gitcmd.Command{Args: []string{"cat-file", "--batch"}})
	require.NoError(t, err)
	var exit *gitcmd.ExitError
	require.ErrorAs(t, p.Close(), &exit)
	require.Equal(t, 128, exit.Code)
}

func TestMissingFolderIsNotAMissingGit(t *testing.T) {
	_, err := gitcmd.New(filepath.Join(t.TempDir(), "no"), gitcmd.Options{}).Run(t.Context(), "version")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, gitcmd.ErrGitMissing)
}
