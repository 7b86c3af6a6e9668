package agent

import (
	"slices"
	"strings"
	"sync"

	"jp/config"
)

// A ModeChange tells a running turn of modes that the user chooses meanwhile. The zero value is ready for
// use.
type ModeChange struct {
	mu     sync.Mutex
	chosen bool
	mode   string
	less   bool // a mode that was chosen allowed less than the one before
}

// modes are jp's own modes, and "" for none, from the strictest on.
var modes = []string{config.ProfilePlan, "", config.ProfileEdits, config.ProfileAuto}

// Choose sets a mode, "" for none, while a turn runs that began in another one. It reports whether the mode
// holds at once, for the calls of this turn that have yet to begin: it does if it allows less. One that
// allows more holds from the next question of this turn on. A turn that began in plan stays in it.
func (c *ModeChange) Choose(began, now string) (atOnce bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := began
	if c.chosen {
		before = c.mode
	}
	atOnce = slices.Index(modes, now) < slices.Index(modes, before)
	c.chosen, c.mode, c.less = true, now, c.less || atOnce
	return atOnce
}

// now is the mode in force, in a turn that began with these profiles; less says that it allows less than one before.
func (c *ModeChange) now(profiles []string) (mode string, less bool) {
	for _, mode = range []string{config.ProfilePlan, config.ProfileEdits, config.ProfileAuto, ""} {
		if slices.Contains(profiles, mode) {
			break
		}
	}
	if c == nil || mode == config.ProfilePlan {
		return mode, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.chosen {
		return mode, false
	}
	return c.mode, c.less
}

// AcceptsPlan reports whether the user accepts a plan with these words, so that the plan mode ends.
func AcceptsPlan(words string) bool { return strings.EqualFold(strings.Trim(words, " \n.!"), "go on") }
