package ui

import (
	"io"
	"sync"
	"time"

	"jp/conversation"
	"jp/internal/safetext"
)

// notifyAfter is how long the person must have waited before a notice.
const notifyAfter = 10 * time.Second

// A notifier notifies a person who may look elsewhere that a question waits, or that the turn has
// ended. All words are jp's own, and none come from a model or a tool.
type notifier struct {
	out io.Writer // the terminal
	osc bool      // it shows notifications
	now func() time.Time

	mu    sync.Mutex
	id    conversation.ID
	since time.Time // when the person did something last
}

// newNotifier is the notifier of a turn, nil without notifications.
func (f *TerminalFront) newNotifier(id conversation.ID) *notifier {
	e := f.Env
	if f.Repo.Config.Notify == "off" || e.Format.Structured() || !IsTerminal(e.Stderr) || e.Get("TERM") == "dumb" {
		return nil
	}
	multiplexer := e.Get("TMUX") != "" || e.Get("STY") != "" || e.Get("TERM") == "linux"
	return &notifier{out: e.Stderr, osc: f.Repo.Config.Notify != "bell" && !multiplexer, now: e.Now, id: id, since: e.Now()}
}

// acted notes that the person did something.
func (n *notifier) acted() {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.since = n.now()
	}
}

// tell notifies the person, if they have waited for some time. One write moves no cursor and
// interrupts no sequence of others.
func (n *notifier) tell(what string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now().Sub(n.since) < notifyAfter {
		return
	}
	n.since = n.now()
	text := "\a"
	if n.osc {
		text = "\x1b]9;jp " + safetext.Show(n.id.Short()) + " " + what + "\x1b\\"
	}
	_, _ = io.WriteString(n.out, text) // other writers report a terminal that is gone
}

// The notices for a person.
const (
	waitsForYou = "waits for your answer"
	hasEnded    = "has ended"
)
