package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"jp/internal/version"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/process"
)

// readyIn is how long a process in the background has to report.
const readyIn = 10 * time.Second

// Descriptors that a process in the background is started with.
const (
	lockFD  = 3 // the conversation's lock, held
	orderFD = 4 // its orders: a BackgroundOrder, as JSON
	readyFD = 5 // takes its report that it goes on, or its failure
)

// A BackgroundOrder is the part of the command line for a process in the background. It is for that process
// only, and leaves no event.
type BackgroundOrder struct {
	Dir          string   `json:"dir"`
	Log          string   `json:"log"`
	Asked        bool     `json:"asked"` // the request is recorded, with the lasting changes by flags
	Model        string   `json:"model,omitempty"`
	Profiles     []string `json:"profiles,omitempty"`
	Yes          bool     `json:"yes,omitempty"`
	Tools        []string `json:"tools,omitempty"`
	WithoutTools []string `json:"without_tools,omitempty"`
	NoTools      bool     `json:"no_tools,omitempty"`
	Policy       string   `json:"policy,omitempty"`
	Pending      string   `json:"pending,omitempty"`
	Anyway       bool     `json:"anyway,omitempty"`
	Wait         bool     `json:"wait,omitempty"`
	Uninstructed bool     `json:"no_instructions,omitempty"`
	CFG          []string `json:"cfg,omitempty"`
	Quiet        bool     `json:"quiet,omitempty"`
}

// A report is the process's success, or the failure with which it ends.
type report struct {
	Ready   bool     `json:"ready"`
	PID     int      `json:"pid"`
	Exit    int      `json:"exit,omitempty"`
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message,omitempty"`
	Details []string `json:"details,omitempty"`
	Hints   []hint   `json:"hints,omitempty"`
}

// A hint is one of the failure's, with its kind.
type hint struct {
	Kind action.Kind `json:"kind"`
	Args []string    `json:"args,omitempty"`
	Text string      `json:"text"`
}

// A BackgroundTurn is the turn that a process in the background continues.
type BackgroundTurn struct {
	ID      conversation.ID
	Lock    *process.Lock // of the conversation, held
	Environ []string
	Log     *os.File // takes the output of the process
}

// Start starts a process that goes on with a turn, and waits for its report. If the process is not ready,
// Start ends it, so that the turn can be resumed.
func (t BackgroundTurn) Start(ctx context.Context, o BackgroundOrder) (pid int, err error) {
	r, err := t.start(ctx, o)
	if err != nil {
		f := problem.New(problem.ExitFailed, "internal", "%s does not run in the background: %v.", t.ID, err).About(t.ID)
		if text, err := os.ReadFile(t.Log.Name()); err == nil && len(text) > 0 {
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			f.Details = append(f.Details, lines[max(0, len(lines)-5):]...)
		}
		return 0, f.Hint(action.Continue(t.ID.Short()), "goes on with the turn here")
	}
	if !r.Ready {
		f := problem.New(r.Exit, r.Code, "%s", r.Message).About(t.ID)
		f.Details = r.Details
		for _, h := range r.Hints {
			if a, err := action.Named(h.Kind, h.Args...); err == nil {
				f.Hint(a, h.Text)
			}
		}
		return 0, f
	}
	return r.PID, nil
}

func (t BackgroundTurn) start(ctx context.Context, o BackgroundOrder) (r report, err error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer orderR.Close()
	defer orderW.Close()
	readyR, readyW, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer readyW.Close()
	defer readyR.Close()
	cmd := exec.Command(version.OwnProgram(), "detached", string(t.ID))
	cmd.Args[0] = os.Args[0]
	cmd.Env, cmd.Stdout, cmd.Stderr = t.Environ, t.Log, t.Log
	cmd.ExtraFiles = []*os.File{lockFD - 3: t.Lock.File(), orderFD - 3: orderR, readyFD - 3: readyW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepInherited()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	defer func() {
		if err == nil && r.Ready {
			go cmd.Wait() // reap it, since this process may start many
			return
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	orderR.Close() // the process has its own
	readyW.Close()
	stop := context.AfterFunc(ctx, func() { _ = readyR.SetReadDeadline(time.Now()) })
	defer stop()
	if err := readyR.SetReadDeadline(time.Now().Add(readyIn)); err != nil {
		return r, err
	}
	if err := errors.Join(json.NewEncoder(orderW).Encode(o), orderW.Close()); err != nil && !errors.Is(err, syscall.EPIPE) {
		return r, err
	}
	err = json.NewDecoder(io.LimitReader(readyR, 1<<20)).Decode(&r)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return r, fmt.Errorf("it did not report within %s", conversation.Ago(readyIn))
	case errors.Is(err, io.EOF):
		return r, errors.New("it ended before it reported")
	}
	return r, err
}
