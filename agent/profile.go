package agent

import (
	"context"
	"encoding/json"
	"slices"

	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/tool"
	"jp/tool/work"
)

// The profiles in use are settings like all others: [repo.Repo.Configure] reads them into the configuration,
// with their security keys for this process only. [turn.delta] records their lasting part. This file has the
// parts that have no key in the configuration.

// profileModel is the model that a profile of the command line names, or "".
func (l *history) profileModel() string {
	if len(l.run.opts.Turn.Profiles) > 0 && l.run.repo.Report.Origins["model"].Layer == config.LayerProfile {
		return l.run.repo.Config.Model
	}
	return ""
}

// profileTools reports whether a profile of the command line changes which tools there are.
func (l *history) profileTools() bool {
	return l.run.repo.Report.Lasting["tools"] != nil
}

// unasked lets tools run without a question according to the mode: in edits those that change files which jp
// can bring back, in auto all that change files, and programs of the sandbox without network. For all tools
// but commands, so do the user's rules. Tools that the user has switched off stay off, and exclusive ones
// still need a person.
func (e *turn) unasked(registry *tool.Registry) (*tool.Registry, error) {
	walls := toolset.SandboxOf(e.run.repo, e.run.env)
	all := registry.All()
	for i, t := range all {
		def := t.Definition()
		file := slices.Contains(fileTools, def.Name)
		program := (def.Argv || len(def.Command) > 0) && def.Destination == "" && !def.Exclusive && walls.Offline()
		if def.Run != tool.Ask || def.Rule != nil || !file && !program && def.Name != work.DelegateName && def.Approval == "" {
			continue
		}
		all[i] = toolset.Ruled(t, func(arguments json.RawMessage, _ []*conversation.Event) string {
			switch mode, _ := e.run.opts.Turn.Modes.now(e.run.repo.Report.Profiles); mode {
			case config.ProfileAuto:
				if file || program {
					return "mode " + config.ProfileAuto
				}
			case config.ProfileEdits:
				if !file {
					break
				}
				if paths, ok := def.Paths(arguments); ok && e.res.files != nil && e.res.files.Restorable(context.Background(), paths) {
					return "profile " + config.ProfileEdits
				}
			}
			return e.rules.covering(e.res.files, def, arguments)
		})
	}
	return tool.NewRegistry(all...)
}
