package agent

import (
	"maps"

	"jp/agent/toolset"
	"jp/hooks"
	"jp/turnloop"
)

// openHooks prepares the commands of the configuration, nil without any.
func (t *target) openHooks() turnloop.Hooks {
	commands := map[hooks.Point][]string{}
	for point, argv := range t.run.repo.Config.Hooks {
		commands[hooks.Point(point)] = argv
	}
	if len(commands) == 0 {
		return nil
	}
	var secret []string // variables that the configuration takes keys from
	for p := range maps.Values(t.run.repo.Config.Providers) {
		if p.APIKeyEnv != "" {
			secret = append(secret, p.APIKeyEnv)
		}
	}
	engine := hooks.New(commands, hooks.Options{
		Dir: t.run.repo.Place(), Environ: t.run.env.Environ, Secret: secret,
		Limit: t.run.repo.Config.Limits.HookTimeout,
	})
	return toolset.TurnHooks{Engine: engine, ID: t.known(), Recorded: !t.run.opts.NoPersist}
}
