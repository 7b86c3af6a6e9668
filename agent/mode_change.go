package agent

import (
	"sync/atomic"

	"jp/config"
)

// A ModeChange is what a front end tells a running turn of modes that the user chooses meanwhile. The zero
// value is ready for use.
type ModeChange struct{ reads, asks atomic.Bool }

// ModeAuto is the mode in which every tool runs without a question.
const ModeAuto = "auto"

// Choose says that the user chooses a mode, while a turn runs that began in another one; "" is none. It
// reports whether that holds for the calls of this turn that have not begun: if the mode allows less. One that allows more
// holds for the next turn.
func (c *ModeChange) Choose(began, now string) (atOnce bool) {
	switch {
	case now == config.ProfilePlan:
		c.reads.Store(true)
		return true
	case now == began || began == config.ProfilePlan || c.reads.Load():
		return false
	case now == "" || now == config.ProfileEdits && began == ModeAuto:
		c.asks.Store(true)
		return true
	}
	return false
}
