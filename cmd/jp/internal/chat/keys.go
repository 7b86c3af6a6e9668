package chat

import (
	"context"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/cmd/jp/internal/console"
	"jp/conversation"
	"jp/internal/safetext"
)

const (
	twice = 2 * time.Second // how soon a second Ctrl+C leaves
	again = time.Second     // and a second Esc goes back
)

// Enter implements [console.Handler].
func (c *chat) Enter(e console.Entry) bool {
	if strings.TrimSpace(e.Text) == "" {
		return false
	}
	if text, moved := c.complete.chosen(e.Text); moved {
		if o, _, is := c.commandOf(text); !is || o.args != "" { // more words follow
			c.console.SetText(closed(text))
			c.Changed(closed(text))
			return false
		}
		e.Text = text
	}
	busy := c.works() != nil
	_, _, own := ownCommand(e)
	if o, _, is := c.commandOf(e.Text); own && busy {
		c.console.Below(c.dim("A command waits until the turn has ended."))
		return false
	} else if is && !e.Pasted(0) {
		switch {
		case o.name == "":
			says := "There is no command " + safetext.Show(strings.Fields(e.Text)[0]) + ". /help lists them."
			if c.plain == nil {
				says += " Ctrl+Y brings the text back."
			}
			c.console.Below(c.dim(says))
			c.console.Kill()
			c.draft.entered(e.Text)
			return false
		case busy:
			c.console.Below(c.dim("A command waits until the turn has ended."))
			return false
		}
	} else if busy && !own {
		if err := c.messages().Add(e.Text); err != nil {
			c.console.Below(c.dim("jp could not keep the message: " + problem.OneLine(err.Error())))
			return false
		}
		c.draft.entered(e.Text)
		c.showQueue()
		return true
	}
	select {
	case c.entries <- e:
		if c.console.Below(); !busy {
			c.history.add(e.Text)
		}
		return true
	default:
		return false
	}
}

// showQueue shows the messages that wait, above the line. It returns those that were shown and
// went to the model since.
func (c *chat) showQueue() (sent []string) {
	var lines, texts []string
	waiting := c.messages().Waiting()
	for _, m := range waiting {
		texts = append(texts, m.Text)
	}
	c.mu.Lock()
	sent = c.shown[:max(0, len(c.shown)-len(texts))]
	c.shown = texts
	c.mu.Unlock()
	for i, m := range waiting {
		if i == 3 {
			lines = append(lines, c.dim(conversation.Count(len(waiting)-3, "message")+" more"))
			break
		}
		lines = append(lines, c.dim("queued: "+safetext.Clean(problem.OneLine(m.Text))))
	}
	c.console.Above(lines...)
	return sent
}

// works is the context of the turn that runs, nil where none does.
func (c *chat) works() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run
}

// Changed implements [console.Handler].
func (c *chat) Changed(text string) {
	c.draft.change(text)
	c.mu.Lock()
	c.armed = time.Time{}
	c.mu.Unlock()
	c.complete.suggest(text)
}

// Stop implements [console.Handler].
func (c *chat) Stop(ctrlC bool) {
	if !ctrlC && c.complete.hide() {
		return
	}
	run := c.works()
	c.mu.Lock()
	armed, escaped := c.armed, c.escaped
	c.escaped = time.Time{}
	if run == nil && ctrlC {
		c.armed = time.Now()
	} else if run == nil && c.console.Text() == "" {
		c.escaped = time.Now()
	}
	c.mu.Unlock()
	switch {
	case run != nil:
		if !c.env.Interrupted(run) && ctrlC {
			c.env.Abort("SIGINT")
		}
	case ctrlC && time.Since(armed) < twice:
		c.Leave()
	case !ctrlC && time.Since(escaped) < again && c.console.Text() == "":
		c.later(taskGoBack)
	case ctrlC:
		c.console.Below(c.dim("Ctrl+C again leaves."))
		time.AfterFunc(twice, c.disarm)
	}
}

// A task is an action of a key that takes the terminal.
type task int

const (
	taskEdit   task = iota // write the line in an editor
	taskGoBack             // go back to before a request
)

// later does a task as the next thing, if no other waits.
func (c *chat) later(t task) {
	select {
	case c.tasks <- t:
	default:
	}
}

// Edit implements [console.Handler].
func (c *chat) Edit() {
	if c.works() != nil {
		c.console.Below(c.dim("The editor waits until the turn has ended."))
		return
	}
	c.later(taskEdit)
}

// Complete implements [console.Handler].
func (c *chat) Complete(e console.Entry, at int) (from int, word string, ok bool) {
	return c.complete.complete(e, at)
}

// Search implements [console.Handler].
func (c *chat) Search(text string) (string, bool) {
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	found, ok := c.history.search(text, func() []string { return searched(context.Background(), c.env, id) })
	if !ok {
		c.console.Below(c.dim("There is no older request with these words."))
	}
	return found, ok
}

// disarm forgets the first Ctrl+C.
func (c *chat) disarm() {
	c.mu.Lock()
	armed := !c.armed.IsZero()
	c.armed = time.Time{}
	c.mu.Unlock()
	if armed {
		c.console.Below()
	}
}

// Leave implements [console.Handler].
func (c *chat) Leave() {
	if run := c.works(); run != nil && c.env.Interrupted(run) {
		return
	}
	c.leave.Do(func() { close(c.left) })
}

// Suspend implements [console.Handler].
func (c *chat) Suspend() {
	c.draft.flush()
	go c.env.Suspend() // the goroutine that reads keys ends meanwhile
}

// Mode implements [console.Handler]. It goes from mode to mode.
func (c *chat) Mode() {
	from := c.settings.cycle()
	c.showBottom()
	if c.works() != nil { // the prompt may be away
		c.console.Below(c.dim("Mode of " + from + ": " + c.settings.modeName()))
	}
}

// History implements [console.Handler]. It goes through the words below the line, if there are any. While a turn runs, the
// newest queued message comes back first.
func (c *chat) History(back bool, text string) (string, bool) {
	if c.complete.move(back, text) {
		return "", false
	}
	if back && text == "" && c.works() != nil {
		if last := c.messages().Last(); last != "" {
			c.showQueue()
			return last, true
		}
	}
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	return c.history.step(back, text, func(before int) ([]string, int) {
		return requests(context.Background(), c.env, id, before)
	})
}
