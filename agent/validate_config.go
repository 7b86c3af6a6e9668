package agent

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/internal/action"
	"jp/provider/catalog"
)

// Examine gives all mistakes in the settings of the files, with this content for one of them. Overrides of
// one process count for none. A workspace's own file is judged as if it were approved.
func Examine(r *repo.Repo, e *repo.Host, layer config.Layer, content []byte) []*config.Error {
	judged := *r
	var wrong []*config.Error
	judged.Config, judged.Report, wrong = config.Examine(config.Options{
		UserFile: r.Paths.UserFile, OwnFile: r.Standings().OwnFile(), Workspace: r.At.TopLevel, Drafts: map[config.Layer][]byte{layer: content},
		Trusted: func(hash string) bool { return layer == config.LayerWorkspace || r.Approvals().Trusted(hash) },
	})
	return slices.Concat(wrong, Mistakes(&judged, e), IdleSettings(&judged))
}

// Mistakes are the settings that some or all turns cannot work with, besides those that [config.Load]
// refuses.
func Mistakes(r *repo.Repo, e *repo.Host) (wrong []*config.Error) {
	judged := *r
	if judged.At.TopLevel == "" { // the user's tools are judged without a working tree, too
		judged.At.TopLevel, _ = filepath.Abs(e.Dir)
	}
	_, wrong, err := judgedTools(&judged, e, nil, nil, nil)
	if err != nil {
		e.Note("The tools cannot be judged: %v.", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Providers)) {
		_, err := r.Found(name)
		if err != nil && !errors.Is(err, catalog.ErrUnknown) { // its address may come later
			wrong = append(wrong, r.WrongProvider(name, err))
		}
	}
	for _, model := range slices.Sorted(maps.Keys(r.Config.Prices)) {
		if _, err := catalog.ParsePrice(r.Config.Prices[model]); err != nil {
			wrong = append(wrong, r.WrongPrice(model, err))
		}
	}
	if model := r.Config.ResolveModel(r.Config.Model); model != "" {
		wrong = append(wrong, wrongModel(r, "model", model, "is invalid: want PROVIDER/NAME or an alias")...)
	}
	for _, name := range r.Config.ModelFallback {
		wrong = append(wrong, wrongModel(r, "model_fallback", r.Config.ResolveModel(name), "is invalid: want PROVIDER/NAME or an alias")...)
	}
	for _, alias := range slices.Sorted(maps.Keys(r.Config.Aliases)) {
		wrong = append(wrong, wrongModel(r, config.DottedKey("aliases", alias), r.Config.Aliases[alias], "is not PROVIDER/NAME")...)
	}
	return wrong
}

// IdleSettings are settings that are read, but never have an effect.
func IdleSettings(r *repo.Repo) (wrong []*config.Error) {
	for _, place := range r.Config.Sandbox.Write {
		if filepath.IsLocal(place) && !strings.HasPrefix(place, "~/") || place == "" {
			text := fmt.Sprintf("sandbox.write: %q does not begin with / or ~/, and in the working tree programs may write anyway", place)
			wrong = append(wrong, config.Mistake(r.Report.Origins["sandbox.write"], "sandbox.write", text))
		}
	}
	return wrong
}

// wrongModel is the mistake in a setting that names a model. noName describes a value that is no name of a
// model.
func wrongModel(r *repo.Repo, key, model, noName string) []*config.Error {
	vendor, _, ok := models.CutModel(model)
	text := fmt.Sprintf("%s: %q %s", key, model, noName)
	if ok {
		if _, err := r.Found(vendor); vendor == models.Scripted || !errors.Is(err, catalog.ErrUnknown) {
			return nil
		}
		text = fmt.Sprintf("%s: there is no provider %q", key, vendor)
	}
	return []*config.Error{config.Mistake(r.Report.Origins[key], key, text)}
}

// NotSet is the error of a key that was left unset, with the setting that must come first.
func NotSet(key string, mistake *config.Error, workspace bool) *problem.Error {
	f := problem.New(problem.ExitUsage, "config", "%s was not set: %s.", key, mistake.Text)
	var options []string
	if workspace {
		options = []string{"--workspace"}
	}
	table, name, _ := strings.Cut(mistake.Key, ".")
	switch {
	case strings.Contains(name, "."):
	case table == "mcp":
		f.Hint(action.SetCommand(append(options, mistake.Key)...), "first: what starts the server")
	case table == "tools":
		f.Hint(action.SetCommand(append(options, mistake.Key)...), "first: makes a tool of a program")
	case mistake.Key == "model" && key == "model":
		f.Hint(action.Models, "lists what can be asked").Hint(action.SetAlias(options...), "first, where it is to be an alias").
			Hint(action.SetProvider(options...), "first, for a server that speaks OpenAI's protocol")
	case table == "aliases":
		f.Hint(action.Models, "lists what can be asked").Hint(action.SetProvider(options...), "first, for a server that speaks OpenAI's protocol")
	}
	return f
}
