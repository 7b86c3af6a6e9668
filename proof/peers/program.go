package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A program is an agent as it is installed, with a home and a repository of its own.
type program struct {
	name    string   // as the table has it, with the version
	args    []string // before those of a turn
	begin   []string // ask in a new session
	resume  []string // ask in the newest session
	home    string
	dir     string
	environ []string
	files   map[string]string // of the home, by their paths
}

// question is the request of each turn.
const question = "Append to made.txt."

// programs are jp and its peers, which ask the model.
func programs(jp, peers, model string) []*program {
	codex := fmt.Sprintf("model = \"m\"\nmodel_provider = \"stub\"\n[model_providers.stub]\nname = \"stub\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"STUB_KEY\"\n", model)
	opencode, _ := json.Marshal(object{"autoupdate": false, "model": "stub/m", "permission": object{"bash": "allow"}, "provider": object{"stub": object{
		"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": model + "/v1", "apiKey": "x"}, "models": object{"m": object{}},
	}}})
	bin := func(name string) string { return filepath.Join(peers, "node_modules", ".bin", name) }
	return []*program{
		{
			name: "jp", args: []string{jp, "query", "-y", "-m", "stub/m"}, begin: []string{"-n", question}, resume: []string{question},
			environ: []string{"JP_CFG_PROVIDERS__STUB__BASE_URL=" + model + "/v1", "JP_CFG_LIMITS__SAME_CALLS=0", "JP_CFG_LIMITS__MODEL_CALLS=0", "JP_SESSION=peers"},
		},
		{
			name: "Codex", args: []string{bin("codex"), "exec"}, begin: []string{"--dangerously-bypass-approvals-and-sandbox", question},
			resume:  []string{"--dangerously-bypass-approvals-and-sandbox", "resume", "--last", question},
			environ: []string{"STUB_KEY=x"}, files: map[string]string{".codex/config.toml": codex},
		},
		{
			name: "opencode", args: []string{bin("opencode"), "run"}, begin: []string{question}, resume: []string{"-c", question},
			environ: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
			files:   map[string]string{".config/opencode/opencode.json": string(opencode)},
		},
		{
			name: "Claude Code", args: []string{bin("claude"), "-p", "--allowedTools=Bash"}, begin: []string{question}, resume: []string{"--continue", question},
			environ: []string{"IS_SANDBOX=1", "ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		},
	}
}

// prepare makes the home and a repository of some files below a folder, and asks the program for its version.
func (p *program) prepare(ctx context.Context, scratch string, files int) error {
	p.home, p.dir = filepath.Join(scratch, p.name, "home"), filepath.Join(scratch, p.name, "work")
	p.environ = append(p.environ, "PATH="+os.Getenv("PATH"), "HOME="+p.home, "TERM=dumb", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	write := func(path, text string) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o600)
	}
	if err := os.MkdirAll(p.home, 0o755); err != nil {
		return err
	}
	for path, text := range p.files {
		if err := write(filepath.Join(p.home, path), text); err != nil {
			return err
		}
	}
	for i := range files {
		if err := write(filepath.Join(p.dir, fmt.Sprintf("d%d/f%d.txt", i/100, i)), fmt.Sprintf("file %d\n", i)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "files"}} {
		if _, err := p.run(ctx, append([]string{"git"}, args...)); err != nil {
			return err
		}
	}
	if p.name == "jp" {
		return nil
	}
	ran, err := p.run(ctx, []string{p.args[0], "--version"})
	for _, word := range strings.Fields(ran.out) {
		if strings.Count(word, ".") == 2 {
			p.name += " " + word
			break
		}
	}
	return err
}

// A ran is the cost of a command.
type ran struct {
	processor, wall time.Duration
	out             string
}

// run runs a command to its end, with a limit of time, and ends its remaining processes.
func (p *program) run(ctx context.Context, args []string) (r ran, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	r.wall = time.Since(began)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most leave no process
	}
	if s := cmd.ProcessState; s != nil {
		r.processor = s.UserTime() + s.SystemTime()
	}
	if r.out = out.String(); err != nil {
		err = fmt.Errorf("%s %s: %w: %.2000s", p.name, strings.Join(args[1:], " "), err, r.out)
	}
	return r, err
}

// turn runs one turn of so many calls, and fails if the program did less or more than that.
func (p *program) turn(ctx context.Context, m *model, words []string, calls int) (r ran, first int, err error) {
	made := filepath.Join(p.dir, "made.txt")
	if err := os.Remove(made); err != nil && !os.IsNotExist(err) {
		return r, 0, err
	}
	m.begin(calls)
	if r, err = p.run(ctx, append(p.args[:len(p.args):len(p.args)], words...)); err != nil {
		return r, 0, err
	}
	text, err := os.ReadFile(made)
	if err != nil && calls > 0 {
		return r, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if lines := bytes.Count(text, []byte("\n")); lines != calls || m.ended != 1 || m.asked != calls+1 {
		return r, 0, fmt.Errorf("%s: %d commands, %d requests and %d ends of a turn instead of %d, %d and 1: %.2000s", p.name, lines, m.asked, m.ended, calls, calls+1, r.out)
	}
	return r, m.first, nil
}
