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
	"jp/agent/live"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// A menu opens with the first Ctrl+C while a turn runs at a terminal. In a chat Esc opens it, and
// Ctrl+C stops the turn. The turn goes on behind it, and its output waits until the menu is closed.
type menu struct {
	tty     terminal.Asker
	loop    agent.Interruptible
	now     func() time.Time
	abort   func(signal string)
	gate    *sync.Mutex // held while the terminal is the menu's
	clear   func()      // makes room for it; may be nil
	open    atomic.Bool
	stopped atomic.Bool // by Ctrl+C in a line of the person's
	done    sync.WaitGroup

	transient bool        // nothing of the turn is kept
	client    *client     // the person at the terminal
	queue     *live.Queue // the user's messages meanwhile; nil: they cannot enter any
	line      Console     // in which they go on typing; nil: they cannot
}

// Choices that more than one menu has.
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
	return "a abort (" + action.ContinueSession.String() + " resumes)"
}

// menuText is the choices of a menu as they fit a width.
func menuText(width int, choices ...string) string {
	return terminal.Choices(width-len(" > "), 2, "", choices...) + " > "
}

// errAbort is the wish of the user that jp ends.
var errAbort = errors.New("aborted")

// steer lets the user interrupt a turn, by the letter of a choice. It returns no command if the turn goes on
// as it is. An unsent message is the text that the user has typed already. again reports whether Esc is the second one,
// which stops the turn.
func steer(ctx context.Context, tty terminal.Asker, choices []string, unsent func() string, again func() bool) (*turnloop.UserCommand, error) {
	letters := ""
	for _, c := range choices {
		if letter, _, _ := strings.Cut(c, " "); len(letter) == 1 {
			letters += letter
		}
	}
	key, err := tty.Choose(ctx, menuText(tty.Width(), choices...), func(k terminal.Key) bool {
		return k == terminal.KeyEnter || k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
	})
	if err != nil {
		fmt.Fprintln(tty)
		return nil, err
	}
	if key = key.Lower(); key == terminal.KeyCtrlD && strings.Contains(letters, "d") {
		key = 'd'
	}
	if key == terminal.KeyEsc && again != nil && again() {
		key = 's'
	}
	if strings.ContainsRune(letters, rune(key)) {
		fmt.Fprintf(tty, "%c", key)
	}
	fmt.Fprintln(tty)
	switch key {
	case terminal.KeyEnter, terminal.KeyEsc:
		return nil, nil
	case 's':
		return &turnloop.UserCommand{Kind: turnloop.CommandStop}, nil
	case 'x':
		return &turnloop.UserCommand{Kind: turnloop.CommandCancelTool}, nil
	case 'd':
		return nil, errLeave
	case 'r':
		text := ""
		if unsent != nil {
			text = unsent()
		}
		if text == "" {
			text, err = tty.Line(ctx, "Your reply: ")
		}
		if errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, terminal.ErrBack) || err == nil && strings.TrimSpace(text) == "" {
			return nil, nil // without a message the turn goes on
		}
		return &turnloop.UserCommand{Kind: turnloop.CommandReply, Text: text}, err
	}
	return nil, errAbort
}

// choicesFor is the activity of a turn and the choices that it leaves.
func choicesFor(doing turnloop.Activity, now time.Time) (what string, choices []string) {
	title, since := toolTitle(doing.Name, doing.Argument), conversation.Ago(now.Sub(doing.Started))
	switch {
	case doing.Hook != "":
		what = fmt.Sprintf("The %s hook has run %s, before %s.", doing.Hook, since, title)
	case doing.Name == "":
		return "The model is answering.", []string{"Enter go on", "r reply", "s stop (ends the turn)"}
	case doing.Waits:
		what = fmt.Sprintf("%s waits for another jp that changes files here, %s by now.", title, since)
	default:
		what = fmt.Sprintf("%s has run %s.", title, since)
	}
	return what, []string{"Enter wait", "x cancel this tool", "s stop the turn"}
}

// interrupt opens the menu. It reports false if there is no choice: then jp ends.
func (m *menu) interrupt(ctx context.Context, esc bool) bool {
	switch {
	case m.client.editing.Load():
		return true // it is the editor's
	case m.client.asking.Load(): // Ctrl+C is a key there, so this signal comes from another program
		return false
	}
	if !m.loop.Running() || !m.open.CompareAndSwap(false, true) {
		return false
	}
	if m.line != nil && !esc && !m.stopped.Swap(true) && m.loop.Interrupt(turnloop.UserCommand{Kind: turnloop.CommandStop}) {
		m.open.Store(false)
		return true
	}
	opened := m.now()
	again := func() bool { return esc && m.now().Sub(opened) < time.Second }
	m.done.Go(func() {
		defer m.open.Store(false)
		doing, ok := live.Steerable(ctx, m.loop, func() bool { return false })
		if !ok {
			m.abort("SIGINT")
			return
		}
		m.gate.Lock()
		defer m.gate.Unlock()
		if m.clear != nil {
			m.clear()
		}
		m.choose(ctx, doing, again)
	})
	return true
}

// choose asks for an action. An end of the input, and Ctrl+C again, abort.
func (m *menu) choose(ctx context.Context, doing turnloop.Activity, again func() bool) {
	what, choices := choicesFor(doing, m.now())
	switch {
	case !m.hasMessage():
	case doing.Name == "":
		choices[1] = sendChoice
	default:
		choices = slices.Insert(choices, 1, sendChoice+endsTool)
	}
	if m.line != nil {
		m.tty.Mark()
		defer m.tty.Erase(true)
	}
	fmt.Fprintf(m.tty, "\n%s\n", what)
	command, err := steer(ctx, m.tty, append(choices, abort(m.transient)), func() string {
		if m.queue == nil {
			return ""
		}
		if m.typed() {
			m.line.Submit()
		}
		return strings.Join(m.queue.Send(1), "") // the others go with the next step
	}, again)
	switch {
	case errors.Is(err, terminal.ErrHangup):
		m.abort("SIGHUP")
	case err != nil:
		m.abort("SIGINT")
	case command != nil:
		m.loop.Interrupt(*command)
	}
}

// toolTitle names a running tool and its argument, in one line without a column.
func toolTitle(name, argument string) string {
	return safetext.Show(safetext.OneLine(tool.Line(name, argument)))
}

// hasMessage reports whether the user has said something that is not sent yet.
func (m *menu) hasMessage() bool {
	return m.queue != nil && (len(m.queue.Waiting()) > 0 || m.typed())
}

// typed reports whether the user is typing a message.
func (m *menu) typed() bool { return m.line != nil && strings.TrimSpace(m.line.Text()) != "" }

// atQuestion is the menu that Ctrl+C opens in the place of an answer.
func (c *client) atQuestion(ctx context.Context) error {
	command, err := c.passing(ctx, c.direct(), backChoice, "s stop (ends the turn)", abort(c.front.transient))
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return &turnloop.Interrupt{Signal: "SIGHUP"}
	case errors.Is(err, errAbort):
		return &turnloop.Interrupt{Signal: "SIGINT"}
	case command != nil:
		return command
	}
	return err
}

// passing shows a menu that goes away when a choice is made, if the terminal redraws lines.
func (c *client) passing(ctx context.Context, tty terminal.Asker, choices ...string) (*turnloop.UserCommand, error) {
	if c.front.live != nil {
		tty.Mark()
		defer tty.Erase(true)
	}
	return steer(ctx, tty, choices, nil, nil)
}

// gated lets an output wait while another part has the terminal.
type gated struct {
	agent.Output
	front *TerminalFront
	main  bool // it is the run itself, and not one of its delegates
}

// wait waits for the terminal, and returns a function that gives it back.
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
