package agent

import (
	"maps"

	"jp/agent/toolset"
	"jp/hooks"
	"jp/turnloop"
)

// openHooks prepares the commands of the configuration; nil where it has none.
func (q *query) openHooks() turnloop.Hooks {
	commands := map[hooks.Point][]string{}
	for point, argv := range q.repo.Config.Hooks {
		commands[hooks.Point(point)] = argv
	}
	if len(commands) == 0 {
		return nil
	}
	engine := hooks.New(commands, hooks.Options{
		Dir: q.repo.Place(), Environ: q.env.Environ, Secret: q.keyVariables(),
		Limit: q.repo.Config.Limits.HookTimeout,
	})
	return toolset.TurnHooks{Engine: engine, ID: q.known(), Recorded: !q.opts.NoPersist}
}

// keyVariables are the variables that the configuration takes keys from.
func (q *query) keyVariables() []string {
	var names []string
	for p := range maps.Values(q.repo.Config.Providers) {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	return names
}
