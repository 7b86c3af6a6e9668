// Package anthropic is the Messages API of Anthropic, and of gateways that
// speak it, as a provider.
//
// A request is rendered by a pure function, and an answer is read event by event as it comes, without state
// between two requests. The model's thinking goes back exactly as it came. The package ignores the
// environment and files, sends each request once, refuses redirects, and keeps the key out of errors.
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

// Options are the address of the API and the settings of a model.
type Options struct {
	Key         string        // optional
	Bearer      bool          // the key is sent in Authorization in place of X-Api-Key
	BaseURL     string        // the base of "/v1/messages"; empty: Anthropic's own
	Client      *http.Client  // nil: one with the default transport
	Thinking    Effort        // how much to think; the zero value suits the model
	MaxTokens   int64         // of one answer, at most the model's limit; 0: 32000, or less for a lesser model
	Temperature *float64      // if the model takes it and does not think; nil: the model's own
	IdleTimeout time.Duration // longest silence; 0: two minutes, negative: for ever
	CacheLife   string        // of the fixed part: 5m or 1h; empty: 1h at Anthropic's own address
	Stall       time.Duration // longest time without a piece of an answer; 0: ten minutes, negative: for ever
}

// A Provider asks one endpoint with one key. It may be used concurrently.
type Provider struct {
	options  Options
	client   sdk.Client
	endpoint string
	wrong    error // of the options; it prevents all requests
}

// New returns a provider. Stream reports invalid options.
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

func endpointOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the base URL must begin with http or https")
	}
	return provider.EndpointOf(base), nil
}

// direct is a copy of the client that follows no redirect, since it would carry the key along.
func direct(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Endpoint is the address of requests, without secrets.
func (p *Provider) Endpoint() string { return p.endpoint }

// Account tells keys apart without giving them away.
func (p *Provider) Account() string { return provider.AccountOf(p.options.Key) }
