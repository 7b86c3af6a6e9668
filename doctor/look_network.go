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

	"jp/agent/models"
	"jp/agent/repo"
	"jp/conversation"
	"jp/provider/catalog"
)

// How long an endpoint has to answer.
const (
	localAnswer  = time.Second
	remoteAnswer = 5 * time.Second
)

// lookAtProviders finds out what can be asked. What is on this machine is asked
// whether it is there, all else only with --net.
func (c *checkup) lookAtProviders(ctx context.Context) []Finding {
	r := c.repo
	names := catalog.Names(r.Config.Providers)
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
	return found.Findings()
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
	client, err := catalog.Connection{CAFile: repo.FromHome(said.CAFile, c.env.Get("HOME")), Proxy: said.Proxy}.Client()
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

// keyOf names the source of a provider's key, or "". It starts no program.
func (c *checkup) keyOf(v catalog.Vendor) string {
	if len(c.repo.Config.Providers[v.Name].KeyCommand) > 0 {
		return "key_command"
	}
	for _, name := range v.KeyEnv {
		if strings.TrimSpace(c.env.Get(name)) != "" {
			return name
		}
	}
	return ""
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
	_, _ = io.CopyN(io.Discard, response.Body, 1<<10) // what it says does not matter
	return time.Since(start), response.Body.Close()
}
