package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unconfined lets the tools of a test leave the sandbox: kill jp, and write beside the workspace.
const unconfined = "JP_CFG_SANDBOX__ENABLE=false"

// A workspace is a repository with one commit, and the environment of one session.
type workspace struct {
	t       *testing.T
	dir     string
	environ []string
}

// newPlace makes a place whose events survive jp, not a power cut.
func newPlace(t *testing.T) *workspace {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := filepath.Join(root, "home")
	p := &workspace{t: t, dir: filepath.Join(root, "repo"), environ: childEnviron(home)}
	require.NoError(t, fastStore(home))
	t.Cleanup(func() { endRunning(home) })
	require.NoError(t, os.Mkdir(p.dir, 0o777))
	p.git("init", "-q")
	p.write("README.md", "# A repository\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "first")
	return p
}

// write writes a file, named from the repository.
func (p *workspace) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o777))
}

func (p *workspace) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.dir, p.environ
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "git %s: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}

// command is a jp that is not started yet.
func (p *workspace) command(args ...string) *exec.Cmd {
	p.t.Helper()
	jp, err := exec.LookPath("jp")
	require.NoError(p.t, err)
	cmd := exec.Command(jp, args...)
	cmd.Dir, cmd.Env = p.dir, p.environ
	return cmd
}

// A result is the output of a jp, and its exit.
type result struct {
	stdout, stderr string
	exit           int
}

func (p *workspace) jp(args ...string) result {
	p.t.Helper()
	cmd := p.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	out := result{exit: exitOf(p.t, cmd.Run()), stdout: stdout.String(), stderr: stderr.String()}
	require.NoError(p.t, pasteable(out.stderr), args)
	return out
}

// exitOf is the exit code that an error of [exec.Cmd] stands for.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// shell runs a command line by a shell, as a user pastes it.
func (p *workspace) shell(line string) result {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	like := p.command()
	cmd.Dir, cmd.Env = like.Dir, like.Env
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(p.t, err)
	}
	return result{stdout: stdout.String(), stderr: stderr.String(), exit: cmd.ProcessState.ExitCode()}
}

// environHome is the home of the place's environment.
func (p *workspace) environHome() string {
	home := ""
	for _, v := range p.environ {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			home = value
		}
	}
	return home
}
