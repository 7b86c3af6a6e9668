package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"jp/config"
	"jp/provider/catalog"
)

// wrongSetting is the failure of whoever cannot work with a setting.
func wrongSetting(mistake *config.Error) *failure {
	return fail(exitUsage, "config", "%v.", mistake)
}

// examine gives all that is wrong with the settings of the files, with this content
// for one of them: what holds for one process only mends nothing. A workspace's own
// is judged as it will be when it is approved.
func (r *repo) examine(e *host, layer config.Layer, content []byte) []*config.Error {
	judged := *r
	var wrong []*config.Error
	judged.config, judged.report, wrong = config.Examine(config.Options{
		UserFile: r.paths.UserFile, Workspace: r.TopLevel, Drafts: map[config.Layer][]byte{layer: content},
		Trusted: func(hash string) bool { return layer == config.LayerWorkspace || r.approvals().Trusted(hash) },
	})
	return slices.Concat(wrong, judged.mistakes(e), judged.idle())
}

// mistakes are the settings that turns, or some of them, cannot work with, beside
// those that [config.Load] refuses.
func (r *repo) mistakes(e *host) (wrong []*config.Error) {
	judged := *r
	if judged.TopLevel == "" { // the user's tools are judged without a working tree, too
		judged.TopLevel, _ = filepath.Abs(e.dir)
	}
	_, wrong, err := (&query{repo: &judged, env: e}).judgedTools()
	if err != nil {
		e.note("The tools cannot be judged: %v.", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.config.Providers)) {
		_, err := r.found(name)
		if err != nil && !errors.Is(err, catalog.ErrUnknown) { // its address may come later
			wrong = append(wrong, r.wrongProvider(name, err))
		}
	}
	for _, model := range slices.Sorted(maps.Keys(r.config.Prices)) {
		if _, err := catalog.ParsePrice(r.config.Prices[model]); err != nil {
			wrong = append(wrong, r.wrongPrice(model, err))
		}
	}
	if model := r.config.ResolveModel(r.config.Model); model != "" {
		wrong = append(wrong, r.wrongModel("model", model, "is neither PROVIDER/NAME nor an alias")...)
	}
	for _, alias := range slices.Sorted(maps.Keys(r.config.Aliases)) {
		wrong = append(wrong, r.wrongModel(config.DottedKey("aliases", alias), r.config.Aliases[alias], "is not PROVIDER/NAME")...)
	}
	return wrong
}

// idle are settings that are read, and of no effect whatever runs.
func (r *repo) idle() (wrong []*config.Error) {
	for _, place := range r.config.Sandbox.Write {
		if filepath.IsLocal(place) && !strings.HasPrefix(place, "~/") || place == "" {
			text := fmt.Sprintf("sandbox.write: %q does not begin with / or ~/, and in the working tree programs may write anyway", place)
			wrong = append(wrong, config.Mistake(r.report.Origins["sandbox.write"], "sandbox.write", text))
		}
	}
	return wrong
}

// wrongModel says what is wrong with a setting that names a model; noName is what to
// say of one that is no name of a model.
func (r *repo) wrongModel(key, model, noName string) []*config.Error {
	vendor, _, ok := cutModel(model)
	text := fmt.Sprintf("%s: %q %s", key, model, noName)
	if ok {
		if _, err := r.found(vendor); vendor == scripted || !errors.Is(err, catalog.ErrUnknown) {
			return nil
		}
		text = fmt.Sprintf("%s: there is no provider %q", key, vendor)
	}
	return []*config.Error{config.Mistake(r.report.Origins[key], key, text)}
}

// wrongProvider says what is wrong with the settings of a provider.
func (r *repo) wrongProvider(name string, err error) *config.Error {
	key := config.DottedKey("providers", name, "dialect")
	var setting *catalog.SettingError
	if errors.As(err, &setting) {
		path := append([]string{"providers", name}, strings.SplitN(setting.Key, ".", 2)...)
		key = config.DottedKey(path...)
		return config.Mistake(r.report.Origins[key], key, key+": "+setting.Why)
	}
	return config.Mistake(r.report.Origins[key], key, err.Error())
}

// wrongPrice says what is wrong with the price of a model.
func (r *repo) wrongPrice(model string, err error) *config.Error {
	key := config.DottedKey("prices", model)
	return config.Mistake(r.report.Origins[key], key, key+": "+err.Error())
}

// notSet says why a key was not set, and what has to be set first.
func notSet(key string, mistake *config.Error, workspace bool) *failure {
	f := fail(exitUsage, "config", "%s was not set: %s.", key, mistake.Text)
	set := "jp config set "
	if workspace {
		set += "--workspace "
	}
	table, name, _ := strings.Cut(mistake.Key, ".")
	switch {
	case strings.Contains(name, "."):
	case table == "mcp":
		f.hint(set+mistake.Key+`.command '["PROGRAM", "ARGUMENT"]'`, "first: what starts the server")
	case table == "tools":
		f.hint(set+mistake.Key+`.command '["PROGRAM", "ARGUMENT"]'`, "first: makes a tool of a program")
	case mistake.Key == "model" && key == "model":
		f.hint("jp models", "lists what can be asked").hint(set+"aliases.NAME PROVIDER/NAME", "first, where it is to be an alias").
			hint(set+"providers.NAME.base_url URL", "first, for a server that speaks OpenAI's protocol")
	case table == "aliases":
		f.hint("jp models", "lists what can be asked").hint(set+"providers.NAME.base_url URL", "first, for a server that speaks OpenAI's protocol")
	}
	return f
}
