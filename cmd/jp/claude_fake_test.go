package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
)

const fakeSession = "5e551000-0000-4000-8000-000000000001"

// claudeFake plays one turn of Claude Code: claude-fake --settings JSON [--resume] PROMPT COMMAND…
// Each command is a call of Bash. The hooks and the session file are as Claude Code has them.
func claudeFake() {
	settings := flag.String("settings", "{}", "")
	flag.Bool("resume", false, "")
	flag.Parse()
	a := &fakeAgent{file: filepath.Join(os.Getenv("HOME"), ".claude", "projects", "repo", fakeSession+".jsonl")}
	if err := json.Unmarshal([]byte(*settings), &a.settings); err != nil {
		panic(err)
	}
	_ = os.MkdirAll(filepath.Dir(a.file), 0o700)
	text, _ := os.ReadFile(a.file) // none in a new session
	a.lines = bytes.Count(text, []byte("\n"))
	a.hook("SessionStart", "", "")
	a.hook("UserPromptSubmit", "", "")
	a.line("user", flag.Arg(0))
	for i := range max(0, flag.NArg()-1) {
		command, id := flag.Arg(i+1), fmt.Sprintf("toolu_%d", a.lines)
		a.line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}})
		a.hook("PreToolUse", id, command)
		out, err := exec.Command("sh", "-c", command).CombinedOutput()
		if err != nil {
			a.hook("PostToolUseFailure", id, command)
		} else {
			a.hook("PostToolUse", id, command)
		}
		a.line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": string(out), "is_error": err != nil}})
	}
	a.line("assistant", []any{map[string]any{"type": "text", "text": "Done: " + flag.Arg(0)}})
	a.hook("Stop", "", "")
	a.hook("SessionEnd", "", "")
	fmt.Println("Done.")
	os.Exit(flag.NArg() - 1)
}

type fakeAgent struct {
	file     string
	lines    int
	settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
}

func (a *fakeAgent) line(kind string, content any) {
	dir, _ := os.Getwd()
	text, _ := json.Marshal(map[string]any{
		"type": kind, "uuid": fmt.Sprint("u", a.lines), "parentUuid": fmt.Sprint("u", a.lines-1), "sessionId": fakeSession, "cwd": dir, "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"message": map[string]any{"role": kind, "id": fmt.Sprint("m", a.lines), "model": "claude-x", "content": content},
	})
	file, err := os.OpenFile(a.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(text, '\n')); err != nil {
		panic(err)
	}
	a.lines++
}

// hook runs a hook's commands. Exit code 2 would block a tool, and output would go to the model.
func (a *fakeAgent) hook(event, call, command string) {
	dir, _ := os.Getwd()
	input, _ := json.Marshal(map[string]any{
		"hook_event_name": event, "session_id": fakeSession, "transcript_path": a.file, "cwd": dir, "tool_use_id": call, "tool_input": map[string]any{"command": command},
	})
	for _, matcher := range a.settings.Hooks[event] {
		for _, h := range matcher.Hooks {
			cmd := exec.Command("sh", "-c", h.Command)
			cmd.Stdin = bytes.NewReader(input)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				fmt.Printf("The hook %s failed: %v %s\n", event, err, out)
			}
		}
	}
}

// claudeWaits waits for a line, and goes on after Ctrl+C.
func claudeWaits() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for n := 1; ; n++ {
			<-interrupts
			fmt.Println("interrupted", n)
		}
	}()
	fmt.Println("started")
	var words string
	_, err := fmt.Scanln(&words)
	fmt.Println("got", words, err)
	os.Exit(7)
}

// fakesClaude makes the fake agent the claude of a place, and returns its path.
func (p *workspace) fakesClaude() string {
	path, err := filepath.Abs("testdata/fake/claude")
	require.NoError(p.t, err)
	p.environ = append(p.environ, "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
	return path
}

// fakeFile is the session file of the fake agent.
func (p *workspace) fakeFile() string {
	return filepath.Join(p.environHome(), ".claude", "projects", "repo", fakeSession+".jsonl")
}
