package agent

import (
	"slices"

	"jp/config"
)

// The profiles in use are settings like all others: [repo.Repo.Configure] reads them into the configuration, with
// their security keys for this process only. What of them lasts is recorded by [equipped.delta]. Here is what
// no key of the configuration can say.

// profileModel is the model that a profile of the command line names, "" for none.
func (l *loaded) profileModel() string {
	if len(l.opts.Profiles) > 0 && l.repo.Report.Origins["model"].Layer == config.LayerProfile {
		return l.repo.Config.Model
	}
	return ""
}

// onlyReads reports whether the turn has only tools that change nothing.
func (l *loaded) onlyReads() bool { return slices.Contains(l.repo.Report.Profiles, config.ProfilePlan) }

// profileTools reports whether a profile of the command line changes which tools there are.
func (l *loaded) profileTools() bool {
	return l.repo.Report.Lasting["tools"] != nil || slices.Contains(l.opts.Profiles, config.ProfilePlan)
}
