package agent

import (
	"jp/config"
	"jp/turnloop"
)

// restriction is the change by which the user now allows less than at the start of the turn.
func (l *history) restriction() turnloop.Restriction {
	began := l.run.repo.Report.Profiles
	mode, less := l.run.opts.Turn.Modes.now(began)
	first, _ := (*ModeChange)(nil).now(began)
	return turnloop.Restriction{None: l.run.opts.Turn.Beside, ReadsOnly: mode == config.ProfilePlan, Asks: less && mode == "" && first != "", Less: less}
}
