package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/process"
	"jp/process/attach"
	"jp/turnloop"
)

// PresenceOptions say whose presence it is.
type PresenceOptions struct {
	Ctx      context.Context // until the end of the run
	Repo     *repo.Repo
	Env      *repo.Host
	ID       conversation.ID
	Head     conversation.Head
	Seq      int                 // of the newest event, or -1
	User     Asker               // nil without a terminal to ask at
	Queue    *Queue              // of messages to the turn; nil: the turn takes no messages
	Handover *Handover           // nil: a person started the run
	Abort    func(signal string) // ends the run as a signal does
}

// A Presence is how others see a run of jp, and reach it.
type Presence struct {
	options   PresenceOptions
	questions *questions
	server    *attach.Server
	running   atomic.Pointer[turnloop.Loop]

	put       sync.Mutex // of the entry, which is always up to date
	registry  process.Registry
	entry     process.Entry
	published bool
	over      bool
}

// HasUser reports whether the run has a terminal to ask at.
func (p *Presence) HasUser() bool { return p.options.User != nil }

// NewPresence makes the server for peers. They can reach it after Publish.
func NewPresence(o PresenceOptions) *Presence {
	p := &Presence{options: o}
	p.server = attach.NewServer(attach.Options{
		Conversation: o.ID, PID: os.Getpid(), Head: o.Head, Seq: o.Seq,
		Doing: p.doing, Interrupt: p.interrupt, Say: p.say, Changed: func() { _ = p.update() }, // a failure costs others a word in a list
		Shutdown: func() { o.Abort("SIGTERM") },
	})
	p.questions = &questions{id: o.ID, user: o.User, server: p.server, waiting: p.announceQuestion, reached: p.Published, limit: p.Limit()}
	if o.Repo.Report.Origins["policy.timeout"].Layer == config.LayerDefault {
		p.questions.longer = o.Env.Terminal
	}
	return p
}

// Limit is how long a question waits for a user to attach. 0 is without a limit.
func (p *Presence) Limit() time.Duration {
	if p.options.Handover != nil {
		return 0
	}
	return p.options.Repo.Config.Policy.Timeout
}

// Runs says which turn peers can interrupt.
func (p *Presence) Runs(loop *turnloop.Loop) { p.running.Store(loop) }

// Prompter takes the questions of the turn.
func (p *Presence) Prompter() turnloop.Prompter { return p.questions }

// Relay is an observer that informs peers before it passes an event on.
func (p *Presence) Relay(o turnloop.Observer) turnloop.Observer {
	return &relay{o, p.server, activityTeller{p.options.ID, p.options.Env.Now}}
}

// Published reports whether others can reach the run.
func (p *Presence) Published() bool { return p != nil && p.published }

// Publish registers the run and lets others reach it, once. The lock is held.
func (p *Presence) Publish() error {
	if p.published {
		return nil
	}
	registry, err := p.options.Repo.Processes().Registry()
	if err != nil {
		return err
	}
	p.registry, p.entry = registry, process.Entry{
		ConversationID: p.options.ID, PID: os.Getpid(), Start: process.StartOf(os.Getpid()), StartedAt: p.options.Env.Now().UTC(), Status: process.StatusRunning,
		Detached: p.options.Handover != nil, Worktree: p.options.Repo.At.TopLevel,
	}
	if p.options.Handover != nil {
		p.entry.Log = p.options.Handover.Order.Log
	}
	if other, err := registry.Get(p.options.ID); err == nil && !registry.SameRepository(other) {
		if _, lives := (process.LocksIn(other.Repository)).Held(p.options.ID); lives {
			return fmt.Errorf("a copy of this repository, %s, runs the same conversation (pid %d)", other.Repository, other.PID)
		}
	}
	p.published = true
	if err := p.update(); err != nil {
		p.published = false
		return err
	}
	listener, err := registry.Listen(p.options.ID)
	if err != nil {
		p.published = false
		return errors.Join(err, registry.Remove(p.options.ID))
	}
	p.server.Serve(ownPeers{listener, p.options.Repo.Locks})
	return p.options.Handover.ready()
}

// update writes the entry as it is now.
func (p *Presence) update() error {
	p.put.Lock()
	defer p.put.Unlock()
	if p.over || !p.published {
		return nil
	}
	state := p.server.State()
	p.entry.Attached, p.entry.Pending, p.entry.Status = state.Attached, nil, process.StatusRunning
	if w := state.Pending; w != nil {
		p.entry.Status = process.StatusWaiting
		p.entry.Pending = &process.PendingInquiry{Kind: string(w.Kind), ToolName: w.Tool, AnswerType: w.AnswerType.Type, Seq: w.Seq}
	}
	return p.registry.Put(p.entry)
}

// Close says goodbye. The lock is still held, so that the entry is this run's.
func (p *Presence) Close(bye attach.Closing) {
	if p == nil {
		return
	}
	p.server.Close(bye)
	p.put.Lock()
	defer p.put.Unlock()
	if p.published {
		p.over = true
		_ = p.registry.Remove(p.options.ID) // the next jp that finds one removes it
	}
}
