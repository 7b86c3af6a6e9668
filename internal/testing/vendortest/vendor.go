package vendortest

import (
	"encoding/json"
	"net/http"
	"strings"

	"jp/internal/testing/wirecheck"
)

// A Vendor is one way to a model, as jp names it.
type Vendor struct {
	Name  string // of jp's provider
	Model string // one that thinks and calls tools
	// Stores says that reasoning comes with something that has to go back.
	Stores bool

	base    string // of the URL, below the server's
	asks    string // path of a request, below the base; MODEL stands for the model
	lists   string // path of the models
	keyEnv  string // "": works without a key
	auth    string // header of the key
	prefix  string // before the key in it
	dialect string // as jp's configuration names it; "" if jp knows it
	speech  speech
}

// A speech is a wire format.
type speech interface {
	// events are the stream of a reply, and the items that a client has to send
	// back unchanged.
	events(r Reply, s style) ([]event, []json.RawMessage)
	// refusal is the status and the body of a failure.
	refusal(f Failure) (int, string)
	// failing is an event that says in the midst of a stream that it failed.
	failing() event
	// complaint is the body of a refusal, with the vendor's words for the mistake.
	complaint(words string) string
	// whole is a reply of a server without streaming.
	whole(r Reply, s style) string
	// alive is an empty event.
	alive() string
	// misdo changes the events of a reply in ways that the format allows.
	misdo(events []event, d *draw) []event
	// models lists a model.
	models(name string) string
	// judge is the validator of requests.
	judge(body []byte, model string, known known) []wirecheck.Violation
	format() wirecheck.API
}

// Vendors are the ways to a model that differ most; [Compatible] are the others.
func Vendors() []Vendor {
	const bearer = "Bearer "
	completions := func(name, model, keyEnv string, flavour chat) Vendor {
		return Vendor{
			Name: name, Model: model, base: "/" + name + "/v1", asks: "/chat/completions", lists: "/models", Stores: flavour.stores(),
			keyEnv: keyEnv, auth: "Authorization", prefix: bearer, speech: flavour,
		}
	}
	return []Vendor{
		{
			Name: "anthropic", Model: "claude-sonnet-4-5", base: "/anthropic", asks: "/v1/messages", lists: "/v1/models", Stores: true,
			keyEnv: "ANTHROPIC_API_KEY", auth: "X-Api-Key", speech: messages{},
		},
		{
			Name: "openai", Model: "gpt-5.1", base: "/openai/v1", asks: "/responses", lists: "/models", Stores: true,
			keyEnv: "OPENAI_API_KEY", auth: "Authorization", prefix: bearer, speech: responses{},
		},
		{
			Name: "google", Model: "gemini-3-pro-preview", base: "/google", asks: "/v1beta/models/MODEL:streamGenerateContent", lists: "/v1beta/models",
			Stores: true, keyEnv: "GEMINI_API_KEY", auth: "X-Goog-Api-Key", speech: gemini{},
		},
		completions("work", "gpt-5.1", "WORK_KEY", chat{}),
		completions("openrouter", "anthropic/claude-sonnet-4.5", "OPENROUTER_API_KEY", chat{flavour: openrouter}),
		completions("ollama", "qwen3", "", chat{flavour: ollama}),
	}
}

// every is all that a server speaks.
func every() []Vendor { return append(Vendors(), Compatible()...) }

// VendorNamed is the vendor of that name.
func VendorNamed(name string) Vendor {
	for _, v := range every() {
		if v.Name == name {
			return v
		}
	}
	panic("vendortest: no vendor " + name)
}

// Asked is the vendor's model as jp's -m takes it.
func (v Vendor) Asked() string { return v.Name + "/" + v.Model }

// Key is the vendor's key, which other vendors must not see, or "".
func (v Vendor) Key() string {
	if v.keyEnv == "" {
		return ""
	}
	return "key-for-" + v.Name + "-alone"
}

// KeyEnv is the environment variable that holds the key, or "".
func (v Vendor) KeyEnv() string { return v.keyEnv }

// modelIn is the model that a request is for.
func (v Vendor) modelIn(path string, body []byte) string {
	before, after, inPath := strings.Cut(v.base+v.asks, "MODEL")
	if inPath {
		return strings.TrimSuffix(strings.TrimPrefix(path, before), after)
	}
	var said struct{ Model string }
	_ = json.Unmarshal(body, &said) // the validator judges the body
	return said.Model
}

// asked reports whether a path is that of a request for an answer.
func (v Vendor) asked(path string) bool {
	before, after, inPath := strings.Cut(v.base+v.asks, "MODEL")
	if !inPath {
		return path == before
	}
	return strings.HasPrefix(path, before) && strings.HasSuffix(path, after)
}

// keyFaults describes the mistakes in a request's keys.
func (v Vendor) keyFaults(r *http.Request, body []byte) (faults []string) {
	if got := r.Header.Get(v.auth); v.keyEnv != "" && got != v.prefix+v.Key() {
		faults = append(faults, "the header "+v.auth+" is "+got)
	}
	places := string(body) + "\n" + r.URL.String()
	for name, values := range r.Header {
		if name == v.auth && v.keyEnv != "" {
			continue
		}
		places += "\n" + strings.Join(values, "\n")
		if name == "Authorization" || name == "X-Api-Key" || name == "X-Goog-Api-Key" || name == "Api-Key" {
			faults = append(faults, "the header "+name+" is not this vendor's")
		}
	}
	for _, other := range every() {
		if other.Key() != "" && strings.Contains(places, other.Key()) {
			faults = append(faults, "the key of "+other.Name+" stands where it has no business")
		}
	}
	return faults
}

// Events is how many events a plain stream of a reply has.
func (v Vendor) Events(r Reply) int {
	events, _ := v.speech.events(r, style{model: v.Model})
	return len(events)
}

// Path is the path of the vendor's API, below the server's URL.
func (v Vendor) Path() string { return strings.ReplaceAll(v.base+v.asks, "MODEL", v.Model) }

// Authorize adds the vendor's key to a request.
func (v Vendor) Authorize(r *http.Request) {
	if v.keyEnv != "" {
		r.Header.Set(v.auth, v.prefix+v.Key())
	}
}
