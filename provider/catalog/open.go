package catalog

import (
	"context"
	"net/http"
	"time"

	"jp/provider"
	"jp/provider/anthropic"
	"jp/provider/google"
	"jp/provider/openai"
)

// Options of a model. The zero value leaves everything to the provider.
type Options struct {
	Client    *http.Client  // nil: one with the default transport
	MaxTokens int           // of one answer; 0: as suits the model
	Reasoning string        // off, low, medium, high, max or a word of the provider's; "": as suits the model
	Facts     Model         // the table's facts about the model
	Silence   time.Duration // longest silence; 0: as suits the protocol, negative: for ever
	Stall     time.Duration // longest time without a piece of an answer, signs of life apart; 0: ten minutes, negative: for ever
	CacheLife string        // of a prefix that the provider caches: 5m, 1h or 24h; "" is the longest that suits
	Price     Price         // of the model; the zero value is unknown
}

// A Provider is a vendor with one key.
type Provider struct {
	provider.Provider
	API      string             // in recorded state
	Endpoint string             // without anything secret
	Account  string             // tells keys apart without giving them away
	Tools    provider.ToolRules // for definitions of tools
	Context  int                // tokens that the model can read; 0: unknown
	Price    Price              // the zero value is unknown
	list     func(context.Context) ([]string, error)
}

// Models lists the models that can be asked.
func (p *Provider) Models(ctx context.Context) ([]string, error) { return p.list(ctx) }

// Open returns the vendor as a model with a key, "" for none. Requests begin with the first call.
func (v Vendor) Open(key string, o Options) *Provider {
	o.Client = direct(o.Client)
	v.BaseURL, o.Client = withQuery(v.BaseURL, o.Client)
	p := v.open(key, o)
	p.Provider, p.list = namedProvider{WithPrice(adapting{p.Provider, p.Tools}, o.Price), v.Name}, namedList(p.list, v.Name)
	p.Price = o.Price
	return p
}

func (v Vendor) open(key string, o Options) *Provider {
	switch v.Protocol {
	case Anthropic:
		p := anthropic.New(anthropic.Options{
			Key: key, Bearer: v.Bearer, BaseURL: v.BaseURL, Client: o.Client, MaxTokens: int64(o.answer()), Thinking: anthropic.Effort(o.Reasoning), IdleTimeout: o.Silence, Stall: o.Stall, CacheLife: o.CacheLife,
		})
		return &Provider{Provider: p, API: anthropic.API, Endpoint: p.Endpoint(), Account: p.Account(), Tools: provider.ToolRules{Max: -1}, list: p.Models}
	case Google:
		p := google.New(google.Options{
			Key: key, Bearer: v.Bearer, BaseURL: v.BaseURL, Client: o.Client, MaxTokens: o.MaxTokens, Thinking: google.Thinking{Effort: effortOf(o.Reasoning, o.Facts.Levels, googleEffort)},
			IdleTimeout: o.Silence, Stall: o.Stall,
		})
		return &Provider{
			Provider: p, API: google.API, Endpoint: p.Endpoint(), Account: p.Account(), list: p.Models,
			Tools: provider.ToolRules{Max: 512, Keys: provider.WordKeys, Subset: true},
		}
	}
	options := v.openai(key, o)
	p := &Provider{Endpoint: options.Endpoint(), Account: options.Account(), list: options.Models}
	if v.Protocol == Responses {
		p.Provider, p.API = openai.NewResponses(options), openai.APIResponses
		return p
	}
	p.Provider, p.API, p.Tools = openai.NewChat(options), openai.APIChat, options.Dialect.Tools
	return p
}

func (v Vendor) openai(key string, o Options) openai.Options {
	dialect, known := openai.DialectNamed(v.Dialect)
	if !known {
		dialect = openai.Dialect{}
	}
	dialect.Name = v.Name
	if v.Bearer {
		dialect.KeyHeader = ""
	}
	return openai.Options{
		Key: key, BaseURL: v.BaseURL, Client: o.Client, MaxTokens: o.MaxTokens, Dialect: dialect, IdleTimeout: o.Silence, Stall: o.Stall,
		Reasoning: openai.Reasoning{Effort: effortOf(o.Reasoning, o.Facts.Levels, openaiEffort)}, CacheLife: o.CacheLife,
		Lacks: openai.Lacks{Images: o.Facts.NoImages, Files: o.Facts.NoPDF},
	}
}

// mostAnswer is the default length of an answer if the protocol requires one.
const mostAnswer = 32000

// answer is the most tokens of an answer, 0 if the table does not know the model either.
func (o Options) answer() int {
	if o.MaxTokens > 0 {
		return o.MaxTokens
	}
	return min(o.Facts.Output, mostAnswer)
}

func openaiEffort(effort string) string {
	switch effort {
	case "off":
		return "none"
	case "max":
		return "xhigh"
	}
	return effort
}

func googleEffort(effort string) string {
	switch effort {
	case "off":
		return "none"
	case "max":
		return "high"
	}
	return effort
}

// direct is a copy of the client that follows no redirect, since another server would see the request.
func direct(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}
