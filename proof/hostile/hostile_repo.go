package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"jp/config"
	"jp/internal/testing/gitenv"
)

// The attacker's goals.
const (
	canary  = "canary-7f3a91c2"       // stands outside of the repository
	userKey = "sk-user-5d21e8b0c4f79" // the key of the user's providers
)

// patience is how long one command may take; one that takes longer hangs.
const patience = 2 * time.Minute

// A hostileRepo is one hostile repository, with a home, things that must stay as they
// are, and a program that leaves a mark when it runs.
type hostileRepo struct {
	field  *environment
	attack attack
	dir    string // of all
	repo   string
	home   string
	env    []string
	server *server
	watch  *watch
	own    bool  // the attack brings settings
	peak   int64 // bytes of memory that the largest process took
}

// newPlace builds the attack's repository in an empty folder.
func (f *environment) newPlace(ctx context.Context, a attack, dir string) (*hostileRepo, error) {
	p := &hostileRepo{
		field: f, attack: a, dir: dir,
		repo: filepath.Join(dir, "work", "repo"), home: filepath.Join(dir, "home"), server: newServer(),
	}
	err := errors.Join(p.makeFolders(), p.makeEvil(), p.makeHome(), p.makeModel())
	if err == nil {
		err = p.build(ctx)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("build %s: %w", a.name, err)
	}
	p.watch = newWatch(p)
	return p, nil
}

// Close lets go of the server.
func (p *hostileRepo) Close() { p.server.Close() }

func (p *hostileRepo) makeFolders() error {
	for _, dir := range []string{p.repo, p.home, p.path("outside"), p.path("marks"), p.path("requests")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(p.path("outside/secret"), []byte(canary+"\n"), 0o600)
}

func (p *hostileRepo) path(name string) string { return filepath.Join(p.dir, name) }

// makeEvil writes the program that everything hostile names.
func (p *hostileRepo) makeEvil() error {
	text := "#!/bin/sh\necho \"$0 $*\" >>'" + p.path("marks/ran") + "'\nexit 0\n"
	return os.WriteFile(p.path("evil"), []byte(text), 0o700)
}

// makeHome writes the user's own configuration and key.
func (p *hostileRepo) makeHome() error {
	p.env = append(gitenv.Env(p.home),
		"JP_SESSION=hostile", "TERM=xterm", "PAGER=cat", "CI=true", "NO_COLOR=1", "EDITOR=true",
		"ANTHROPIC_API_KEY="+userKey, "OPENAI_API_KEY="+userKey, "GEMINI_API_KEY="+userKey, "OPENROUTER_API_KEY="+userKey)
	text := "[store]\ndurability = \"off\"\n[providers]\n"
	for _, name := range []string{"anthropic", "openai", "gemini", "openrouter", "ollama", "llamacpp", "vllm"} {
		text += fmt.Sprintf("%s.base_url = %q\n", name, p.server.URL+userPath+name)
	}
	more, err := p.attack.optional("user.toml")
	if err != nil {
		return err
	}
	file := filepath.Join(p.home, ".config", "jp", "config.toml")
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, append(more, text...), 0o600))
}

// makeModel writes the model's script, with the attacker's program in it.
func (p *hostileRepo) makeModel() error {
	text, err := p.attack.optional("model.toml")
	if text == nil && err == nil {
		text = []byte(defaultModel)
	}
	for _, name := range []string{"evil", "outside", "work/repo"} {
		text = bytes.ReplaceAll(text, []byte("@"+filepath.Base(name)+"@"), []byte(p.path(name)))
	}
	return errors.Join(err, os.WriteFile(p.path("model.toml"), text, 0o600))
}

// build makes a repository with a commit, and has the attack change it.
func (p *hostileRepo) build(ctx context.Context) error {
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = p.repo, p.env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	if out, code, err := p.script(ctx, "build.sh"); err != nil || code != 0 {
		return fmt.Errorf("build.sh: exit %d: %s", code, errors.Join(err, errors.New(string(out))))
	}
	_, err := os.Stat(filepath.Join(p.repo, config.WorkspaceFile))
	p.own = err == nil
	p.peak = 0
	return os.RemoveAll(p.path("marks/ran")) // the marks of programs that the build ran
}

// script runs a script of the attack, and returns its output and exit code.
func (p *hostileRepo) script(ctx context.Context, name string) (out []byte, code int, err error) {
	cmd := exec.Command("sh", "-eu", p.attack.file(name))
	cmd.Env = append(p.env[:len(p.env):len(p.env)],
		"EVIL="+p.path("evil"), "OUTSIDE="+p.path("outside"), "JP="+p.field.program, "ATTACK="+p.attack.dir, "URL="+p.server.URL+"/evil",
		"MODEL=script/"+p.path("model.toml"), "BASE="+p.dir, "CANARY="+canary, "KEY="+userKey, "QUICK="+p.field.sample())
	return p.output(ctx, cmd)
}

// output runs a command in the repository, in a process group of its own that
// has ended when this returns.
func (p *hostileRepo) output(ctx context.Context, cmd *exec.Cmd) ([]byte, int, error) {
	cmd.Dir = p.repo
	if cmd.Env == nil {
		cmd.Env = p.env
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, -1, err
	}
	err := await(ctx, cmd)
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.peak = max(p.peak, usage.Maxrss<<10)
	}
	return out.Bytes(), cmd.ProcessState.ExitCode(), err
}

// await waits for a command that leads a session, and ends its remaining processes when its time is up.
func await(ctx context.Context, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	kill := func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-done
		return errHangs
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), kill())
	case <-limit.C:
		return kill()
	}
}

// approve records that the user approved the repository's settings: the attack's approved ones, else the
// present ones.
func (p *hostileRepo) approve() error {
	content, err := p.attack.optional("approved.toml")
	file := filepath.Join(p.repo, config.WorkspaceFile)
	if content == nil && err == nil && !p.own {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("style.width = 100\n"), 0o600))
		p.watch.renew()
	}
	if content == nil && err == nil {
		content, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	return config.Approvals{Dir: filepath.Join(p.home, ".local", "state", "jp", "trust"), Root: p.repo}.Approve(content)
}
