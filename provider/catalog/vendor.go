// Package catalog lists the known providers: their addresses, protocols, variables for keys, and the prices
// of their models.
//
// The user's settings of a provider override the known ones, and an unknown name becomes a provider with an
// address. The package is free of side effects: it never reads the environment or files, starts no programs
// and keeps no keys.
package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"jp/provider/openai"
)

// A Protocol is how a provider is spoken to.
type Protocol string

// The protocols.
const (
	Anthropic Protocol = "anthropic"
	Responses Protocol = "openai-responses"
	Chat      Protocol = "openai-chat"
	Google    Protocol = "google"
)

// A Vendor is a provider: a company, or a server of one's own.
type Vendor struct {
	Name     string
	Protocol Protocol
	Dialect  string   // of Chat: which server it is, "" for OpenAI's own
	BaseURL  string   // "" for the protocol's own
	KeyEnv   []string // environment variables that may hold the key, the first that is set counts
	Keyless  bool     // works without a key
	Bearer   bool     // the key is sent as Authorization: Bearer, with any protocol
}

// vendors are the known providers, in the order of the default choice.
func vendors() []Vendor {
	return []Vendor{
		{Name: "anthropic", Protocol: Anthropic, KeyEnv: []string{"ANTHROPIC_API_KEY"}},
		{Name: "openai", Protocol: Responses, KeyEnv: []string{"OPENAI_API_KEY"}},
		{Name: "google", Protocol: Google, KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
		{Name: "openrouter", Protocol: Chat, Dialect: "openrouter", KeyEnv: []string{"OPENROUTER_API_KEY"}},
		{Name: "mistral", Protocol: Chat, Dialect: "mistral", KeyEnv: []string{"MISTRAL_API_KEY"}},
		{Name: "deepseek", Protocol: Chat, Dialect: "deepseek", KeyEnv: []string{"DEEPSEEK_API_KEY"}},
		{Name: "kimi", Protocol: Chat, Dialect: "kimi", KeyEnv: []string{"MOONSHOT_API_KEY"}},
		{Name: "glm", Protocol: Chat, Dialect: "glm", KeyEnv: []string{"ZAI_API_KEY"}},
		{Name: "minimax", Protocol: Anthropic, BaseURL: "https://api.minimax.io/anthropic", KeyEnv: []string{"MINIMAX_API_KEY"}},
		{Name: "ollama", Protocol: Chat, Dialect: "ollama", Keyless: true},
		{Name: "lmstudio", Protocol: Chat, Dialect: "lmstudio", Keyless: true},
		{Name: "llamacpp", Protocol: Chat, Dialect: "llamacpp", Keyless: true},
		{Name: "vllm", Protocol: Chat, Dialect: "vllm", Keyless: true},
	}
}

// others are known ones that the table lacks.
func others() []Vendor {
	return []Vendor{
		{Name: "azure", Protocol: Chat, Dialect: "azure", KeyEnv: []string{"AZURE_OPENAI_API_KEY"}},
		{Name: "together", Protocol: Chat, BaseURL: "https://api.together.xyz/v1", KeyEnv: []string{"TOGETHER_API_KEY"}},
	}
}

// Settings are a user's settings of a provider. Empty fields keep the known values.
type Settings struct {
	BaseURL string
	KeyEnv  string
	Bearer  bool   // see [Vendor]
	Dialect string // a protocol, or the name of a server whose dialect of Chat it is
	Connection
}

// Find is the provider of that name. An unknown name needs a base URL, and speaks Chat unless its dialect
// says otherwise.
func Find(name string, s Settings) (Vendor, error) {
	v, known := vendorNamed(name)
	if !known {
		v, known = s.other(name)
	}
	if !known {
		v = Vendor{Name: name, Protocol: Chat, Keyless: true}
	}
	if s.Dialect != "" {
		if err := v.speak(s.Dialect); err != nil {
			return Vendor{}, err
		}
	}
	if !known && s.BaseURL == "" {
		return Vendor{}, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	if s.BaseURL != "" {
		v.BaseURL = s.BaseURL
	}
	if v.Dialect == "azure" && v.BaseURL == "" {
		return Vendor{}, fmt.Errorf("%w: %s", ErrNoAddress, name)
	}
	if s.KeyEnv != "" {
		v.KeyEnv, v.Keyless = []string{s.KeyEnv}, false
	}
	v.Bearer = s.Bearer
	if v.Protocol == Google {
		v.Keyless = false // its client needs a key
	}
	if v.BaseURL != "" && !isAddress(v.BaseURL) {
		return Vendor{}, fmt.Errorf("%w: %s", ErrAddress, name)
	}
	return v, s.Check()
}

func vendorNamed(name string) (Vendor, bool) {
	for _, v := range vendors() {
		if v.Name == name {
			return v, true
		}
	}
	return Vendor{Name: name}, false
}

// other is one of the less usual providers, unless the settings make the name a server of the user's own.
func (s Settings) other(name string) (Vendor, bool) {
	if s.BaseURL != "" && (name != "azure" || s.Dialect != "" || len(s.Headers) > 0) {
		return Vendor{}, false
	}
	if i := slices.IndexFunc(others(), func(v Vendor) bool { return v.Name == name }); i >= 0 {
		return others()[i], true
	}
	return tabled(name)
}

func (v *Vendor) speak(dialect string) error {
	switch Protocol(dialect) {
	case Anthropic, Responses, Chat, Google:
		v.Protocol, v.Dialect = Protocol(dialect), ""
		return nil
	}
	if _, known := openai.DialectNamed(dialect); !known {
		return fmt.Errorf("%w %q; there are %s", ErrDialect, dialect, strings.Join(Dialects(), ", "))
	}
	v.Protocol, v.Dialect = Chat, dialect
	return nil
}

func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Host != "" && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http")
}

// Dialects are the names that a provider's dialect can have.
func Dialects() []string {
	names := []string{string(Anthropic), string(Responses), string(Chat), string(Google)}
	return append(names, openai.Dialects()...)
}

// Names are those of the known providers and of those that a user has settings
// for: first the known ones, in the order of choice.
func Names[T any](settings map[string]T) []string {
	var names []string
	for _, v := range vendors() {
		names = append(names, v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// More are the known providers besides those of [Names], in alphabetical order.
func More() []Vendor {
	text, _ := member(builtIn, 1, "providers")
	var tabled map[string]listed
	_ = json.Unmarshal([]byte(text+"}"), &tabled) // a test reads it
	all := others()
	for name, p := range tabled {
		all = append(all, p.vendor(name))
	}
	all = slices.DeleteFunc(all, func(v Vendor) bool { _, usual := vendorNamed(v.Name); return usual })
	slices.SortFunc(all, func(a, b Vendor) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// StatesCost reports whether the provider states the cost in its answers, with any protocol.
func (v Vendor) StatesCost() bool { return v.Dialect == "openrouter" || v.Name == "openrouter" }

// Address is the endpoint, without secrets.
func (v Vendor) Address() string { return v.open("", Options{}).Endpoint }
