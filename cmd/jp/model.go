package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"jp/provider"
	"jp/provider/script"
)

// chooseModel is the model to ask: the flag's, the conversation's, the
// configured one.
func (q *query) chooseModel() string {
	for _, name := range []string{q.opts.model, q.stream.Model(), q.repo.config.Model} {
		if name != "" {
			return q.repo.config.ResolveModel(name)
		}
	}
	return ""
}

// openModel opens the provider of a model, "provider/name".
func openModel(e *env, r *repo, model string) (provider.Provider, error) {
	if model == "" {
		return nil, usage("no model to ask: none is configured.").
			hint(`jp query -m script/demo "…"`, "a scripted model: shows jp without any key").
			hint(`jp query -m script/FILE.toml "…"`, "your own script")
	}
	vendor, name, ok := strings.Cut(model, "/")
	if !ok || name == "" {
		return nil, usage("%q is not a model: models are named PROVIDER/NAME, or by an alias of the configuration.", model)
	}
	if vendor != "script" {
		return nil, usage("there is no provider %q.", vendor).
			hint(`jp query -m script/demo "…"`, "a scripted model: shows jp without any key")
	}
	if name == "demo" {
		return script.Demo(), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(e.dir, name)
	}
	p, err := script.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		// A script that lies in a folder called script is easily named by its path.
		missing := fail(exitUsage, "config", "%v", err)
		if beside := filepath.Join(e.dir, model); isFile(beside) {
			missing = missing.hint("jp query -m script/"+model+` "…"`, "the file after the provider's name: "+model)
		}
		return nil, missing
	}
	if err != nil {
		return nil, fail(exitUsage, "config", "%v", err)
	}
	return p, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// version is jp's own version.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}
