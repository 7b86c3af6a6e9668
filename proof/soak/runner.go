package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"jp/conversation"
)

// A runner is one of the conversations, with the process that runs it now.
type runner struct {
	index   int
	id      conversation.ID
	recipe  modelScript
	log     string
	visited bool // clients come and go

	pid     int
	process *os.Process
	over    chan struct{}    // closed when the process has ended
	state   *os.ProcessState // of the process, then
}

// A detached is jp's output about a process in the background.
type detached struct {
	Conversation conversation.ID `json:"conversation"`
	PID          int             `json:"pid"`
	Log          string          `json:"log"`
}

// start begins a conversation in the background. Every other one is visited.
func (a *environment) start(ctx context.Context, index int, length time.Duration) (*runner, error) {
	m := &runner{index: index, recipe: newRecipe(index, length), visited: index%2 == 0}
	script := filepath.Join(a.scripts(), strconv.Itoa(index)+".toml")
	if err := os.WriteFile(script, []byte(m.recipe.script()), 0o600); err != nil {
		return nil, err
	}
	out, err := a.jp(ctx, 0, "query", "--detach", "--new", "--json", "-m", "script/"+script, fmt.Sprintf("Request %d", index))
	if err != nil {
		return nil, err
	}
	return m, m.runBy(out)
}

// resume lets a new process go on with the conversation in the background.
func (a *environment) resume(ctx context.Context, m *runner) error {
	out, err := a.jp(ctx, 0, "query", "--continue-turn", "--detach", "--json", "--id="+string(m.id))
	if err != nil {
		return err
	}
	return m.runBy(out)
}

// runBy takes the process that jp said it has started, which is a child of this
// one by now.
func (m *runner) runBy(said []byte) error {
	var d detached
	if err := json.Unmarshal(said, &d); err != nil {
		return fmt.Errorf("read what jp query --detach says: %w", err)
	}
	p, err := os.FindProcess(d.PID)
	if err != nil {
		return err
	}
	m.id, m.log, m.pid, m.process, m.over = d.Conversation, d.Log, d.PID, p, make(chan struct{})
	go func() {
		defer close(m.over)
		if state, err := p.Wait(); err == nil {
			m.state = state
		}
	}()
	return nil
}

// ended waits for the process to end, and gives its exit code: -1 if a signal ended it, or that is unknown.
func (m *runner) ended(ctx context.Context) (int, error) {
	select {
	case <-m.over:
		return m.state.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the end of pid %d: %w", m.pid, context.Cause(ctx))
	}
}

// kill ends the process at once.
func (m *runner) kill(ctx context.Context, signal os.Signal) error {
	if err := m.process.Signal(signal); err != nil {
		return fmt.Errorf("send %s to pid %d: %w", signal, m.pid, err)
	}
	_, err := m.ended(ctx)
	return err
}
