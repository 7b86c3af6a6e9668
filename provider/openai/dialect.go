package openai

import (
	"maps"
	"slices"

	"jp/provider"
)

// A Dialect is how a server of Chat Completions differs from OpenAI's own. The
// zero value is OpenAI.
type Dialect struct {
	Name    string // in errors; empty: "openai"
	BaseURL string // its default address; empty: OpenAI's

	SystemRole       string             // of the first message; empty: "system"
	UserAfterTool    UserAfterTool      // whether a user may speak directly behind results
	IDs              IDForm             // the form of the ids of tool calls
	ToolNameField    string             // field of a tool message for the tool's name; empty: omitted
	ImagesInTool     bool               // results may hold images
	NoImages         bool               // models cannot read images
	NoFiles          bool               // file parts are unsupported
	MaxTokensField   string             // empty: "max_completion_tokens"
	ParallelCalls    bool               // several tool calls at once have to be asked for
	NoStreamOptions  bool               // usage comes unasked, and asking is an error
	JSONObject       bool               // of response formats only json_object is known
	ReasoningObject  bool               // effort is a field of an object "reasoning"
	ReasoningBack    ReasoningBack      // which messages get their reasoning back
	ReasoningField   string             // its name if the item lacks one; empty: "reasoning_content"
	ReasoningDetails bool               // reasoning_details go back unchanged
	ExtraContent     bool               // extra_content goes back unchanged
	Tools            provider.ToolRules // for definitions of tools; the zero value is OpenAI's
	KeyHeader        string             // header of the key; empty: Authorization
	EmptyContent     bool               // an answer of tool calls alone has the content "", not null
}

// UserAfterTool is the place of a user's message directly behind results.
type UserAfterTool int

// The ways.
const (
	UserAllowed UserAfterTool = iota // it stays there
	UserFolded                       // its text is added to the last result
)

// ReasoningBack is which messages of the model are sent with their reasoning.
type ReasoningBack int

// The choices.
const (
	ReasoningNever     ReasoningBack = iota
	ReasoningToolTurns               // those of turns in which a tool was called
	ReasoningAll                     // all of them; a space replaces missing reasoning
)

// DialectNamed is the dialect of a server that jp knows by name; false for any
// other. OpenAI's is the zero value but for its name.
func DialectNamed(name string) (Dialect, bool) {
	d, known := dialects()[name]
	d.Name = name
	return d, known
}

// Dialects are the names that [DialectNamed] knows but for OpenAI's own.
func Dialects() []string {
	names := slices.Sorted(maps.Keys(dialects()))
	return slices.DeleteFunc(names, func(name string) bool { return name == "openai" })
}

// anyNumber is for servers of one's own, without a limit.
var anyNumber = provider.ToolRules{Max: -1}

func dialects() map[string]Dialect {
	return map[string]Dialect{
		"openai": {},
		"openrouter": {
			BaseURL:        "https://openrouter.ai/api/v1",
			MaxTokensField: "max_tokens", ReasoningObject: true,
			ReasoningBack: ReasoningToolTurns, ReasoningField: "reasoning", ReasoningDetails: true,
		},
		"ollama": {
			BaseURL:        "http://127.0.0.1:11434/v1",
			MaxTokensField: "max_tokens", NoFiles: true, ToolNameField: "name", Tools: anyNumber,
			ReasoningBack: ReasoningToolTurns, ReasoningField: "reasoning",
		},
		"llamacpp": {
			BaseURL:        "http://127.0.0.1:8080/v1",
			MaxTokensField: "max_tokens", NoFiles: true, ParallelCalls: true, Tools: anyNumber,
			ReasoningBack: ReasoningToolTurns,
		},
		"vllm": {
			BaseURL:        "http://127.0.0.1:8000/v1",
			MaxTokensField: "max_tokens", NoFiles: true, Tools: anyNumber,
			ReasoningBack: ReasoningToolTurns, ReasoningField: "reasoning",
		},
		"mistral": {
			BaseURL:        "https://api.mistral.ai/v1",
			MaxTokensField: "max_tokens", NoFiles: true, ToolNameField: "name",
			UserAfterTool: UserFolded, IDs: AlnumIDs, NoStreamOptions: true,
		},
		"deepseek": {
			BaseURL:        "https://api.deepseek.com/v1",
			MaxTokensField: "max_tokens", NoFiles: true, NoImages: true, JSONObject: true, EmptyContent: true,
			ReasoningBack: ReasoningAll,
		},
		"kimi": {
			BaseURL:        "https://api.moonshot.ai/v1",
			MaxTokensField: "max_tokens", NoFiles: true, IDs: NumberedIDs,
			ReasoningBack: ReasoningAll, Tools: provider.ToolRules{TypeInBranches: true},
		},
		"glm": {
			BaseURL:        "https://api.z.ai/api/paas/v4",
			MaxTokensField: "max_tokens", NoFiles: true, JSONObject: true,
			ReasoningBack: ReasoningToolTurns,
		},
		"azure": {
			KeyHeader: "api-key", // each customer has an address of its own
		},
		"lmstudio": {
			BaseURL:        "http://127.0.0.1:1234/v1",
			MaxTokensField: "max_tokens", NoFiles: true, Tools: anyNumber,
			ReasoningBack: ReasoningToolTurns,
		},
		"litellm": {
			BaseURL:        "http://127.0.0.1:4000/v1",
			MaxTokensField: "max_tokens", ReasoningBack: ReasoningToolTurns,
		},
		"gemini": {
			BaseURL:        "https://generativelanguage.googleapis.com/v1beta/openai",
			MaxTokensField: "max_tokens", NoFiles: true, ExtraContent: true, Tools: provider.ToolRules{Keys: provider.WordKeys, Subset: true},
		},
	}
}

func (d Dialect) name() string { return or(d.Name, "openai") }

func (d Dialect) maxTokensField() string { return or(d.MaxTokensField, "max_completion_tokens") }

func (d Dialect) reasoningField() string { return or(d.ReasoningField, "reasoning_content") }

// or is the value, or its default if it is empty.
func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
