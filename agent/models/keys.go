package models

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
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

// Vendor is the provider of that name, with its settings.
func (r Providers) Vendor(name string) (catalog.Vendor, error) {
	v, err := r.repo.Found(name)
	switch {
	case errors.Is(err, catalog.ErrUnknown):
		return v, problem.Usage("there is no provider %q.", name).
			Hint(action.Models, "lists those that there are").
			Hint(action.AskServer(ShownName(name)), "a server that speaks OpenAI's protocol")
	case errors.Is(err, catalog.ErrNoAddress):
		return v, problem.New(problem.ExitUsage, "config", "%s has an address of its own for each customer, and none is set.", name).
			Hint(action.SetBaseURL(ShownName(name)), "your address")
	case err != nil:
		return v, repo.WrongSetting(r.repo.WrongProvider(name, err))
	}
	return v, nil
}

// client connects according to a provider's settings. It is nil without settings.
func (r Providers) client(e *repo.Host, name string) (*http.Client, error) {
	said := r.repo.Config.Providers[name]
	headers := map[string]string{}
	for header, value := range said.Headers {
		variable, named := strings.CutPrefix(value, "$")
		if named {
			value = strings.TrimSpace(e.Get(variable))
		}
		if named && value == "" {
			return nil, problem.New(problem.ExitUsage, "auth", "there is no header %s for %s: %s is not set.", safetext.Show(header), safetext.Show(name), safetext.Show(variable))
		}
		if named || secretHeader(header) {
			r.repo.Values.Add(value)
		}
		headers[header] = value
	}
	client, err := catalog.Connection{Headers: headers, CAFile: config.FromHome(said.CAFile, e.Get("HOME")), Proxy: said.Proxy}.Client()
	if err != nil {
		return nil, repo.WrongSetting(r.repo.WrongProvider(name, err))
	}
	return client, nil
}

// secretHeader reports whether a header is likely to hold a secret.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool { return strings.Contains(name, word) })
}

// laterKey stands in a request for the key that a program prints, until jp sends the request.
const laterKey = "the-key-that-a-program-prints"

// open opens the provider with its key. A key that a program prints or that jp login keeps is read anew. The
// program runs when the first request is sent: the question is recorded by then.
func (r Providers) open(ctx context.Context, e *repo.Host, v catalog.Vendor, o catalog.Options) (*catalog.Provider, error) {
	key, source, err := r.key(e, v)
	printed, later := source.(*printedKey)
	switch {
	case err != nil:
	case later:
		key = laterKey
	case source != nil:
		key, _, err = source.current(ctx)
		r.repo.Values.Add(key)
	}
	if err != nil {
		return nil, err
	}
	if o.Client, err = r.client(e, v.Name); err != nil {
		return nil, err
	}
	if source != nil {
		o.Client = renewing(o.Client, renewal{key: source, vendor: v.Name, opened: key, secret: r.repo.Values.Add})
	}
	p := v.Open(key, o)
	if later {
		p.Account = provider.AccountOf(strings.Join(printed.argv, "\x00")) // the account stays the same when the key changes
	}
	return p, nil
}

// A keySource gives a key that may change while jp runs.
type keySource interface {
	// current is the key for the next request, and how often it was made so far.
	current(context.Context) (key string, runs int, err error)
	// renewed is the key after a server refused the one that was made so many times. The error is errSameKey
	// if there is no other.
	renewed(ctx context.Context, refused int) (key string, runs int, err error)
}

var errSameKey = errors.New("there is no newer key")

// key is the key for a provider, or its source: the first of a program, the environment, and jp login. It is
// "" for a provider that works without. A missing key is an error that names the places that jp searches. key
// runs no program.
func (r Providers) key(e *repo.Host, v catalog.Vendor) (string, keySource, error) {
	if printed := r.printedKey(e, v.Name); printed != nil {
		return "", printed, nil
	}
	for _, name := range v.KeyEnv {
		if key := strings.TrimSpace(e.Get(name)); key != "" {
			return key, nil, checkKey(key, "$"+name)
		}
	}
	if kept := r.keptKey(e, v); kept.exists() {
		return "", kept, nil
	}
	if v.Keyless {
		return "", nil, nil
	}
	return "", nil, missingKey(v)
}

// missingKey is the error of a missing key, with the ways to work without one.
func missingKey(v catalog.Vendor) *problem.Error {
	f := problem.New(problem.ExitUsage, "auth", "%s%s.", noKeyFor(v.Name), Unset(v)).
		Hint(action.Login(ShownName(v.Name)), "asks for the key, and keeps it")
	if len(v.KeyEnv) > 0 {
		f.Hint(action.SetKey(v.KeyEnv[0]), "the key, for this shell")
	} else {
		f.Hint(action.SetKeyName(ShownName(v.Name)), "the variable that holds it")
	}
	f.Hint(action.SetKeyCommand(ShownName(v.Name), `["pass", "show", "`+ShownName(v.Name)+`"]`), "a program that prints it")
	return withoutKey(f)
}

// Unset is the reason why a provider has no key.
func Unset(v catalog.Vendor) string {
	if len(v.KeyEnv) == 0 {
		return "providers." + ShownName(v.Name) + " names no api_key_env and no key_command"
	}
	return strings.Join(v.KeyEnv, " or ") + " is not set"
}

// withoutKey adds the servers that take requests without a key.
func withoutKey(f *problem.Error) *problem.Error {
	return f.Hint(action.AskOllama, "a model on this machine, by ollama").
		Hint(action.AskDemo, "scripted, no key; or "+action.ChatDemo.String())
}

// longestKey is how many bytes a key has at most: servers refuse longer headers.
const longestKey = 16 << 10

// checkKey fails for a text that cannot be a key or part of a header, without quoting it.
func checkKey(key, source string) error {
	if len(key) > longestKey {
		return problem.New(problem.ExitUsage, "auth", "the value of %s is not a key: it has more than %s.", source, conversation.ByteCount(longestKey))
	}
	odd := func(r rune) bool { return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) }
	if strings.ContainsFunc(key, odd) {
		return problem.New(problem.ExitUsage, "auth", "the value of %s is not a key: it has spaces, control characters, or letters that are not ASCII.", source)
	}
	return nil
}

// price is the configured cost of a model, else its list price.
func (r Providers) price(model string) (catalog.Price, error) {
	amounts, said := r.repo.Config.Prices[model]
	if !said {
		return r.facts(model).Price, nil
	}
	price, err := catalog.ParsePrice(amounts)
	if err != nil {
		return price, repo.WrongSetting(r.repo.WrongPrice(model, err))
	}
	return price, nil
}

// UsualModel is the model to ask if the user names none: that of the first provider that has a key, else of
// an Ollama that runs here.
func (r Providers) UsualModel(ctx context.Context, e *repo.Host) (string, error) {
	if model := r.KeyedModel(e); model != "" {
		return model, nil
	}
	if model := r.localModel(ctx, e); model != "" {
		return model, nil
	}
	for _, name := range r.Names(e) {
		if v, err := r.Vendor(name); err == nil && !v.Keyless && r.hasKey(e, v) {
			return "", problem.New(problem.ExitUsage, "config", "no model to ask: %s has a key, but no default model.", name).
				Hint(action.ModelsOf(ShownName(name)), "its models").Hint(action.SetModel, "the model that you want")
		}
	}
	none := problem.New(problem.ExitUsage, "config", "no model to ask: none is configured, no key is set, no Ollama runs here.")
	if r.heldModel() {
		none.Hint(action.Trust, "shows what "+config.WorkspaceFile+" asks for, a model too, and approves it")
	}
	return "", withoutKey(none.
		Hint(action.Login("anthropic"), "asks for the key, and keeps it").
		Hint(action.SetKey("ANTHROPIC_API_KEY"), "the same for this shell").
		Hint(action.Models, "the providers, and the key that each wants"))
}

// KeyedModel is the model of the first provider that has a key, or "".
func (r Providers) KeyedModel(e *repo.Host) string {
	for _, name := range r.Names(e) {
		v, err := r.Vendor(name)
		if err != nil || v.Keyless || !r.hasKey(e, v) {
			continue
		}
		if model := v.DefaultModel(e.Now()); model != "" {
			return v.Name + "/" + model
		}
	}
	return ""
}

// heldModel reports whether the workspace's file names a model that counts only once the file is trusted.
func (r Providers) heldModel() bool {
	return slices.ContainsFunc(r.repo.Report.Inert, func(k config.InertKey) bool {
		return k.Key == "model" && k.Reason == config.ReasonUntrusted
	})
}

// hasKey reports whether there seems to be a key, without running programs.
func (r Providers) hasKey(e *repo.Host, v catalog.Vendor) bool {
	found := len(r.repo.Config.Providers[v.Name].KeyCommand) > 0 || r.keptKey(e, v).exists()
	for _, name := range v.KeyEnv {
		found = found || strings.TrimSpace(e.Get(name)) != ""
	}
	return found
}

// localTime is how long a server on this machine may take to say that it is there.
const localTime = 500 * time.Millisecond

// localModel is the first model of an Ollama that runs here, or "".
func (r Providers) localModel(ctx context.Context, e *repo.Host) string {
	v, err := r.Vendor("ollama")
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	client, err := r.client(e, v.Name)
	if err != nil {
		return ""
	}
	names, err := v.Open("", catalog.Options{Client: client}).Models(ctx)
	if err != nil || len(names) == 0 {
		return ""
	}
	return v.Name + "/" + names[0]
}

// The Providers are those of models, as the configuration of a repository has them.
type Providers struct{ repo *repo.Repo }

func ProvidersOf(r *repo.Repo) Providers { return Providers{r} }
