package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"jp/config"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/provider/catalog"
)

// vendor is the provider of that name, with what the configuration says of it.
func (r providers) vendor(name string) (catalog.Vendor, error) {
	v, err := r.found(name)
	switch {
	case errors.Is(err, catalog.ErrUnknown):
		return v, usage("there is no provider %q.", name).
			hint("jp models", "lists those that there are").
			hint(`jp query --cfg providers.`+plainName(name)+`.base_url=URL -m `+plainName(name)+`/MODEL "…"`, "a server that speaks OpenAI's protocol")
	case err != nil:
		return v, wrongSetting(r.wrongProvider(name, err))
	}
	return v, nil
}

// found is the provider of that name as the catalog has it with what is said of it.
func (r *repo) found(name string) (catalog.Vendor, error) {
	said := r.config.Providers[name]
	return catalog.Find(name, catalog.Settings{
		BaseURL: said.BaseURL, KeyEnv: said.APIKeyEnv, Dialect: said.Dialect,
		Connection: catalog.Connection{Headers: said.Headers, CAFile: fromHome(said.CAFile, ""), Proxy: said.Proxy},
	})
}

// fromHome is a path with a user's home folder in the place of ~, as it stands where
// that is not known.
func fromHome(path, home string) string {
	if rest, below := strings.CutPrefix(path, "~/"); below {
		return filepath.Join("/"+home, rest)
	}
	return path
}

// client connects as the configuration says of a provider, nil where it says nothing.
func (r providers) client(e *host, name string) (*http.Client, error) {
	said := r.config.Providers[name]
	headers := map[string]string{}
	for header, value := range said.Headers {
		variable, named := strings.CutPrefix(value, "$")
		if named {
			value = strings.TrimSpace(e.get(variable))
		}
		if named && value == "" {
			return nil, fail(exitUsage, "auth", "there is no header %s for %s: %s is not set.", safetext.Show(header), safetext.Show(name), safetext.Show(variable))
		}
		if named || secretHeader(header) {
			r.values.own(value)
		}
		headers[header] = value
	}
	client, err := catalog.Connection{Headers: headers, CAFile: fromHome(said.CAFile, e.get("HOME")), Proxy: said.Proxy}.Client()
	if err != nil {
		return nil, wrongSetting(r.wrongProvider(name, err))
	}
	return client, nil
}

// secretHeader reports whether a header is likely to hold a secret.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool { return strings.Contains(name, word) })
}

// plainName is a name as it can stand in a command line that jp prints.
func plainName(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" && name != "" {
		return name
	}
	return "NAME"
}

// key is the key for a provider, "" for one that works without. A missing one is
// an error that says where it is looked for.
func (r providers) key(ctx context.Context, e *host, v catalog.Vendor) (string, error) {
	if command := r.config.Providers[v.Name].KeyCommand; len(command) > 0 {
		key, err := e.printedKey(ctx, v.Name, command, keyTime)
		r.values.own(key)
		return key, err
	}
	for _, name := range v.KeyEnv {
		if key := strings.TrimSpace(e.get(name)); key != "" {
			return key, checkKey(key, "$"+name)
		}
	}
	if v.Keyless {
		return "", nil
	}
	return "", missingKey(v)
}

// missingKey says which key a provider wants, and what works without one.
func missingKey(v catalog.Vendor) *failure {
	f := fail(exitUsage, "auth", "there is no key for %s: %s.", v.Name, unset(v))
	if len(v.KeyEnv) > 0 {
		f.hint("export "+v.KeyEnv[0]+"=…", "the key, for this shell")
	} else {
		f.hint("jp config set providers."+plainName(v.Name)+".api_key_env NAME", "the variable that holds it")
	}
	f.hint("jp config set providers."+plainName(v.Name)+`.key_command '["pass", "show", "`+plainName(v.Name)+`"]'`, "a program that prints it")
	return withoutKey(f)
}

// unset says where no key was found.
func unset(v catalog.Vendor) string {
	if len(v.KeyEnv) == 0 {
		return "providers." + plainName(v.Name) + " names no api_key_env and no key_command"
	}
	return strings.Join(v.KeyEnv, " or ") + " is not set"
}

// withoutKey adds what can be asked by somebody who has no key.
func withoutKey(f *failure) *failure {
	return f.hint(`jp query -m ollama/MODEL "…"`, "a model on this machine, by ollama").
		hint(`jp query -m script/demo "…"`, "a scripted model: shows jp without any key")
}

// keyTime is how long a program may take to print a key: it may ask for a
// passphrase.
const keyTime = time.Minute

var errKeyTime = errors.New("the program that prints a key took too long")

// printedKey is what a program prints within a limit of time. It may ask on the
// terminal, once.
func (e *host) printedKey(ctx context.Context, vendor string, argv []string, limit time.Duration) (string, error) {
	if key, known := e.keys.Load(vendor); known {
		return key.(string), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errKeyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, words bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = e.dir, e.environ, &out, &words
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	key := strings.TrimSpace(out.String())
	if err == nil && key != "" {
		e.keys.Store(vendor, key)
		return key, checkKey(key, argv[0])
	}
	why := "failed: it printed nothing"
	switch {
	case errors.Is(context.Cause(ctx), errKeyTime):
		why = "took longer than " + conversation.Ago(limit) + ", and jp ended it"
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		why = "failed: " + err.Error()
	}
	f := fail(exitUsage, "auth", "there is no key for %s: its key_command %s %s.", vendor, safetext.Escape(argv[0]), why)
	if said := strings.TrimSpace(words.String()); said != "" {
		f.details = append(f.details, strings.SplitN(said, "\n", 2)[0])
	}
	return "", f
}

// checkKey refuses what no key is and no header can carry, without quoting it.
func checkKey(key, source string) error {
	odd := func(r rune) bool { return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) }
	if strings.ContainsFunc(key, odd) {
		return fail(exitUsage, "auth", "what %s holds is no key: it has spaces, control characters, or letters that are not ASCII.", source)
	}
	return nil
}

// price is what a model costs: what the configuration says, else its list price.
func (r providers) price(model string) (catalog.Price, error) {
	amounts, said := r.config.Prices[model]
	if !said {
		return catalog.PriceOf(model), nil
	}
	price, err := catalog.ParsePrice(amounts)
	if err != nil {
		return price, wrongSetting(r.wrongPrice(model, err))
	}
	return price, nil
}

// usualModel is the model to ask where nobody names one: that of the first
// provider for which there is a key, else of an Ollama that runs here.
func (r providers) usualModel(ctx context.Context, e *host) (string, error) {
	if model := r.keyedModel(e); model != "" {
		return model, nil
	}
	if model := r.localModel(ctx, e); model != "" {
		return model, nil
	}
	none := fail(exitUsage, "config", "no model to ask: none is configured, no provider has a key, and no Ollama runs here.")
	if r.heldModel() {
		none.hint("jp trust", "shows what "+config.WorkspaceFile+" asks for, a model too, and approves it")
	}
	return "", withoutKey(none.
		hint("export ANTHROPIC_API_KEY=…", "or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY").
		hint("jp models", "which providers there are, and what each lacks"))
}

// keyedModel is the model of the first provider for which there is a key, "" for none.
func (r providers) keyedModel(e *host) string {
	for _, name := range catalog.Names(r.config.Providers) {
		v, err := r.vendor(name)
		if err != nil || v.Keyless || v.Model == "" {
			continue
		}
		if r.hasKey(e, v) {
			return v.Name + "/" + v.Model
		}
	}
	return ""
}

// heldModel reports whether the workspace's file names a model that does not count
// until the file is trusted.
func (r providers) heldModel() bool {
	return slices.ContainsFunc(r.report.Inert, func(k config.InertKey) bool {
		return k.Key == "model" && k.Reason == config.ReasonUntrusted
	})
}

// hasKey reports whether there seems to be a key, and starts nothing.
func (r providers) hasKey(e *host, v catalog.Vendor) bool {
	found := len(r.config.Providers[v.Name].KeyCommand) > 0
	for _, name := range v.KeyEnv {
		found = found || strings.TrimSpace(e.get(name)) != ""
	}
	return found
}

// localTime is how long a server on this machine may take to say that it is there.
const localTime = 500 * time.Millisecond

// localModel is the first model of an Ollama that runs here, "" for none.
func (r providers) localModel(ctx context.Context, e *host) string {
	v, err := r.vendor("ollama")
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

// The providers are those of models, as the configuration of a repository has them.
type providers struct{ *repo }

func (r *repo) providers() providers { return providers{r} }
