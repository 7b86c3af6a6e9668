// Package anthropic is the Messages API of Anthropic, and of gateways that
// speak it, as a provider.
//
// A request is rendered by a pure function, and an answer is read event by
// event as it comes; nothing is kept between two requests. What the model
// thought goes back exactly as it came. The package reads no environment and
// no file, never tries twice, follows no redirect, and lets the key into no
// error.
package anthropic

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"jp/provider"
)

// API names the API in recorded state, and the provider in errors.
const API = "anthropic"

const (
	usualURL   = "https://api.anthropic.com"
	usualIdle  = 2 * time.Minute
	usualStall = 10 * time.Minute
)

// Options say how to reach the API, and what to ask a model for.
type Options struct {
	Key         string        // without one, none is sent
	Bearer      bool          // the key is sent in Authorization in place of X-Api-Key
	BaseURL     string        // what "/v1/messages" is added to; empty: Anthropic's own
	Client      *http.Client  // nil: one with the default transport
	Thinking    Effort        // how much to think; the zero value is what suits the model
	MaxTokens   int64         // of one answer, at most what the model can; 0: 32000, or less for a lesser model
	Temperature *float64      // where the model takes it and does not think; nil: the model's own
	IdleTimeout time.Duration // how long nothing may come; 0: two minutes, negative: for ever
	CacheLife   string        // of the fixed part: 5m or 1h; empty: 1h at Anthropic's own address
	Stall       time.Duration // how long nothing of an answer may come; 0: ten minutes, negative: for ever
}

// A Provider asks one endpoint with one key. It may be used concurrently.
type Provider struct {
	options  Options
	client   sdk.Client
	endpoint string
	wrong    error // why nothing can be sent
}

// New returns a provider. What is wrong with the options, Stream reports.
func New(o Options) *Provider {
	o.Key = strings.TrimSpace(o.Key)
	if o.BaseURL == "" {
		o.BaseURL = usualURL
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = usualIdle
	}
	if o.Stall == 0 {
		o.Stall = usualStall
	}
	p := &Provider{options: o}
	p.endpoint, p.wrong = endpointOf(o.BaseURL)
	settings := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0),
		option.WithBaseURL(o.BaseURL), option.WithHTTPClient(direct(o.Client)),
	}
	switch {
	case o.Key == "":
	case o.Bearer:
		settings = append(settings, option.WithAuthToken(o.Key))
	default:
		settings = append(settings, option.WithAPIKey(o.Key))
	}
	p.client = sdk.NewClient(settings...)
	return p
}

// endpointOf is a base URL without what may be secret in it.
func endpointOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the base URL must begin with http or https")
	}
	return provider.EndpointOf(base), nil
}

// direct is the client, but one that follows no redirect: it would carry the
// key along.
func direct(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Endpoint is where requests go, without anything secret.
func (p *Provider) Endpoint() string { return p.endpoint }

// Account tells keys apart without giving them away.
func (p *Provider) Account() string { return provider.AccountOf(p.options.Key) }
