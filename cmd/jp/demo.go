package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/gitcmd"
	"jp/internal/action"
)

// A demo runs commands in a scratch repository and shows them.
type demo struct {
	out  io.Writer
	self string
	dir  string
	vars []string
}

// runDemo lets a scripted model work in a scratch repository, and prints the conversation and its git log.
func runDemo(ctx context.Context, e *ui.Env) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "jp-demo.")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return err
	}
	out := wrapped(e.Results(), e)
	d := &demo{out: out, self: self, dir: filepath.Join(dir, "login"), vars: demoEnviron(e.Environ, dir)}
	if err := d.scratch(ctx); err != nil {
		return fmt.Errorf("make the scratch repository: %w", err)
	}
	if err := d.killed(ctx); err != nil {
		return err
	}
	for _, step := range [][]string{
		{"jp", "ls"},
		{"jp", "continue", "-y"},
		{"jp", "print"},
		{"git", "log", "--oneline", "--stat", "main..$(jp show --ref)", "--", "."},
		{"jp", "verify", "--all"},
		{"git", "fsck", "--strict"},
	} {
		if err := d.show(ctx, step); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, `
Next, in a repository of yours:
  %-31v asks for a provider's key: %v lists the providers
  %-31v ask a model
  %-31v see which files it changed
  %-31v take that back

The demo's repository: %s   (rm -r %s removes it)
`, action.Login("anthropic"), action.Models, action.Ask, action.DiffTools, action.UndoTurn, d.dir, dir)
	return err
}

// demoEnviron keeps the demo away from the user's own configuration, state and
// session.
func demoEnviron(environ []string, dir string) []string {
	var vars []string
	for _, v := range environ {
		if !strings.HasPrefix(v, "JP_") && !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "XDG_") {
			vars = append(vars, v)
		}
	}
	if !slices.ContainsFunc(vars, func(v string) bool { return len(v) > len("HOME=") && strings.HasPrefix(v, "HOME=") }) {
		vars = append(vars, "XDG_CACHE_HOME="+filepath.Join(dir, "cache")) // else go test would compile its library anew
	}
	return append(vars,
		"XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"XDG_DATA_HOME="+filepath.Join(dir, "data"), "TMPDIR="+filepath.Join(dir, "tmp"), "JP_SESSION=demo", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	)
}

// scratch makes the repository in which the demo plays.
func (d *demo) scratch(ctx context.Context) error {
	for path, content := range models.DemoFiles() {
		path = filepath.Join(d.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			return err
		}
	}
	git := gitcmd.New(d.dir, gitcmd.Options{Environ: d.vars})
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"config", "user.name", "Ada Lovelace"}, {"config", "user.email", "ada@example.com"},
		{"add", "."}, {"commit", "--quiet", "--message", "login: ask the server until it answers"},
	} {
		if _, err := git.Run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// killed asks the model, and kills jp once the first file is changed.
func (d *demo) killed(ctx context.Context) error {
	args := []string{"query", "-m", "script/demo", "-y", "--title", "Cap the login retries", models.DemoRequest}
	fmt.Fprintf(d.out, "\n$ jp %s %q\n", strings.Join(args[:4], " "), models.DemoRequest)
	cmd := exec.CommandContext(ctx, d.self, args...)
	cmd.Dir, cmd.Env = d.dir, d.vars
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(d.out, lines.Text())
		if strings.HasPrefix(lines.Text(), "· fs_modify_file") {
			_ = cmd.Process.Kill() // the point of the demo
			break
		}
	}
	_ = cmd.Wait() // it was killed
	_, err = fmt.Fprintln(d.out, "^ kill -9 (the demo kills jp here)")
	return err
}

func (d *demo) show(ctx context.Context, args []string) error {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.ContainsAny(a, " ?") && !strings.HasPrefix(a, "main..") {
			words[i] = fmt.Sprintf("%q", a)
		}
	}
	fmt.Fprintf(d.out, "\n$ %s\n", strings.Join(words, " "))
	args = append([]string(nil), args...)
	for i, a := range args {
		if rest, ok := strings.CutSuffix(a, "$(jp show --ref)"); ok {
			var ref strings.Builder
			if err := d.run(ctx, &ref, []string{"jp", "show", "--ref"}); err != nil {
				return err
			}
			args[i] = rest + strings.TrimSpace(ref.String())
		}
	}
	return d.run(ctx, struct{ io.Writer }{d.out}, args) // through a pipe, as in a script
}

// run runs jp or git in the scratch repository.
func (d *demo) run(ctx context.Context, out io.Writer, args []string) error {
	if args[0] == "git" {
		git := gitcmd.New(d.dir, gitcmd.Options{Environ: d.vars})
		text, err := git.Run(ctx, args[1:]...)
		_, _ = out.Write(text)
		return err
	}
	cmd := exec.CommandContext(ctx, d.self, args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.vars, out, out
	if err := cmd.Run(); err != nil {
		return problem.New(problem.ExitFailed, "internal", "%s failed: %v", strings.Join(args, " "), err)
	}
	return nil
}
