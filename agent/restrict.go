package agent

import (
	"slices"

	"jp/config"
	"jp/turnloop"
)

// restriction is what the user allows less by now than the turn began with.
func (l *history) restriction() turnloop.Restriction {
	r := turnloop.Restriction{ReadsOnly: slices.Contains(l.run.repo.Report.Profiles, config.ProfilePlan)}
	if c := l.run.opts.Turn.Modes; c != nil {
		r.ReadsOnly, r.Asks = r.ReadsOnly || c.reads.Load(), c.asks.Load()
	}
	return r
}
