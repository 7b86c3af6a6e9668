package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/catalog"
)

// An offer is the list of one provider's models.
type offer struct {
	Provider  string   `json:"provider"`
	Endpoint  string   `json:"endpoint"`
	Reachable bool     `json:"reachable"`
	Why       string   `json:"why"` // it is not reachable
	Models    []string `json:"models"`
	err       error
}

// Offers asks the providers, all at once.
func (r Providers) Offers(ctx context.Context, e *repo.Host, names []string) []offer {
	offers := make([]offer, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { offers[i] = r.list(ctx, e, name) })
	}
	asked.Wait()
	return offers
}

// listTime is how long a provider may take to list its models.
const listTime = 15 * time.Second

func (r Providers) list(ctx context.Context, e *repo.Host, name string) offer {
	o := offer{Provider: name, Models: []string{}}
	if name == Scripted {
		o.Reachable, o.Models = true, append(o.Models, "demo")
		return o
	}
	v, err := r.Vendor(name)
	if err == nil {
		o.Endpoint = v.Address()
		var found []string
		if found, err = r.modelsOf(ctx, e, v); err == nil {
			o.Reachable, o.Models = true, append(o.Models, found...)
		}
	}
	if o.err = err; err != nil {
		o.Why = r.unreachable(e, v, err)
	}
	return o
}

func (r Providers) modelsOf(ctx context.Context, e *repo.Host, v catalog.Vendor) ([]string, error) {
	p, err := r.open(ctx, e, v, catalog.Options{})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names, err := p.Models(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &provider.Error{Class: provider.ClassTimeout, Provider: v.Name, Message: "it lists no models within " + conversation.Ago(listTime)}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return plainModel(name) == "" })
	slices.Sort(names)
	return names, err
}

// plainModel is a model's name, "" if no user could give it to -m.
func plainModel(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return ""
	}
	return name
}

// unreachable is in a few words the reason why a provider cannot be asked.
func (r Providers) unreachable(e *repo.Host, v catalog.Vendor, err error) string {
	var f *problem.Error
	var refused *provider.Error
	switch {
	case errors.As(err, &f) && f.Code == "auth" && !r.hasKey(e, v):
		return Unset(v)
	case errors.As(err, &f):
		return f.Message
	case errors.As(err, &refused) && refused.Class == provider.ClassDisconnect:
		return "nothing answers at " + v.Address()
	}
	return err.Error()
}

// Failure is the error of a provider that does not answer.
func (o offer) Failure() error {
	var f *problem.Error
	if errors.As(o.err, &f) {
		return f
	}
	failed := problem.New(problem.ExitProvider, "provider", "%s lists no models: %s.", o.Provider, o.Why)
	var refused *provider.Error
	if errors.As(o.err, &refused) && refused.Class == provider.ClassAuth {
		failed.Code = "auth"
	}
	return failed
}

// Names are the providers that jp asks without being told to: the usual ones, those of the configuration, and of the others those
// with a key in a variable of their own.
func (r Providers) Names(e *repo.Host) []string {
	all := catalog.Names(r.repo.Config.Providers)
	taken := map[string]bool{}
	for _, name := range all {
		if v, err := r.repo.Found(name); err == nil {
			for _, variable := range v.KeyEnv {
				taken[variable] = true
			}
		}
	}
	for _, v := range catalog.More() {
		variable := v.KeyEnv[0]
		if slices.Contains(all, v.Name) || taken[variable] || !r.hasKey(e, v) {
			continue
		}
		if _, err := r.repo.Found(v.Name); err == nil {
			all, taken[variable] = append(all, v.Name), true
		}
	}
	return all
}

// ProviderNames are the providers of which a model can be asked, as far as jp knows.
func (r Providers) ProviderNames(e *repo.Host) []string { return append(r.Names(e), Scripted) }

// mostOthers is how many columns the list of the other providers may take.
const mostOthers = 100

// About completes the list of models: models of unknown context, the other providers, and the age of the
// table.
func (r Providers) About(e *repo.Host, offers []offer) [][2]string {
	var unknown []string
	t := r.Table()
	for _, o := range offers {
		for _, model := range o.Models {
			full := o.Provider + "/" + model
			if o.Provider != Scripted && r.repo.Config.Models[full].Context == 0 && r.factsIn(t, full).Window == 0 {
				unknown = append(unknown, full)
			}
		}
	}
	var lines [][2]string
	if n := len(unknown); n > 0 {
		lines = append(lines, [2]string{"context", fmt.Sprintf("unknown of %s, such as %s: jp compacts when the provider refuses; %s sets it",
			conversation.Count(n, "model"), safetext.Show(unknown[0]), config.DottedKey("models", unknown[0], "context"))})
	}
	named := r.ProviderNames(e)
	text := ""
	for _, v := range catalog.More() {
		if slices.Contains(named, v.Name) {
			continue
		}
		if len(text)+len(v.Name) > mostOthers {
			lines, text = append(lines, [2]string{"others", text + ","}), ""
		}
		text = strings.TrimPrefix(text+", "+v.Name, ", ")
	}
	lines = append(lines, [2]string{"others", text + ": " + action.ModelsOf("NAME").String() + " says which key one wants"})
	return append(lines, [2]string{"table", AboutTable(t)})
}

// AboutTable has the age and the source of a table.
func AboutTable(t catalog.Table) string {
	return fmt.Sprintf("prices and limits of %s, from %s", t.Date().Format(time.DateOnly), safetext.Show(t.Source()))
}

// ShownName is a name as it can stand in a command line that jp prints.
func ShownName(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" && name != "" {
		return name
	}
	return "NAME"
}
