package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// lookEvery is how often a list that is followed looks for changes.
const lookEvery = 400 * time.Millisecond

// showEvery is how often times are brought up to date on a terminal.
const showEvery = 10 * time.Second

// errLeft ends the list at the user's wish.
var errLeft = errors.New("left")

// A display shows a list that changes.
type display interface {
	show(list []*repo.Summary) error
	// stale reports whether an unchanged list is to be shown again. The error means that the reader is
	// gone.
	stale() (bool, error)
	close()
}

// An arrangement filters and sorts a list, as it is at a time.
type arrangement func(list []*repo.Summary, now time.Time) []*repo.Summary

// FollowList keeps the list up to date until the user leaves or the reader is gone.
func FollowList(ctx context.Context, e *Env, r *repo.Repo, w *repo.Watch, arrange arrangement) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	interrupt := func(context.Context, bool) bool { leave(errLeft); return true }
	e.onInterrupt.Store(&interrupt)
	defer e.onInterrupt.Store(nil)
	d := newDisplay(ctx, e, r, leave)
	defer d.close()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	return follow(ctx, e, w, arrange, d, ticker.C)
}

// follow checks for changes at each tick.
func follow(ctx context.Context, e *Env, w *repo.Watch, arrange arrangement, d display, ticks <-chan time.Time) error {
	for {
		changed, err := w.Changed(ctx)
		if err == nil && !changed {
			changed, err = d.stale()
		}
		if err == nil && changed {
			err = d.show(arrange(w.List(), e.Now()))
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errLeft) {
				return cause
			}
			return nil
		case <-ticks:
		}
	}
}

// newDisplay is the whole terminal, or a line for each change if there is none or JSON is asked for.
func newDisplay(ctx context.Context, e *Env, r *repo.Repo, leave context.CancelCauseFunc) display {
	if !IsTerminal(e.Stdout) || e.Format.Structured() || !Redraws(e.Style, e.Get("TERM")) {
		return &changes{ctx: ctx, env: e, repo: r, said: map[string]string{}}
	}
	d := &dashboard{
		ctx: ctx, env: e, repo: r, leave: leave, screen: terminal.NewScreen(e.Stdout, e.Results()), done: make(chan struct{}),
	}
	go d.keys()
	return d
}

// changes writes a line for each conversation that is not as it was when it was
// written last.
type changes struct {
	ctx  context.Context
	env  *Env
	repo *repo.Repo
	said map[string]string // JSON, by name
}

// A goneJSON is a conversation that is not listed any more.
type goneJSON struct {
	ID   string `json:"id"`
	Gone bool   `json:"gone"`
}

func (c *changes) close() {}

func (c *changes) show(list []*repo.Summary) error {
	table := newListTable(c.ctx, c.env, c.repo)
	listed := map[string]bool{}
	for _, l := range list {
		listed[l.ID] = true
		object, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if c.said[l.ID] == string(object) {
			continue
		}
		c.said[l.ID] = string(object)
		if c.env.Format.Structured() {
			err = WriteJSON(c.env.Results(), l)
		} else {
			err = table.in(layouts[0], []*repo.Summary{l}).Print(c.env.Results())
		}
		if err != nil {
			return err
		}
	}
	for id := range c.said {
		if !listed[id] {
			delete(c.said, id)
			if err := c.gone(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// stale is always false, since a line shows a conversation as it was when it changed. The error is the
// loss of the reader.
func (c *changes) stale() (bool, error) { return false, unread(c.env.Stdout) }

func (c *changes) gone(id string) error {
	if c.env.Format.Structured() {
		return WriteJSON(c.env.Results(), goneJSON{id, true})
	}
	_, err := fmt.Fprintf(c.env.Results(), " \t%s\tgone\n", id)
	return err
}

// unread is an error if a pipe has lost its reader.
func unread(out *os.File) error {
	fds := []unix.PollFd{{Fd: int32(out.Fd())}}
	if n, err := unix.Poll(fds, 0); err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
		return syscall.EPIPE
	}
	return nil
}

// A dashboard shows the list on the whole terminal.
type dashboard struct {
	ctx    context.Context
	env    *Env
	repo   *repo.Repo
	leave  context.CancelCauseFunc
	screen *terminal.Screen
	done   chan struct{} // closed when keys are not read any more
	shown  time.Time
}

// keys waits for the key that leaves. If it cannot read keys, signals end it.
func (d *dashboard) keys() {
	defer close(d.done)
	tty, err := terminal.OpenTTY()
	if err != nil {
		return
	}
	defer tty.Close()
	_, err = tty.Choose(d.ctx, "", func(k terminal.Key) bool { return k.Lower() == 'q' || k == terminal.KeyEsc })
	if errors.Is(err, terminal.ErrHangup) {
		d.leave(&turnloop.Interrupt{Signal: "SIGHUP"})
	} else if err == nil {
		d.leave(errLeft)
	}
}

func (d *dashboard) close() {
	d.leave(errLeft)
	<-d.done
	_ = d.screen.Close()
}

// stale reports whether the shown times are out of date, or the terminal has another size.
func (d *dashboard) stale() (bool, error) {
	return d.env.Now().Sub(d.shown) >= showEvery || d.screen.Resized(), nil
}

func (d *dashboard) show(list []*repo.Summary) error {
	d.shown = d.env.Now()
	table := newListTable(d.ctx, d.env, d.repo)
	fitting := lastFitting(list, d.screen.Height()-2) // a head and a foot
	var text strings.Builder
	if err := table.of(fitting).Print(&text); err != nil {
		return err
	}
	lines := strings.Split(text.String(), "\n")
	lines[len(lines)-1] = table.palette.Dim(safetext.Fit(foot(list, len(list)-len(fitting)), table.width))
	return d.screen.Draw(lines)
}

// foot sums a list up of which the first ones are hidden.
func foot(list []*repo.Summary, hidden int) string {
	words := []string{conversation.Count(len(list), "conversation")}
	if hidden > 0 {
		words[0] += fmt.Sprintf(" (%d above)", hidden)
	}
	for _, state := range []string{"running", "waiting", "interrupted"} {
		n := 0
		for _, l := range list {
			if l.Status.Word() == state {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(append(words, "q leaves"), " · ")
}

// lastFitting are the last conversations of a list that fit into some lines.
func lastFitting(list []*repo.Summary, lines int) []*repo.Summary {
	first := len(list)
	for first > 0 {
		if lines--; list[first-1].Status.Question != nil {
			lines--
		}
		if lines < 0 {
			break
		}
		first--
	}
	return list[first:]
}
