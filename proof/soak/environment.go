package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/testing/gitenv"
	"jp/process"
	"jp/proof/prooftool"
)

// An environment is the place of the run: a program, a home and a repository.
type environment struct {
	dir     string // of all
	program string // the jp that is tried
	repo    gitcmd.Repository
	environ []string // of jp and git
}

// newArena fills an empty folder. It replaces the environment of this process by one without the host's
// settings.
func newArena(ctx context.Context, dir string) (*environment, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	a := &environment{dir: dir, program: filepath.Join(dir, "jp")}
	if err := prooftool.BuildJP(ctx, a.program, os.Environ()); err != nil {
		return nil, err
	}
	if err := a.isolate(); err != nil {
		return nil, err
	}
	return a, a.init(ctx)
}

// another is an environment with the same program and home, and a repository of its own.
func (a *environment) another(ctx context.Context, dir string) (*environment, error) {
	b := &environment{dir: dir, program: a.program, environ: a.environ}
	return b, b.init(ctx)
}

func (a *environment) isolate() error {
	home := filepath.Join(a.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	a.environ = append(gitenv.Env(home), "JP_SESSION=soak", "JP_CFG_LIMITS__SAME_CALLS=0") // its models make the same call over and over
	os.Clearenv()
	for _, pair := range a.environ {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	key := filepath.Join(os.Getenv("XDG_STATE_HOME"), "jp", "key")
	return errors.Join(os.MkdirAll(filepath.Dir(key), 0o700), os.WriteFile(key, []byte(hex.EncodeToString(signingKey())), 0o600))
}

// init makes the repository, and a file in it to read.
func (a *environment) init(ctx context.Context) error {
	top := filepath.Join(a.dir, "repo")
	err := errors.Join(os.MkdirAll(a.scripts(), 0o700), os.Mkdir(top, 0o700),
		os.WriteFile(filepath.Join(top, "README.md"), []byte(strings.Repeat("A line that is read.\n", 40)), 0o600))
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "README.md"}, {"commit", "-q", "-m", "first"}} {
		if _, err := a.git(ctx, top, args...); err != nil {
			return err
		}
	}
	a.repo, err = gitcmd.Locate(ctx, top, gitcmd.Options{})
	return err
}

func (a *environment) scripts() string { return filepath.Join(a.dir, "scripts") }

func (a *environment) git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(out), err
}

// command is a jp in the repository.
func (a *environment) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.program, args...)
	cmd.Dir, cmd.Env = a.repo.TopLevel, a.environ
	return cmd
}

// jp runs a command and returns its output. Another exit code than the wanted one is an error with its
// messages.
func (a *environment) jp(ctx context.Context, exit int, args ...string) ([]byte, error) {
	cmd := a.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return nil, fmt.Errorf("jp %s: %w", args[0], err)
	}
	if got := cmd.ProcessState.ExitCode(); got != exit {
		return nil, fmt.Errorf("jp %s: exit %d instead of %d: %s", strings.Join(args, " "), got, exit, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// jpJSON is jp --json with its output decoded.
func (a *environment) jpJSON(ctx context.Context, to any, args ...string) error {
	out, err := a.jp(ctx, 0, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, to); err != nil {
		return fmt.Errorf("jp %s: %w", args[0], err)
	}
	return nil
}

// registry is jp's registry of its processes, as soon as there was one.
func (a *environment) registry() (process.Registry, error) {
	data := filepath.Join(os.Getenv("XDG_DATA_HOME"), "jp")
	found, err := filepath.Glob(filepath.Join(data, "workspace", "*"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%d workspaces in %s", len(found), data)
	}
	if err != nil {
		return process.Registry{}, err
	}
	return process.Registry{DataDir: data, Workspace: filepath.Base(found[0]), Repository: a.repo.CommonDir}, nil
}

// store opens the repository's store as jp does.
func (a *environment) store() (*gitstore.Store, error) {
	return gitstore.Open(a.repo, gitstore.Options{
		Key: signingKey(), User: func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
	})
}

func signingKey() []byte { return bytes.Repeat([]byte{7}, 32) }
