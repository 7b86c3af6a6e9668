// Package google asks models through the Gemini API, by generateContent in its
// streamed form.
//
// A request's body is a pure function of the request, the options and the facts about the model: equal
// requests give equal bytes. Parts that a model signed go back exactly as they came.
//
// The package works without Google's SDK, which would make jp half as large again and start 3 ms later. Its
// maps would also change parts that have to stay the same: they round large integers, and drop unknown fields
// and the empty text that carries a signature. See docs/decisions/0012-no-google-sdk.md.
//
// The package ignores the environment, keeps only the JSON of the last request, and sends each request once.
// It sends the key to the endpoint alone: errors omit it, and an account is known by a hash.
package google

import (
	"net/http"
	"time"

	"jp/provider"
)

// API is the name of the API in the state of an event.
const API = "google"

// Name is the name of the provider in errors and events.
const Name = "google"

const defaultBaseURL = "https://generativelanguage.googleapis.com"

// defaultIdleTimeout is generous, since a model may think for minutes before
// its first word.
const defaultIdleTimeout = 5 * time.Minute

const defaultStall = 10 * time.Minute

// Options are how requests are made. With the zero value every request fails
// for want of a key.
type Options struct {
	Key         string        // of the API
	Bearer      bool          // the key is sent in Authorization in place of X-Goog-Api-Key
	BaseURL     string        // without the version; empty: Google's
	Client      *http.Client  // nil: http.DefaultClient; its Timeout is ignored, and redirects are refused
	MaxTokens   int           // most tokens of an answer, thoughts included; 0: the model's own limit
	Thinking    Thinking      // how much the model thinks
	IdleTimeout time.Duration // longest silence of the server; 0: five minutes, negative: unlimited
	Stall       time.Duration // longest time without a piece of the answer; 0: ten minutes, negative: unlimited
}

// Thinking is how much a model thinks, and whether it shows summaries of it.
type Thinking struct {
	// Effort is "none", "minimal", "low", "medium" or "high". Empty leaves it to the model. An effort that
	// the model lacks becomes the nearest one that it has.
	Effort string
	Hidden bool // without summaries of its thoughts
}

// A Provider is the Gemini API. It may be used concurrently.
type Provider struct {
	options Options
}

// New returns the provider. It returns at once: a request makes its own resources.
func New(o Options) *Provider { return &Provider{options: o} }

// Endpoint is the base URL, without secrets.
func (o Options) Endpoint() string { return provider.EndpointOf(o.baseURL()) }

// Account tells keys apart without giving them away.
func (o Options) Account() string { return provider.AccountOf(o.Key) }

// Endpoint is that of the options.
func (p *Provider) Endpoint() string { return p.options.Endpoint() }

// Account is that of the options.
func (p *Provider) Account() string { return p.options.Account() }

func (o Options) baseURL() string {
	if o.BaseURL == "" {
		return defaultBaseURL
	}
	return o.BaseURL
}

// limits are the longest times without a piece of the answer.
func (o Options) limits() provider.StreamLimits {
	l := provider.StreamLimits{Silence: o.IdleTimeout, Stall: o.Stall}
	if l.Silence == 0 {
		l.Silence = defaultIdleTimeout
	}
	if l.Stall == 0 {
		l.Stall = defaultStall
	}
	return l
}
