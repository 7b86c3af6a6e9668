// Package google asks models through the Gemini API, by generateContent in its
// streamed form.
//
// A request's body is a pure function of the request, the options and what is
// known of the model: equal requests give equal bytes. Parts that a model
// signed go back exactly as they came.
//
// Google's SDK is not used. It would make jp half as large again and start 3 ms
// later, and what has to survive unchanged could not pass through its maps: they
// round large integers, and drop fields that they do not know and the empty text
// that carries a signature. See docs/decisions/0012-no-google-sdk.md.
//
// The package takes no setting from the environment, keeps nothing but the JSON
// of what it sent last, never tries a request twice, and shows the key only to the endpoint: not in
// errors, and of an account only a hash.
package google

import (
	"net/http"
	"time"

	"jp/provider"
	"jp/provider/stream"
)

// API is the name of the API in the state of an event.
const API = "google"

// Name is what errors and events call the provider.
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
	Client      *http.Client  // nil: http.DefaultClient; its Timeout is not used, and no redirect is followed
	MaxTokens   int           // most tokens of an answer, thoughts included; 0: the model's own limit
	Thinking    Thinking      // how much the model thinks
	IdleTimeout time.Duration // longest silence of the server; 0: five minutes, negative: no limit
	Stall       time.Duration // longest time without a piece of the answer; 0: ten minutes, negative: no limit
}

// Thinking is how much a model thinks, and whether it tells of it.
type Thinking struct {
	// Effort is "none", "minimal", "low", "medium" or "high"; empty leaves it
	// to the model. What a model does not know becomes the nearest that it does.
	Effort string
	Hidden bool // no summaries of its thoughts are asked for
}

// A Provider is the Gemini API. It may be used concurrently.
type Provider struct {
	options Options
}

// New returns the provider. It does no work that takes time: what a request
// needs is made with it.
func New(o Options) *Provider { return &Provider{options: o} }

// Endpoint is the base URL, without what might be secret in it.
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

// limits are how long a request may take of which nothing comes.
func (o Options) limits() stream.Limits {
	l := stream.Limits{Silence: o.IdleTimeout, Stall: o.Stall}
	if l.Silence == 0 {
		l.Silence = defaultIdleTimeout
	}
	if l.Stall == 0 {
		l.Stall = defaultStall
	}
	return l
}
