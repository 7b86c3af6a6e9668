package chat

import (
	"context"
	"strings"
	"time"
)

// twice is how soon a second Ctrl+C leaves.
const twice = 2 * time.Second

// Enter implements [console.Handler].
func (c *chat) Enter(text string) bool {
	if strings.TrimSpace(text) == "" {
		return false
	}
	c.mu.Lock()
	busy := c.run != nil
	c.mu.Unlock()
	if busy {
		return false
	}
	select {
	case c.texts <- text:
		c.history.add(text)
		return true
	default:
		return false
	}
}

// Changed implements [console.Handler].
func (c *chat) Changed(text string) {
	c.draft.change(text)
	c.disarm()
}

// Stop implements [console.Handler].
func (c *chat) Stop(ctrlC bool) {
	c.mu.Lock()
	run, armed := c.run, c.armed
	if run == nil && ctrlC {
		c.armed = time.Now()
	}
	c.mu.Unlock()
	switch {
	case run != nil:
		if !c.env.Interrupted(run) && ctrlC {
			c.env.Abort("SIGINT")
		}
	case ctrlC && time.Since(armed) < twice:
		c.Leave()
	case ctrlC:
		c.console.Below("Ctrl+C again leaves.")
		time.AfterFunc(twice, c.disarm)
	}
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
	c.mu.Lock()
	run := c.run
	c.mu.Unlock()
	if run != nil && c.env.Interrupted(run) {
		return
	}
	c.leave.Do(func() { close(c.left) })
}

// Suspend implements [console.Handler].
func (c *chat) Suspend() {
	c.draft.flush()
	go c.env.Suspend() // the goroutine that reads keys ends meanwhile
}

// History implements [console.Handler].
func (c *chat) History(back bool, text string) (string, bool) {
	return c.history.step(back, text, func() []string {
		return c.requests(context.Background())
	})
}
