// Package openai asks models through the two APIs of OpenAI: Responses, and
// Chat Completions with all the servers that speak it.
//
// A request's body is a pure function of the request and of options: equal requests give equal bytes. The
// differences between the servers of Chat Completions are data, a [Dialect]. An answer's parts come out as
// the server orders them, each closed with the item that has to be sent back unchanged.
//
// The package ignores the environment, keeps only the JSON of the last request, and sends each request once.
// It sends the key to the endpoint alone: errors omit it, and an account is known by a hash.
package openai

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/conversation"
	"jp/provider"
)

// The APIs, as the state of an event names them.
const (
	APIResponses = "openai-responses"
	APIChat      = "openai-chat"
)

// defaultIdleTimeout is generous, since a model may think for minutes before
// its first word.
const defaultIdleTimeout = 5 * time.Minute

const defaultStall = 10 * time.Minute

const ownURL = "https://api.openai.com/v1"

// Options are how requests are made. The zero value asks OpenAI without a key.
type Options struct {
	Key         string        // bearer token; optional
	BaseURL     string        // empty: the dialect's
	Client      *http.Client  // nil: http.DefaultClient
	MaxTokens   int           // most tokens of an answer; 0: the server decides
	Reasoning   Reasoning     // how much the model thinks
	IdleTimeout time.Duration // longest silence of the server; 0: five minutes, negative: unlimited
	Stall       time.Duration // longest time without a piece of the answer; 0: ten minutes, negative: unlimited
	Lacks       Lacks         // missing abilities of the model
	Dialect     Dialect       // of Chat Completions; Responses uses its name and BaseURL only
	// Extra are further fields of the body, such as "temperature". They take
	// the place of a field of the same name.
	Extra map[string]json.RawMessage
	// CacheLife is how long a prefix is cached: 5m or 24h; empty: as long as the model's may be.
	CacheLife string
}

// ownServer reports whether requests go to OpenAI itself, which routes those of one key to one cache. Other
// servers may reject the field.
func (o Options) ownServer() bool { return o.baseURL() == ownURL }

// familyData has the beginnings of the names of models whose prefixes the server can keep for a day.
//
//go:embed families.json
var familyData []byte

var cachedForADay = sync.OnceValue(func() []string {
	var all struct {
		Day []string `json:"cached_for_a_day"`
	}
	if err := json.Unmarshal(familyData, &all); err != nil {
		panic(err) // a test reads it
	}
	return all.Day
})

// longestCache reports whether the server keeps a prefix of a model for a day, and is to.
func (o Options) longestCache(model string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(model, prefix) }
	return o.CacheLife != "5m" && slices.ContainsFunc(cachedForADay(), begins)
}

// Reasoning is how much a model thinks, and how much of it it shows. Empty values leave it to the server.
type Reasoning struct {
	Effort  string // such as "low" or "high"
	Summary string // of Responses: "auto", "concise" or "detailed"
}

// Lacks are the abilities that a model lacks. The zero value has all.
type Lacks struct {
	Images    bool
	Files     bool // PDFs
	Reasoning bool // asking for reasoning is an error
}

// Name is the name of the provider in errors and events.
func (o Options) Name() string { return o.Dialect.name() }

// Endpoint is the base URL, without secrets.
func (o Options) Endpoint() string { return provider.EndpointOf(o.baseURL()) }

// Account tells keys apart without giving them away.
func (o Options) Account() string { return provider.AccountOf(o.Key) }

func (o Options) baseURL() string {
	switch {
	case o.BaseURL != "":
		return o.BaseURL
	case o.Dialect.BaseURL != "":
		return o.Dialect.BaseURL
	}
	return ownURL
}

func (o Options) idleTimeout() time.Duration {
	if o.IdleTimeout == 0 {
		return defaultIdleTimeout
	}
	return o.IdleTimeout
}

func (o Options) stall() time.Duration {
	if o.Stall == 0 {
		return defaultStall
	}
	return o.Stall
}

// fields are the further fields of a body, those of the user's configuration among them.
func (o Options) fields() map[string]any {
	fields := map[string]any{"stream": true}
	for name, value := range o.Extra {
		if name != "stream" {
			fields[name] = value
		}
	}
	return fields
}

// asked are the messages up to the last one that needs an answer. Neither API continues a stopped answer, so
// jp asks anew for an answer that was paused elsewhere.
func asked(messages []provider.Message) []provider.Message {
	for len(messages) > 0 && messages[len(messages)-1].Role == conversation.RoleAssistant {
		messages = messages[:len(messages)-1]
	}
	return messages
}
