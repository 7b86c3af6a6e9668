package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jp/agent"
	"jp/agent/action"
	"jp/agent/drafts"
	"jp/agent/presence"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A menu is what the first Ctrl+C opens while a turn runs at a terminal. The
// turn goes on behind it; what it says waits until the menu is closed.
type menu struct {
	tty   terminal.Asker
	loop  agent.Interruptible
	now   func() time.Time
	abort func(signal string)
	gate  *sync.Mutex // held while the terminal is the menu's
	clear func()      // makes room for it; may be nil
	open  atomic.Bool
	done  sync.WaitGroup

	transient bool          // nothing of the turn is kept
	client    *client       // who is asked
	queue     *drafts.Queue // what the user has entered meanwhile; nil: they cannot
	line      Console       // in which they go on typing; nil: they cannot
}

// Choices that more than one menu has.
var abortChoice = "a abort (" + action.ContinueSession.String() + " resumes)"

const (
	leaveChoice = "a abort (nothing is kept)"
	backChoice  = "Enter back to the question"
	sendChoice  = "r send your message now"
	endsTool    = " (ends the tool)"
)

// abort is the choice that ends jp.
func abort(transient bool) string {
	if transient {
		return leaveChoice
	}
	return abortChoice
}

// menuText is the choices of a menu as they fit a width.
func menuText(width int, choices ...string) string {
	return terminal.Choices(width-len(" > "), 2, "", choices...) + " > "
}

// interrupt opens the menu. It reports false where there is nothing to choose:
// then jp ends.
func (m *menu) interrupt(ctx context.Context) bool {
	switch {
	case m.client.editing.Load():
		return true // it is the editor's
	case m.client.asking.Load(): // Ctrl+C is a key there, so this signal comes from another program
		return false
	}
	if !m.loop.Running() || !m.open.CompareAndSwap(false, true) {
		return false
	}
	m.done.Go(func() {
		defer m.open.Store(false)
		doing, ok := presence.Steerable(ctx, m.loop, func() bool { return false })
		if !ok {
			m.abort("SIGINT")
			return
		}
		m.gate.Lock()
		defer m.gate.Unlock()
		if m.clear != nil {
			m.clear()
		}
		m.choose(ctx, doing)
	})
	return true
}

// choose asks what to do. An end of the input, and Ctrl+C again, abort.
func (m *menu) choose(ctx context.Context, doing turnloop.Activity) {
	choices, letters := []string{"Enter go on", "r reply", "s stop (ends the turn)", abort(m.transient)}, "rsa"
	title, since := toolTitle(doing.Name, doing.Argument), conversation.Ago(m.now().Sub(doing.Started))
	switch {
	case doing.Hook != "":
		fmt.Fprintf(m.tty, "\nThe %s hook has run %s, before %s.\n", doing.Hook, since, title)
	case doing.Name == "":
		fmt.Fprintln(m.tty, "\nThe model is answering.")
	case doing.Waits:
		fmt.Fprintf(m.tty, "\n%s waits for another jp that changes files here, %s by now.\n", title, since)
	default:
		fmt.Fprintf(m.tty, "\n%s has run %s.\n", title, since)
	}
	if doing.Name != "" {
		choices, letters = []string{"Enter wait", "x cancel this tool", "s stop the turn", abort(m.transient)}, "xsa"
	}
	if m.hasMessage() {
		if doing.Name == "" {
			choices[1] = sendChoice
		} else {
			choices, letters = slices.Insert(choices, 1, sendChoice+endsTool), letters+"r"
		}
	}
	key, err := m.tty.Choose(ctx, menuText(m.tty.Width(), choices...), func(k terminal.Key) bool {
		return k == terminal.KeyEnter || k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
	})
	if err != nil {
		m.abort(hangup(err))
		return
	}
	m.act(ctx, key)
}

// toolTitle names a tool that runs and what it runs on, in one line without a column.
func toolTitle(name, argument string) string { return safetext.Show(clean(name + " " + argument)) }

func (m *menu) act(ctx context.Context, key terminal.Key) {
	switch key {
	case terminal.KeyEnter, terminal.KeyEsc:
		fmt.Fprintln(m.tty)
		return
	case terminal.KeyCtrlC, terminal.KeyCtrlD:
		fmt.Fprintln(m.tty)
		m.abort("SIGINT")
		return
	}
	fmt.Fprintf(m.tty, "%c\n", key.Lower())
	switch key.Lower() {
	case 's':
		m.loop.Interrupt(turnloop.UserCommand{Kind: turnloop.CommandStop})
	case 'x':
		m.loop.Interrupt(turnloop.UserCommand{Kind: turnloop.CommandCancelTool})
	case 'r':
		if m.queue != nil {
			if m.typed() {
				m.line.Submit()
			}
			if texts := m.queue.Send(1); len(texts) > 0 { // the others go with the next step
				m.loop.Interrupt(turnloop.UserCommand{Kind: turnloop.CommandReply, Text: texts[0]})
				return
			}
		}
		line, err := m.tty.Line(ctx, "Your reply: ")
		switch {
		case errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, terminal.ErrBack) || err == nil && strings.TrimSpace(line) == "":
			return // nothing was said; the turn goes on
		case err != nil:
			m.abort(hangup(err))
			return
		}
		m.loop.Interrupt(turnloop.UserCommand{Kind: turnloop.CommandReply, Text: line})
	default:
		m.abort("SIGINT")
	}
}

// hasMessage reports whether the user has said something that is not sent yet.
func (m *menu) hasMessage() bool {
	return m.queue != nil && (len(m.queue.Waiting()) > 0 || m.typed())
}

// typed reports whether they are typing a message.
func (m *menu) typed() bool { return m.line != nil && strings.TrimSpace(m.line.Text()) != "" }

// hangup is the signal that the end of a question without an answer stands for.
func hangup(err error) string {
	if errors.Is(err, terminal.ErrHangup) {
		return "SIGHUP"
	}
	return "SIGINT"
}

// atQuestion is the menu that Ctrl+C opens in the place of an answer.
func (c *client) atQuestion(ctx context.Context) error {
	tty := c.direct()
	text := menuText(tty.Width(), backChoice, "s stop (ends the turn)", abort(c.front.transient))
	key, err := tty.Choose(ctx, text, func(k terminal.Key) bool {
		return k == terminal.KeyEnter || k == terminal.KeyEsc || strings.ContainsRune("sa", rune(k.Lower()))
	})
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return &turnloop.Interrupt{Signal: "SIGHUP"}
	case err != nil:
		return err
	case key == terminal.KeyEnter, key == terminal.KeyEsc:
		fmt.Fprintln(c.tty)
		return nil
	case key.Lower() == 's':
		fmt.Fprintln(c.tty, "s")
		return &turnloop.UserCommand{Kind: turnloop.CommandStop}
	}
	fmt.Fprintln(c.tty)
	return &turnloop.Interrupt{Signal: "SIGINT"}
}

// gated lets an output wait while another part has the terminal.
type gated struct {
	agent.Output
	front *TerminalFront
	main  bool // it is the run itself, and not one of its delegates
}

// wait waits for the terminal, and returns what gives it back.
func (g *gated) wait() func() {
	if g.front.client == nil {
		return func() {}
	}
	g.front.client.gate.Lock()
	return g.front.client.gate.Unlock
}

// Begin lets the user's prompts be about the conversation of the run.
func (g *gated) Begin(r agent.RunInfo) {
	if g.main {
		id := conversation.ID("")
		if r.Recorded {
			id = r.ID
		}
		g.front.About(id)
		g.front.notify = g.front.newNotifier(id)
	}
	g.Output.Begin(r)
}

// Ended implements [agent.Output].
func (g *gated) Ended(e agent.Ending) {
	if g.Output.Ended(e); g.main {
		g.front.notify.tell(hasEnded)
	}
}

func (g *gated) Recorded(events []*conversation.Event) {
	defer g.wait()()
	g.Output.Recorded(events)
}

func (g *gated) Streamed(d turnloop.Delta) {
	defer g.wait()()
	g.Output.Streamed(d)
}

func (g *gated) Noticed(text string) {
	defer g.wait()()
	g.Output.Noticed(text)
}
