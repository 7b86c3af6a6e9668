package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/catalog"
)

const modelsHelp = `List the models that can be asked, as -m takes them: those of every provider that
has a key, of servers on this machine, and of those that the configuration names;
outside of a repository your own configuration counts alone.
What cannot be reached is said on stderr, with what it lacks.

Exit codes: 0 done · 2 no such provider, or no key for the one that is named ·
7 the one that is named does not answer`

func newModelsCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "models [PROVIDER]", Short: "List the models that can be asked", GroupID: "setup", Args: cobra.MaximumNArgs(1),
		Long: modelsHelp, Example: "  jp models\n  jp models ollama\n  jp models --json | jq -r '.[] | select(.reachable) | .provider'",
		RunE: func(cmd *cobra.Command, args []string) error { return runModels(cmd.Context(), e, args) },
	}
}

// An offer is what one provider has.
type offer struct {
	Provider  string   `json:"provider"`
	Endpoint  string   `json:"endpoint"`
	Reachable bool     `json:"reachable"`
	Why       string   `json:"why"` // it is not reachable
	Models    []string `json:"models"`
	err       error
}

func runModels(ctx context.Context, e *env, args []string) error {
	r, err := e.findSettings(ctx)
	if err == nil {
		err = r.warnOfMistake()
	}
	if err != nil {
		return err
	}
	defer r.Close()
	names := append(catalog.Names(r.config.Providers), scripted)
	if len(args) > 0 {
		names = args
	}
	offers := r.offers(ctx, e, names)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(args) > 0 && offers[0].err != nil {
		return modelsFailure(offers[0])
	}
	if e.format.structured() {
		return writeJSON(e.results(), offers)
	}
	for _, o := range offers {
		for _, model := range o.Models {
			fmt.Fprintln(e.results(), safetext.Clean(o.Provider+"/"+model))
		}
	}
	for _, o := range offers {
		if !o.Reachable {
			e.note("%-12s %s", o.Provider, safetext.Clean(o.Why))
		}
	}
	return nil
}

// offers asks the providers, all at once.
func (r *repo) offers(ctx context.Context, e *env, names []string) []offer {
	offers := make([]offer, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { offers[i] = r.offer(ctx, e, name) })
	}
	asked.Wait()
	return offers
}

// listTime is how long a provider may take to list its models.
const listTime = 15 * time.Second

// offer asks one provider for its models.
func (r *repo) offer(ctx context.Context, e *env, name string) offer {
	o := offer{Provider: name, Models: []string{}}
	if name == scripted {
		o.Reachable, o.Models = true, append(o.Models, "demo")
		return o
	}
	v, err := r.vendor(name)
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

func (r *repo) modelsOf(ctx context.Context, e *env, v catalog.Vendor) ([]string, error) {
	key, err := r.key(ctx, e.host, v)
	if err != nil {
		return nil, err
	}
	client, err := r.client(e.host, v.Name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names, err := v.Open(key, catalog.Options{Client: client}).Models(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &provider.Error{Class: provider.ClassTimeout, Provider: v.Name, Message: "it lists no models within " + conversation.Ago(listTime)}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return plainModel(name) == "" })
	slices.Sort(names)
	return names, err
}

// plainModel is a model's name, "" for one that nobody could give to -m.
func plainModel(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return ""
	}
	return name
}

// unreachable says in a few words what a provider lacks.
func (r *repo) unreachable(e *env, v catalog.Vendor, err error) string {
	var f *failure
	var refused *provider.Error
	switch {
	case errors.As(err, &f) && f.code == "auth" && !r.hasKey(e.host, v):
		return unset(v)
	case errors.As(err, &f):
		return f.message
	case errors.As(err, &refused) && refused.Class == provider.ClassDisconnect:
		return "nothing answers at " + v.Address()
	}
	return err.Error()
}

// modelsFailure is the error of the only provider that was asked.
func modelsFailure(o offer) error {
	var f *failure
	if errors.As(o.err, &f) {
		return f
	}
	failed := fail(exitProvider, "provider", "%s lists no models: %s.", o.Provider, o.Why)
	var refused *provider.Error
	if errors.As(o.err, &refused) && refused.Class == provider.ClassAuth {
		failed.code = "auth"
	}
	return failed
}
