package models

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/internal/safefile"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/provider/catalog"
	"jp/provider/script"
	"jp/usage"
)

// The providers of models without a vendor: files, and conversations.
const (
	Scripted = "script"
	Replayed = "replay"
)

// OpenModel opens the provider of a model, "provider/name".
func OpenModel(ctx context.Context, e *repo.Host, r *repo.Repo, model string) (*catalog.Provider, error) {
	p, err := openModel(ctx, e, r, model)
	if err != nil {
		return nil, err
	}
	if known := ContextOf(r, model); known > 0 {
		p.Context = known
	}
	p.Provider = &usage.Meter{Provider: p.Provider, Price: p.Price, Ledger: usage.OpenLedger(r.Paths.StateDir, e.Now), Day: r.Config.Limits.CostUSDDay}
	return p, NeedsPrice(r, model)
}

// NeedsPrice fails for a model of unknown price if the configuration limits the cost of calls.
func NeedsPrice(r *repo.Repo, model string) error {
	key := usage.TurnKey
	if limits := r.Config.Limits; limits.CostUSD <= 0 {
		if key = usage.DayKey; limits.CostUSDDay <= 0 {
			return nil
		}
	}
	price, err := ProvidersOf(r).price(model)
	if err != nil || price.Known() {
		return err
	}
	if vendor, _, _ := CutModel(model); vendor != Scripted && vendor != Replayed {
		if v, err := r.Found(vendor); err == nil && v.StatesCost() {
			return nil
		}
	}
	return problem.New(problem.ExitUsage, "config", "%s limits what model calls may cost, and jp does not know the price of %s.", key, safetext.Show(model)).
		Hint(action.SetPrice(config.DottedKey("prices", model)), "its price, in US dollars for a million tokens in and out")
}

// ContextOf is how many tokens a model can read, by the configuration or as jp knows it; 0: unknown.
func ContextOf(r *repo.Repo, model string) int {
	if said := r.Config.Models[model].Context; said > 0 {
		return int(said)
	}
	return ProvidersOf(r).facts(model).Window
}

func openModel(ctx context.Context, e *repo.Host, r *repo.Repo, model string) (*catalog.Provider, error) {
	vendor, name, ok := CutModel(model)
	if !ok {
		f := problem.Usage("%q is not a model: models are named PROVIDER/NAME, or by an alias of the configuration.", model)
		return nil, f.Hint(action.Models, "lists what can be asked")
	}
	price, err := ProvidersOf(r).price(model)
	if err != nil {
		return nil, err
	}
	switch vendor {
	case Scripted, Replayed:
		open := func() (*catalog.Provider, error) { return openScript(e, name) }
		if vendor == Replayed {
			open = func() (*catalog.Provider, error) { return openReplay(ctx, e, r, name) }
		}
		p, err := open()
		if p != nil {
			p.Provider, p.Price = catalog.WithPrice(p.Provider, price), price
		}
		return p, err
	}
	v, err := ProvidersOf(r).Vendor(vendor)
	if err != nil {
		return nil, err
	}
	parameters := r.Config.Parameters
	return ProvidersOf(r).open(ctx, e, v, catalog.Options{
		MaxTokens: int(parameters.MaxTokens), Reasoning: parameters.Reasoning, Price: price, Facts: ProvidersOf(r).facts(model),
		CacheLife: r.Config.Cache.Life,
		Silence:   limitOf(r.Config.Limits.ModelSilence), Stall: limitOf(r.Config.Limits.ModelStall),
	})
}

// CutModel parts a model's name into its provider and the provider's name for it.
func CutModel(model string) (vendor, name string, ok bool) {
	vendor, name, _ = strings.Cut(model, "/")
	return vendor, name, vendor != "" && name != ""
}

// limitOf is a limit of time as providers take it, negative for an endless one.
func limitOf(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return -1
}

func openScript(e *repo.Host, name string) (*catalog.Provider, error) {
	if name == "demo" {
		return &catalog.Provider{Provider: script.Demo(), API: Scripted}, nil
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Dir, path)
	}
	p, err := script.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A script that lies in a folder called script is easily named by its path.
		missing := problem.New(problem.ExitUsage, "config", "%v", err)
		if beside := filepath.Join(e.Dir, Scripted, name); safefile.IsRegular(beside) {
			missing = missing.Hint(action.AskScript("script/script/"+name), "the file after the provider's name: script/"+name)
		}
		return nil, missing.Hint(action.AskDemo, "the script that jp has")
	}
	if err != nil {
		return nil, problem.New(problem.ExitUsage, "config", "%v", err)
	}
	return &catalog.Provider{Provider: p, API: Scripted, Context: p.Context()}, nil
}

// openReplay opens the answers of a conversation's models. Another user's conversation would decide about the
// programs that run here.
func openReplay(ctx context.Context, e *repo.Host, r *repo.Repo, word string) (*catalog.Provider, error) {
	v, err := r.Find().View(ctx, e, word)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(v.Events, func(e *conversation.Event) bool { return !e.Signed }) {
		return nil, problem.New(problem.ExitDecision, "untrusted", "%s was written by someone else, at least in part; what its model said is not done again here.", v.Name()).About(v.ID).
			Hint(action.Print(v.Name()), "read it")
	}
	return &catalog.Provider{Provider: script.Replay(Replayed+"/"+string(v.ID), v.Events), API: Scripted}, v.Damage(nil)
}

// DemoRequest is the demo's question, in the files that demoFiles gives.
const DemoRequest = script.DemoRequest

var DemoFiles = script.DemoFiles
