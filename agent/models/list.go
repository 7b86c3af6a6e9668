package models

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
)

// An offer is what one provider has.
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

// list asks one provider for its models.
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

// plainModel is a model's name, "" for one that no user could give to -m.
func plainModel(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return ""
	}
	return name
}

// unreachable says in a few words what a provider lacks.
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

// Failure is why the provider does not answer.
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

// ProviderNames are the providers that there are.
func (r Providers) ProviderNames() []string {
	return append(catalog.Names(r.Config.Providers), Scripted)
}
