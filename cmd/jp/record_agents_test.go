package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/peertest"
)

// An agentRun is a run of an agent that make peers installs, and the calls of its tools.
type agentRun struct {
	name  string
	args  []string // before the request
	shell func(command string) peertest.Call
	edit  func(path string) []peertest.Call // adds x behind the line a
}

var agentRuns = []agentRun{
	{
		name: "claude", args: []string{"-p", "--allowedTools=Bash,Edit,Read"},
		shell: func(command string) peertest.Call {
			return peertest.Call{Tool: "Bash", Arguments: map[string]any{"command": command, "description": "run"}}
		},
		edit: func(path string) []peertest.Call {
			return []peertest.Call{{Tool: "Read", Arguments: map[string]any{"file_path": path}}, {Tool: "Edit", Arguments: map[string]any{"file_path": path, "old_string": "a\n", "new_string": "a\nx\n"}}}
		},
	},
	{
		name: "codex", args: []string{"exec", "--dangerously-bypass-approvals-and-sandbox"},
		shell: func(command string) peertest.Call {
			return peertest.Call{Tool: "exec_command", Arguments: map[string]any{"cmd": command}}
		},
		edit: func(path string) []peertest.Call {
			return []peertest.Call{{Tool: "apply_patch", Arguments: "*** Begin Patch\n*** Update File: " + path + "\n@@\n a\n+x\n*** End Patch\n"}}
		},
	},
	{
		name: "opencode", args: []string{"run"},
		shell: func(command string) peertest.Call {
			return peertest.Call{Tool: "bash", Arguments: map[string]any{"command": command, "description": "run"}}
		},
		edit: func(path string) []peertest.Call {
			return []peertest.Call{{Tool: "edit", Arguments: map[string]any{"filePath": path, "oldString": "a\n", "newString": "a\nx\n"}}}
		},
	},
}

// TestRecordAgents records the real agents. A tool copies the files before and behind its changes, and the trees of its call are
// equal to the copies. Undo brings back the files, and the agent's settings and exit code are as without jp.
func TestRecordAgents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs other agents")
	}
	for _, a := range agentRuns {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			recordAgent(t, a, peertest.Program(t, a.name))
		})
	}
}

func recordAgent(t *testing.T, a agentRun, program string) {
	p, model := newPlace(t), peertest.NewModel(t)
	peertest.Configure(t, a.name, p.environHome(), p.dir, model.URL)
	p.environ = append(append(p.environ, peertest.Environ(model.URL)...), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	p.write("a.txt", "a\n")
	p.write("b.txt", "b\n")
	p.git("add", ".")
	p.git("commit", "-qm", "two")
	p.write("untracked.txt", "mine\n")
	before := (&grove{p: p}).sight()

	plain := func(args ...string) int {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = p.dir, p.environ
		return exitOf(t, cmd.Run())
	}
	require.Zero(t, plain(append(a.args, "Say it")...))
	settings := p.settingsOf(a)

	shell := func(command string) peertest.Call {
		return a.shell("copy() { mkdir -p " + p.beside("copies") + "/$1; tar -c --exclude=./.git --exclude=./untracked.txt . | tar -x -C " + p.beside("copies") + "/$1; }; " + command)
	}
	edits := a.edit(filepath.Join(p.dir, "a.txt"))
	for _, call := range edits {
		model.Answer(call)
	}
	model.Answer(shell("copy edit; mv b.txt c.txt; rm untracked.txt; copy rename"))
	model.Answer(shell("echo n >n; copy fails; false"))
	model.Answer(shell("sleep 0.3; echo 1 >p1"), shell("sleep 0.2; echo 2 >p2"))
	model.Answer(shell("copy together; rm n; copy last"))
	calls := len(edits) + 5
	out := p.jp(append([]string{"record", a.name}, append(a.args, "Work")...)...)
	require.Zero(t, out.exit, out.stderr)
	require.Contains(t, out.stdout, peertest.Final)
	found := regexp.MustCompile(`jp recorded (\d+) tool calls as \S+ jp log (\S+)`).FindStringSubmatch(out.stderr)
	require.NotNil(t, found, out.stderr)
	require.Equal(t, fmt.Sprint(calls), found[1])
	require.NotContains(t, out.stderr, "jp could not")
	require.Equal(t, settings, p.settingsOf(a))

	printed := p.jp("print", "--json", found[2])
	var events []struct {
		Type    string
		Tree    string
		LeftOut []struct{ Why string } `json:"left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(printed.stdout), &events))
	var trees, notes []string
	for _, e := range events {
		require.NotEqual(t, "workspace", e.Type, "a change of a tool is the user's")
		if e.Type == "tool_call_response" {
			trees = append(trees, e.Tree)
			notes = append(notes, fmt.Sprint(e.LeftOut))
		}
	}
	require.Len(t, trees, calls)
	for i, name := range []string{"edit", "rename", "fails", "", "together", "last"} {
		if name != "" {
			require.Equal(t, p.treeOf(name), p.git("ls-tree", "-r", trees[len(edits)-1+i]), name)
		}
	}
	if a.name == "claude" { // it runs commands one after another
		require.NotContains(t, strings.Join(notes, ""), "at the same time")
	} else {
		require.Contains(t, notes[calls-3], "at the same time")
		require.Contains(t, notes[calls-2], "at the same time")
	}
	require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))

	undone := p.jp("undo", "-y", found[2])
	require.Zero(t, undone.exit, undone.stderr)
	require.Equal(t, before, (&grove{p: p}).sight())

	require.Equal(t, plain("--no-such-option"), p.jp("record", a.name, "--no-such-option").exit)
}

// settingsOf are the files with an agent's settings in the home.
func (p *workspace) settingsOf(a agentRun) map[string]string {
	files := map[string]string{}
	for name := range peertest.Settings(a.name, "", "") {
		if name == ".claude.json" { // it has the times of runs
			continue
		}
		names, err := filepath.Glob(filepath.Join(p.environHome(), filepath.Dir(name), "*.*"))
		require.NoError(p.t, err)
		for _, path := range names {
			if ext := filepath.Ext(path); ext == ".json" || ext == ".jsonc" || ext == ".toml" {
				text, err := os.ReadFile(path)
				require.NoError(p.t, err)
				files[path] = string(text)
			}
		}
	}
	return files
}

// treeOf lists a copy of the files as git lists a tree.
func (p *workspace) treeOf(name string) string {
	dir, index := filepath.Join(p.beside("copies"), name), filepath.Join(p.beside("copies"), name+".index")
	for _, args := range [][]string{{"add", "-A", "."}, {"write-tree"}} {
		cmd := exec.Command("git", append([]string{"--git-dir=" + filepath.Join(p.dir, ".git"), "--work-tree=" + dir}, args...)...)
		cmd.Dir, cmd.Env = dir, append(p.environ, "GIT_INDEX_FILE="+index)
		out, err := cmd.CombinedOutput()
		require.NoError(p.t, err, string(out))
		if args[0] == "write-tree" {
			return p.git("ls-tree", "-r", strings.TrimSpace(string(out)))
		}
	}
	return ""
}
