package agent

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

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/turnloop"
)

// readyIn is how long a process in the background has to report.
const readyIn = 10 * time.Second

// Descriptors that a process in the background is started with.
const (
	lockFD  = 3 // the conversation's lock, held
	orderFD = 4 // what it is to do: an order, as JSON
	readyFD = 5 // where it reports that it goes on, or why not
)

// An order is what a process in the background gets of the command line. It is
// for that process only: nothing of it becomes an event by being here.
type order struct {
	Dir          string   `json:"dir"`
	Log          string   `json:"log"`
	Asked        bool     `json:"asked"` // the request is recorded, with what the flags change for good
	Model        string   `json:"model,omitempty"`
	Yes          bool     `json:"yes,omitempty"`
	Tools        []string `json:"tools,omitempty"`
	WithoutTools []string `json:"without_tools,omitempty"`
	NoTools      bool     `json:"no_tools,omitempty"`
	Policy       string   `json:"policy,omitempty"`
	Pending      string   `json:"pending,omitempty"`
	Anyway       bool     `json:"anyway,omitempty"`
	Wait         bool     `json:"wait,omitempty"`
	CFG          []string `json:"cfg,omitempty"`
	Quiet        bool     `json:"quiet,omitempty"`
}

// A report is what such a process says before it goes on: that it does, or with
// which failure it ends.
type report struct {
	Ready   bool           `json:"ready"`
	PID     int            `json:"pid"`
	Exit    int            `json:"exit,omitempty"`
	Code    string         `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
	Details []string       `json:"details,omitempty"`
	Hints   []problem.Hint `json:"hints,omitempty"`
}

// order is what the process in the background has to know. What the request
// recorded already is left out.
func (q *query) order(log string, asked bool) order {
	o := order{
		Dir: q.env.Dir, Log: log, Asked: asked, Tools: q.opts.Tools, WithoutTools: q.opts.WithoutTools, NoTools: q.opts.NoTools,
		Policy: q.opts.Policy, Pending: q.opts.Pending, Anyway: q.opts.Anyway, Wait: q.opts.Wait, CFG: q.env.Cfg, Quiet: q.opts.Quiet,
	}
	if !asked {
		o.Model, o.Yes = q.opts.Model, q.opts.Yes
	}
	return o
}

// askDetached makes the request durable, and lets a process in the background go
// on with it.
func (q *query) askDetached(ctx context.Context, loop *turnloop.Loop, request turnloop.Request) error {
	log, err := q.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if err := loop.Begin(ctx, request); err != nil {
		return err
	}
	q.head = loop.Head()
	q.forgetDraft(request.Chat.Content)
	return q.detach(ctx, log, true)
}

// resumeDetached lets a process in the background go on with the incomplete turn.
func (q *query) resumeDetached(ctx context.Context) error {
	log, err := q.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	return q.detach(ctx, log, false)
}

// openLog opens the file of the output of a process in the background. Where that
// has no place, nothing can run in the background.
func (q *query) openLog() (*os.File, error) {
	registry, err := q.repo.Processes().Registry()
	if err != nil {
		return nil, err
	}
	log, err := registry.Log(q.id)
	if err != nil {
		return nil, problem.New(problem.ExitFailed, "internal", "nothing can run in the background: %v.", err)
	}
	return log, nil
}

// detach starts the process that goes on with the turn, and waits until it says
// that it does. The lock is handed to it while it is held here.
func (q *query) detach(ctx context.Context, log *os.File, asked bool) error {
	b, err := q.start(log)
	if err != nil {
		return q.notDetached(err, log.Name())
	}
	defer b.close()
	r, err := b.await(ctx, q.order(log.Name(), asked))
	switch {
	case err != nil:
		return q.notDetached(err, log.Name())
	case !r.Ready:
		f := problem.New(r.Exit, r.Code, "%s", r.Message).About(q.id)
		f.Details, f.Hints = r.Details, r.Hints
		return f
	}
	q.out.Detached(DetachedJSON{"detached", q.id, r.PID, log.Name()})
	return nil
}

// A DetachedJSON says that a conversation goes on in the background.
type DetachedJSON struct {
	Type         string          `json:"type"`
	Conversation conversation.ID `json:"conversation"`
	PID          int             `json:"pid"`
	Log          string          `json:"log"`
}

// notDetached says that the process in the background did not come up. It is
// ended, so that the turn can be gone on with.
func (q *query) notDetached(err error, log string) error {
	f := problem.New(problem.ExitFailed, "internal", "%s does not run in the background: %v.", q.id, err).About(q.id)
	if text, err := os.ReadFile(log); err == nil && len(text) > 0 {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		f.Details = append(f.Details, lines[max(0, len(lines)-5):]...)
	}
	return f.Hint("jp continue "+q.id.Short(), "goes on with the turn here")
}

// A background is a process that was started and has not reported yet.
type background struct {
	cmd    *exec.Cmd
	orders io.WriteCloser
	ready  *os.File
	up     bool
}

// start starts jp in a session of its own.
func (q *query) start(log *os.File) (_ *background, err error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer orderR.Close()
	readyR, readyW, err := os.Pipe()
	if err != nil {
		orderW.Close()
		return nil, err
	}
	defer readyW.Close()
	b := &background{orders: orderW, ready: readyR}
	b.cmd = exec.Command(repo.OwnProgram(), "detached", string(q.id))
	b.cmd.Args[0] = os.Args[0]
	b.cmd.Env, b.cmd.Stdout, b.cmd.Stderr = q.env.Environ, log, log
	b.cmd.ExtraFiles = []*os.File{lockFD - 3: q.held.Hand(), orderFD - 3: orderR, readyFD - 3: readyW}
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepInherited()
	if err := b.cmd.Start(); err != nil {
		return nil, errors.Join(err, orderW.Close(), readyR.Close())
	}
	return b, nil
}

// await gives the order and waits for the report.
func (b *background) await(ctx context.Context, o order) (r report, err error) {
	stop := context.AfterFunc(ctx, func() { _ = b.ready.SetReadDeadline(time.Now()) })
	defer stop()
	if err := b.ready.SetReadDeadline(time.Now().Add(readyIn)); err != nil {
		return r, err
	}
	if err := errors.Join(json.NewEncoder(b.orders).Encode(o), b.orders.Close()); err != nil && !errors.Is(err, syscall.EPIPE) {
		return r, err
	}
	err = json.NewDecoder(io.LimitReader(b.ready, 1<<20)).Decode(&r)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return r, fmt.Errorf("it did not report within %s", conversation.Ago(readyIn))
	case errors.Is(err, io.EOF):
		return r, errors.New("it ended before it reported")
	}
	b.up = err == nil && r.Ready
	return r, err
}

// close lets go of a process that goes on, and ends any other.
func (b *background) close() {
	b.orders.Close()
	b.ready.Close()
	if b.up {
		_ = b.cmd.Process.Release()
		return
	}
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}
