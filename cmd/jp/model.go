package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/provider/catalog"
	"jp/provider/script"
)

// The providers of models that are none: files, and conversations.
const (
	scripted = "script"
	replayed = "replay"
)

// chooseModel is the model to ask: the flag's, the conversation's, the
// configured one, the first that can be asked.
func (q *query) chooseModel(ctx context.Context) (string, error) {
	for _, name := range []string{q.opts.model, q.stream.Model(), q.leftModel, q.repo.config.Model} {
		if name != "" {
			return q.fullName(ctx, q.repo.config.ResolveModel(name)), nil
		}
	}
	return q.repo.providers().usualModel(ctx, q.env)
}

// fullName names a conversation that is said again by its whole id: any other name of it
// may be another one's tomorrow.
func (q *query) fullName(ctx context.Context, model string) string {
	if vendor, word, ok := cutModel(model); ok && vendor == replayed {
		if id, err := q.repo.find().resolve(ctx, q.env, word); err == nil {
			return replayed + "/" + string(id)
		}
	}
	return model // opening it says what is wrong
}

// openModel opens the provider of a model, "provider/name".
func openModel(ctx context.Context, e *host, r *repo, model string) (*catalog.Provider, error) {
	vendor, name, ok := cutModel(model)
	if !ok {
		f := usage("%q is not a model: models are named PROVIDER/NAME, or by an alias of the configuration.", model)
		return nil, f.hint("jp models", "lists what can be asked")
	}
	switch vendor {
	case scripted:
		return openScript(e, name)
	case replayed:
		return openReplay(ctx, e, r, name)
	}
	v, err := r.providers().vendor(vendor)
	if err != nil {
		return nil, err
	}
	key, err := r.providers().key(ctx, e, v)
	if err != nil {
		return nil, err
	}
	client, err := r.providers().client(e, vendor)
	if err != nil {
		return nil, err
	}
	price, err := r.providers().price(model)
	if err != nil {
		return nil, err
	}
	parameters := r.config.Parameters
	return v.Open(key, catalog.Options{
		Client:    client,
		MaxTokens: int(parameters.MaxTokens), Reasoning: parameters.Reasoning, Price: price,
		Silence: limitOf(r.config.Limits.ModelSilence), Stall: limitOf(r.config.Limits.ModelStall),
	}), nil
}

// cutModel parts a model's name into its provider and the provider's name for it.
func cutModel(model string) (vendor, name string, ok bool) {
	vendor, name, _ = strings.Cut(model, "/")
	return vendor, name, vendor != "" && name != ""
}

// limitOf is a limit of time as providers take it, negative for none.
func limitOf(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return -1
}

// openScript opens a file of replies.
func openScript(e *host, name string) (*catalog.Provider, error) {
	if name == "demo" {
		return &catalog.Provider{Provider: script.Demo(), API: scripted}, nil
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.dir, path)
	}
	p, err := script.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A script that lies in a folder called script is easily named by its path.
		missing := fail(exitUsage, "config", "%v", err)
		if beside := filepath.Join(e.dir, scripted, name); isFile(beside) {
			missing = missing.hint("jp query -m "+safetext.Escape("script/script/"+name)+` "…"`, "the file after the provider's name: script/"+name)
		}
		return nil, missing
	}
	if err != nil {
		return nil, fail(exitUsage, "config", "%v", err)
	}
	return &catalog.Provider{Provider: p, API: scripted}, nil
}

// openReplay opens what the models of a conversation said. One that somebody else wrote
// would say what to run here.
func openReplay(ctx context.Context, e *host, r *repo, word string) (*catalog.Provider, error) {
	v, err := r.find().view(ctx, e, word)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(v.events, func(e *conversation.Event) bool { return !e.Signed }) {
		return nil, fail(exitDecision, "untrusted", "%s was written by someone else, at least in part; what its model said is not done again here.", v.name()).about(v.id).
			hint("jp print "+v.name(), "read it")
	}
	return &catalog.Provider{Provider: script.Replay(replayed+"/"+string(v.id), v.events), API: scripted}, v.damage(nil)
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

// demoRequest is what the demo asks, in the files that demoFiles gives.
const demoRequest = script.DemoRequest

var demoFiles = script.DemoFiles
