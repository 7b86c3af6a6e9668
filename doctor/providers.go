package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"jp/config"

	"jp/agent/models"
	"jp/conversation"
	"jp/internal/action"
	"jp/provider/catalog"
)

// How long an endpoint has to answer.
const (
	localAnswer  = time.Second
	remoteAnswer = 5 * time.Second
)

// providers checks the usable providers. It always checks those on this machine, and the others only with
// --net.
func (c *checkup) providers(ctx context.Context) []Finding {
	r := c.repo
	names := models.ProvidersOf(r).Names(c.env)
	model := r.Config.ResolveModel(r.Config.Model)
	found := Providers{
		All: make([]Provider, len(names)), Net: c.Net,
		Model: model, Scripted: strings.HasPrefix(model, models.Scripted+"/"),
	}
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { found.All[i] = c.provider(ctx, name) })
	}
	asking.Wait()
	return append(found.Findings(), tableFinding(models.ProvidersOf(r).Table(), c.env.Now()))
}

// oldTable is from when on the facts of models are worth renewing.
const oldTable = 90 * 24 * time.Hour

func tableFinding(t catalog.Table, now time.Time) Finding {
	if now.Sub(t.Date()) > oldTable {
		return found(Note, "models", "old %s", models.AboutTable(t)).advise("%s fetches newer ones", action.ModelsUpdate)
	}
	return found(OK, "models", "%s", models.AboutTable(t))
}

func (c *checkup) provider(ctx context.Context, name string) Provider {
	p := Provider{Name: name}
	v, err := models.ProvidersOf(c.repo).Vendor(name)
	if err != nil {
		p.Wrong = err
		return p
	}
	address, err := url.Parse(v.Address())
	if err != nil {
		p.Wrong = errors.New("its address is invalid") // it may hold a secret
		return p
	}
	p.Host, p.Local, p.Key = address.Host, local(address.Hostname()), c.keyOf(v)
	if p.Key == "" && !v.Keyless {
		p.Wants = models.Unset(v)
	}
	said := c.repo.Config.Providers[name] // its headers may hold a key
	client, err := catalog.Connection{CAFile: config.FromHome(said.CAFile, c.env.Get("HOME")), Proxy: said.Proxy}.Client()
	if err != nil {
		p.Wrong = err
		return p
	}
	switch {
	case p.Local:
		p.Asked = true
		p.Took, p.Err = answers(ctx, client, address, localAnswer)
	case c.Net && (p.Key != "" || v.Keyless):
		p.Asked = true
		p.Took, p.Err = answers(ctx, client, address, remoteAnswer)
	}
	return p
}

// keyOf names the source of a provider's key, or "". It only looks the names up.
func (c *checkup) keyOf(v catalog.Vendor) string {
	if len(c.repo.Config.Providers[v.Name].KeyCommand) > 0 {
		return "key_command"
	}
	source := models.ProvidersOf(c.repo).KeySource(c.env, v.Name)
	return strings.TrimPrefix(strings.TrimPrefix(source, "that of "), "$")
}

// local reports whether a host is this machine, by its name alone.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// answers sends a request without a key to an endpoint. Any response counts.
func answers(ctx context.Context, configured *http.Client, address *url.URL, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return 0, errors.New("its address is invalid")
	}
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if configured != nil {
		client.Transport = configured.Transport
	}
	start := time.Now()
	response, err := client.Do(request)
	var wrapped *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return 0, fmt.Errorf("nothing came within %s", conversation.Ago(limit))
	case errors.As(err, &wrapped):
		return 0, wrapped.Err
	case err != nil:
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, response.Body, 1<<10) // the content is irrelevant
	return time.Since(start), response.Body.Close()
}

// A Provider is the state of a provider, and the result of asking it.
type Provider struct {
	Name  string
	Host  string // of its endpoint
	Local bool   // the endpoint is on this machine
	Key   string // the source of the key: a variable's name, "key_command" or jp login; "" without a key
	Wants string // the missing source of a key, "" if it needs none or has one
	Wrong error  // the fault in its settings

	Asked bool
	Took  time.Duration // until it answered
	Err   error         // why it is unreachable
}

// Providers are all of them.
type Providers struct {
	All      []Provider
	Scripted bool   // the configured model is a script, so providers are optional
	Model    string // the configured model, "PROVIDER/NAME", or ""
	Net      bool   // others than those on this machine were asked, too
}

// Findings judges the providers: those that have a key one by one, the others
// together.
func (ps Providers) Findings() (all []Finding) {
	var without, silent []string
	any := ps.Scripted
	for _, p := range ps.All {
		any = any || p.Wrong == nil && p.Err == nil && (p.Key != "" || p.Wants == "" && p.Asked)
		switch {
		case p.Wrong != nil:
			all = append(all, found(Warn, "providers", "%s: %v", p.Name, p.Wrong))
		case p.Key == "" && p.Wants != "":
			without = append(without, p.Name+" ("+p.Wants+")")
		case p.Key == "" && p.Err != nil:
			silent = append(silent, p.Name+" ("+p.Host+")")
		default:
			all = append(all, p.finding())
		}
	}
	if len(without) > 0 {
		all = append(all, found(OK, "providers", "without a key: %s", strings.Join(without, ", ")))
	}
	if len(silent) > 0 {
		all = append(all, found(OK, "providers", "not running here: %s", strings.Join(silent, ", ")))
	}
	if !ps.Net {
		all = append(all, found(OK, "network", "nothing was sent over it; %s asks the providers that have a key, without sending it", action.DoctorNet))
	}
	if chosen := ps.chosen(); any && chosen != nil {
		all = append(all, *chosen)
	}
	if !any {
		all = append(all, found(Warn, "providers", "there is no model to ask: no provider has a key, and none runs here").
			advise("%s or another one's; %s works without", action.Login("anthropic"), action.AskDemo))
	}
	return all
}

// chosen is the finding if the configured model cannot be used, as far as is known, else nil.
func (ps Providers) chosen() *Finding {
	name, _, _ := strings.Cut(ps.Model, "/")
	for _, p := range ps.All {
		if p.Name != name || ps.Scripted {
			continue
		}
		var f Finding
		switch {
		case p.Wrong != nil: // reported elsewhere
			return nil
		case p.Key == "" && p.Wants != "":
			f = found(Warn, "model", "%s cannot be asked: %s", ps.Model, p.Wants).advise("set the key, or choose another: %s", action.SetModel)
		case p.Err != nil:
			f = found(Warn, "model", "%s cannot be asked: %s does not answer: %v", ps.Model, p.Host, p.Err).advise("start the server, or look at providers.%s.base_url", name)
		default:
			return nil
		}
		return &f
	}
	return nil
}

// finding judges one that can be asked.
func (p Provider) finding() Finding {
	key := "no key needed"
	if p.Key != "" {
		key = "key from " + p.Key
	}
	switch {
	case p.Err != nil:
		return found(Warn, "providers", "%s: %s, and %s does not answer: %v", p.Name, key, p.Host, p.Err).advise("look whether the address, the network or a proxy is wrong")
	case p.Asked:
		return found(OK, "providers", "%s: %s, %s answers (%s)", p.Name, key, p.Host, conversation.Ago(p.Took))
	}
	return found(OK, "providers", "%s: %s, endpoint %s", p.Name, key, p.Host)
}
