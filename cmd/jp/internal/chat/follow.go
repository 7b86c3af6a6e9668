package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"jp/agent"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// An elsewhere hears of turns of the conversation that other processes run, and shows them while the chat is idle.
type elsewhere struct {
	news <-chan struct{}   // that processes have come or gone; nil: jp cannot watch them
	head conversation.Head // at which the conversation was looked at last
	pid  int               // of the process that was followed last

	mu  sync.Mutex
	say func(text string) error // gives a message to the turn that is followed; nil: none is
}

// watch begins to listen, once the repository has a registry of processes.
func (x *elsewhere) watch(ctx context.Context, c *chat) {
	if x.news != nil || c.id == "" || c.plain != nil {
		return
	}
	_ = c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) (err error) {
		if registry, known := r.States().ToldRegistry(); known {
			x.news, err = registry.Changes(ctx)
		}
		return err
	})
}

// inBackground reports whether a process in the background runs a conversation. The chat shows its turn from the beginning.
func inBackground(r *repo.Repo, id conversation.ID) bool {
	_, background := r.Processes().Runner(id)
	return id != "" && background
}

// endsIn is how long a process may take to end that runs no turn any more.
const endsIn = time.Second

// look follows the turn that a process in the background has begun, and shows one that has ended.
func (x *elsewhere) look(ctx context.Context, c *chat) {
	var pid int
	var background, moved bool
	err := c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		pid, background = r.Processes().Runner(c.id)
		if pid != 0 {
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, endsIn)
		defer cancel()
		_ = r.Processes().AwaitEnd(c.id)(limited) // one that takes longer is another command
		if _, held := r.Locks.Held(c.id); held {  // by a process in the background, which tells so soon
			return nil
		}
		head, err := r.Store.Head(ctx, c.id)
		moved, x.head = head != x.head, head
		return err
	})
	if err != nil {
		return // a conversation that is gone is named by the next request
	}
	followed := false
	if background && pid != x.pid {
		x.pid, moved = pid, true
		followed, err = x.follow(ctx, c)
	}
	if !moved {
		return
	}
	shown, failed := x.show(ctx, c, !followed)
	if err = errors.Join(err, failed); shown || followed || err != nil {
		c.afterwards(ctx, err)
	}
}

// follow shows a turn until it ends, and gives it the person's entries. It reports false if the turn
// had ended before.
func (x *elsewhere) follow(ctx context.Context, c *chat) (followed bool, err error) {
	following, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	abort := c.env.Abort
	defer func() { c.env.Abort = abort }()
	c.env.Abort = func(string) { cancel(nil) }
	go func() {
		select {
		case <-c.left:
		case <-c.console.Gone():
		case <-following.Done():
		}
		cancel(nil)
	}()
	c.work.begin(following)
	defer c.work.end()
	err = ui.RunAttach(following, c.env, ui.AttachOptions{Tail: -1, After: -1, Chat: func(say func(string) error) {
		followed = true
		x.speaks(say)
	}}, string(c.id))
	x.speaks(nil)
	if !followed || following.Err() != nil {
		err = nil
	}
	return followed, err
}

func (x *elsewhere) speaks(say func(text string) error) {
	x.mu.Lock()
	x.say = say
	x.mu.Unlock()
}

// tell gives a message to the turn that is followed, and reports whether there is one.
func (x *elsewhere) tell(text string) (is bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.say == nil {
		return false, nil
	}
	return true, x.say(text)
}

// show reads the conversation anew. It prints the newest turn if prints is true and the chat has not
// shown it.
func (x *elsewhere) show(ctx context.Context, c *chat, prints bool) (shown bool, err error) {
	err = c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		o, err := agent.OverviewOf(ctx, r, string(c.id))
		if err != nil || len(o.Last) == 0 {
			return err
		}
		if shown = prints && o.Last[0].Seq > c.bottom.newestTurn(); prints && !shown {
			return nil // it is the chat's own
		}
		if shown {
			rows := c.env.OnScreen(&repo.View{Repo: r, ID: o.ID, Events: o.Last}).LastTurn(terminal.Rows(c.env.Stdout) - 6)
			fmt.Fprintln(c.console, strings.Join(rows, "\n"))
		}
		c.bottom.open(ctx, r, o, c.settings.next(false))
		c.showBottom()
		c.opener.about("")
		c.history.forget()
		return nil
	})
	return shown, err
}
