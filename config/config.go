// Package config turns layers of settings into one plain [Config].
//
// The layers, low to high: defaults, the user's file, the workspace's file, the
// environment (JP_CFG_…), the conversation's deltas, and key=value overrides.
// A higher layer replaces single keys; lists are replaced whole, tables merge.
// [Load] remembers the source of each key's value.
//
// Invariants: a key that chooses programs, servers or the person to ask (a security key) never comes from a
// conversation, and from a workspace file only when the user approved exactly its bytes. Even then the
// workspace may only tighten permissions. The model is such a key, except in conversations, which record the
// user's own choice. Profiles are the user's alone. So are limits, durability and the set of enabled tools if
// a workspace file asks for looser ones than the layers below. The report names the held back settings, so
// that a repository without an approval is still usable.
//
// The package starts no programs and reads only the given environment. By default it trusts nothing.
package config

import "time"

// Config is the settings in force. The fields' doc tags are the text of the
// generated reference; the default tags are the lowest layer.
type Config struct {
	Model         string              `toml:"model" trust:"always" doc:"Model to ask, as provider/name or an alias; empty: the first provider with a key"`
	ModelFallback []string            `toml:"model_fallback" security:"yes" doc:"Models to ask, in this order, if the model is overloaded, out of order or not there, or if its account is used up; for the rest of the turn"`
	Profile       string              `toml:"profile" security:"user" doc:"Profile in use by default; -p NAME adds another"`
	Profiles      map[string]Profile  `toml:"profiles" label:"profile" security:"user"`
	Aliases       map[string]string   `toml:"aliases" label:"alias" security:"yes" doc:"Short name for a model, without a /"`
	Parameters    Parameters          `toml:"parameters"`
	System        string              `toml:"system" security:"yes" doc:"File whose text replaces jp's own system prompt; beginning with / or ~/"`
	Prices        map[string][]string `toml:"prices" label:"model" doc:"What the model costs, in US dollars for a million tokens: input, output, read from a cache, written to one; unset: the list price, if jp knows it"`
	Models        map[string]Model    `toml:"models" label:"model"`
	ModelsURL     string              `toml:"models_url" security:"user" check:"url" default:"https://models.dev/api.json" doc:"Address from which jp models --update fetches prices and limits of models, in the form of models.dev"`
	Providers     map[string]Provider `toml:"providers" label:"name" security:"yes"`
	Tools         map[string]Tool     `toml:"tools" label:"name"`
	Policy        Policy              `toml:"policy" security:"yes"`
	Cache         Cache               `toml:"cache"`
	Limits        Limits              `toml:"limits"`
	Compaction    Compaction          `toml:"compaction"`
	Titles        Titles              `toml:"titles"`
	Assistant     Assistant           `toml:"assistant" security:"yes"`
	Instructions  Instructions        `toml:"instructions"`
	Snapshot      Snapshot            `toml:"snapshot" security:"yes"`
	Git           Git                 `toml:"git"`
	Backup        Backup              `toml:"backup" security:"yes"`
	Sandbox       Sandbox             `toml:"sandbox" security:"yes"`
	Secrets       Secrets             `toml:"secrets" security:"yes"`
	Web           Web                 `toml:"web" security:"yes"`
	Hooks         map[string][]string `toml:"hooks" label:"point" keys:"turn-start|tool-pre|tool-post|waiting-for-input|turn-end" security:"yes" check:"argv" doc:"Program and arguments to start at this point: turn-start, tool-pre, tool-post, waiting-for-input or turn-end"`
	MCP           map[string]MCP      `toml:"mcp" label:"name" security:"yes"`
	Store         Store               `toml:"store"`
	Notify        string              `toml:"notify" enum:"auto|bell|off" default:"auto" doc:"How jp tells you that a question waits, or that a turn has ended, after more than 10 seconds. auto: a notification of the terminal (OSC 9), in tmux and screen a bell; bell: a bell; off: nothing"`
	Style         Style               `toml:"style"`
}

// Keys of the allow rules: of commands, of edits below a folder, of tools.
const (
	KeyAllow      = "policy.allow"
	KeyAllowEdits = "policy.allow_edits"
	KeyAllowTools = "policy.allow_tools"
)

// Profile is a set of settings under a name. While it is in use, each key of it counts as the
// same key outside of it, but for the instructions, which come to those of the assistant.
type Profile struct {
	Model        string                 `toml:"model" doc:"Model to ask, as provider/name or an alias"`
	Instructions string                 `toml:"instructions" doc:"Your own words to the model, given after those of assistant.instructions"`
	Parameters   Parameters             `toml:"parameters"`
	Tools        map[string]ProfileTool `toml:"tools" label:"name"`
	Policy       Policy                 `toml:"policy"`
}

// ProfileTool is a profile's change to a tool.
type ProfileTool struct {
	Enable *bool  `toml:"enable" doc:"Offer the tool to the model"`
	Run    string `toml:"run" enum:"ask|unattended|edit|skip" doc:"What happens before a run"`
	Result string `toml:"result" enum:"unattended|ask|edit|skip" doc:"What happens before the model sees the result"`
}

// Parameters are sent to a model with each request.
type Parameters struct {
	Reasoning string `toml:"reasoning" doc:"How much the model thinks before it answers: off, low, medium, high, max, or a word of the provider's; unset: as suits the model"`
	MaxTokens int64  `toml:"max_tokens" default:"0" doc:"Tokens of one answer at most; 0: as many as suit the model"`
}

// Model describes a model.
type Model struct {
	Context int64 `toml:"context" default:"0" doc:"Tokens that the model can read; 0: as jp or the model's server says"`
}

// Provider says how to reach the models of one vendor or local server.
type Provider struct {
	BaseURL    string            `toml:"base_url" check:"url" doc:"Endpoint, http or https; empty: the vendor's own"`
	APIKeyEnv  string            `toml:"api_key_env" doc:"Environment variable that holds the key"`
	KeyCommand []string          `toml:"key_command" check:"argv" doc:"Program and arguments that print the key; jp runs it again if the provider refuses the key"`
	KeyTTL     time.Duration     `toml:"key_ttl" default:"0s" doc:"Age of a key at which jp runs key_command again before the next request, such as 50m; 0: only if the provider refuses the key"`
	Auth       string            `toml:"auth" enum:"header|bearer" doc:"How the key is sent. bearer: as Authorization: Bearer, such as a token of Microsoft Entra, Google Cloud or Amazon Bedrock; header, or unset: in the header of the protocol"`
	Headers    map[string]string `toml:"headers" label:"header" doc:"Header of every request to the provider; $NAME is an environment variable"`
	CAFile     string            `toml:"ca_file" doc:"PEM file of certificates to trust besides the system's; begins with / or ~/"`
	Proxy      string            `toml:"proxy" doc:"Proxy to the provider, an http, https or socks5 address; none: no proxy; unset: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say"`
	Dialect    string            `toml:"dialect" doc:"Protocol of the endpoint (anthropic, openai-responses, openai-chat, google), or the kind of openai-chat server (openrouter, ollama, llamacpp, lmstudio, vllm, litellm, azure, mistral, deepseek, kimi, glm, gemini); unset: the provider's own, else openai-chat"`
}

// Tool is a tool of the user's own, or a change to a built-in one. Nil and empty mean the tool's own value.
type Tool struct {
	Enable      *bool                `toml:"enable" trust:"off" doc:"Offer the tool to the model; recall stands for the tools that read other conversations"`
	Description string               `toml:"description" security:"yes" doc:"What the model is told about the tool"`
	Command     []string             `toml:"command" security:"yes" check:"argv" tighten:"new" doc:"Program and arguments, without a shell; the call comes as JSON on stdin"`
	Mutates     *bool                `toml:"mutates" security:"yes" doc:"Whether a run may change anything; unset: true for a command and for a tool of an MCP server"`
	Idempotent  bool                 `toml:"idempotent" security:"yes" default:"false" doc:"Whether an interrupted run may be repeated"`
	Timeout     time.Duration        `toml:"timeout" trust:"timeout" doc:"Time for one run; unset or 0: limits.tool_timeout"`
	Run         string               `toml:"run" security:"yes" enum:"ask|unattended|edit|skip" tighten:"mode" doc:"What happens before a run; unset: as the tool says, ask for a command"`
	Result      string               `toml:"result" security:"yes" enum:"unattended|ask|edit|skip" tighten:"result" doc:"What happens before the model sees the result; unset: unattended"`
	Exclusive   bool                 `toml:"exclusive" security:"yes" tighten:"on" default:"false" doc:"Only a person may allow it"`
	Parameters  map[string]Parameter `toml:"parameters" security:"yes" label:"parameter"`
	Questions   map[string]Question  `toml:"questions" security:"yes" label:"question"`
}

// Parameter is one argument of a user-defined tool.
type Parameter struct {
	Type        string `toml:"type" enum:"string|integer|number|boolean|array|object" doc:"JSON type of the argument; unset: any"`
	Description string `toml:"description" doc:"What the model is told about the argument"`
	Required    bool   `toml:"required" default:"false" doc:"Whether the model must give it"`
	Items       string `toml:"items" enum:"string|integer|number|boolean|object" doc:"JSON type of the elements of an array; unset: any"`
	Enum        []any  `toml:"enum" doc:"The only values allowed"`
	Default     any    `toml:"default" doc:"Value if the model gives none"`
}

// Question says who answers a question that a tool asks by that id.
type Question struct {
	Target    string `toml:"target" enum:"user|assistant" tighten:"user" doc:"Who is asked; unset: the user"`
	Answer    any    `toml:"answer" tighten:"never" doc:"Fixed answer in place of a question"`
	Exclusive bool   `toml:"exclusive" tighten:"on" default:"false" doc:"Only a person may answer"`
}

// Policy decides a question while the user is absent.
type Policy struct {
	Detached   string        `toml:"detached" enum:"auto|defaults|deny|queue|defer" tighten:"policy" doc:"What happens to questions while the user is absent; unset: queue, and defer for a query in the foreground if CI is set"`
	Timeout    time.Duration `toml:"timeout" default:"30s" tighten:"shorter" doc:"How long queue waits in the foreground without an attached terminal before it becomes defer; 0: for ever. If you set none, jp waits on while the terminal that it runs in is open"`
	Allow      [][]string    `toml:"allow" check:"argv" tighten:"narrower" doc:"Beginnings of commands that run without a question in the root of the working tree, compared argument by argument; in another folder jp asks"`
	AllowEdits []string      `toml:"allow_edits" check:"folders" tighten:"fewer" doc:"Folders of the working tree, relative to its root, in which jp's file tools create, change, move and delete files without a question; . is the whole tree. jp asks about files that jp undo cannot bring back, and about files that decide what runs later"`
	AllowTools []string      `toml:"allow_tools" check:"tools" tighten:"fewer" doc:"Tools that run without a question: delegate, or a tool of an MCP server with the code of what you approved, as always at a question writes it"`
	Readers    bool          `toml:"readers" default:"true" tighten:"off" doc:"Run commands that only read, such as ls, grep and git log, without a question, in a sandbox of their own that lets them do nothing else"`
}

// Cache tells providers how long to keep a request's beginning.
type Cache struct {
	Life string `toml:"life" enum:"5m|1h|24h" doc:"How long the provider keeps what stays the same. Anthropic: 5m or 1h, for tools, system prompt and instructions. OpenAI: 24h, else its own. Unset: the longest at the vendor's own address"`
}

// Limits bound one turn. Zero means unlimited, except for ToolOutput and HookTimeout.
type Limits struct {
	ToolOutput   int64         `toml:"tool_output" trust:"lower" default:"32768" min:"1024" max:"262144" doc:"Bytes of one tool result that the model is sent, its beginning and its end: 1024 to 262144. jp keeps up to 8 MiB"`
	ToolTimeout  time.Duration `toml:"tool_timeout" trust:"shorter" default:"10m" doc:"Time for one tool run; 0: no limit"`
	ModelSilence time.Duration `toml:"model_silence" trust:"shorter" default:"5m" doc:"How long a model's connection may be silent before jp asks again; 0: no limit"`
	ModelStall   time.Duration `toml:"model_stall" trust:"shorter" default:"10m" doc:"How long a model may send only signs of life before jp asks again; 0: no limit. Raise it for a model that thinks longer"`
	RetryWait    time.Duration `toml:"retry_wait" trust:"shorter" default:"60s" doc:"Longest wait that a provider may ask for; a longer one ends the query at once (exit 7), except with --wait; 0: no limit"`
	ModelCalls   int64         `toml:"model_calls" trust:"lower" default:"100" doc:"Model calls in one turn; 0: no limit"`
	SameCalls    int64         `toml:"same_calls" trust:"lower" default:"3" doc:"How often in a row a model may make the same call with the same result, if that takes no time, before jp asks, or ends the turn if no user is there. Of calls that take time at least 10; 0: no limit"`
	Tokens       int64         `toml:"tokens" trust:"lower" default:"0" doc:"Tokens in and out in one turn; 0: no limit"`
	CostUSD      float64       `toml:"cost_usd" trust:"lower" default:"0.0" min:"0" doc:"US dollars that the model calls of one turn may cost; 0: no limit. The turn ends before a call whose estimated input reaches it"`
	CostUSDDay   float64       `toml:"cost_usd_day" trust:"lower" default:"0.0" min:"0" doc:"US dollars that all model calls of yours may cost on one day, in all repositories; 0: no limit"`
	HookTimeout  time.Duration `toml:"hook_timeout" default:"0s" security:"yes" doc:"Time for one hook; 0: 30 seconds before a tool, 10 seconds elsewhere"`
}

// Compaction says when and how jp makes room in a conversation that fills the model's context.
type Compaction struct {
	Auto       bool    `toml:"auto" default:"true" doc:"Compact a conversation that fills the model's context; false: jp compact does, when you say so"`
	At         float64 `toml:"at" default:"0.8" min:"0.1" max:"0.99" doc:"Part of the model's context at which jp compacts: 0.1 to 0.99"`
	KeepCycles int64   `toml:"keep_cycles" default:"4" max:"10000" doc:"Newest model calls that stay as they are, with the results of their tools"`
	Model      string  `toml:"model" security:"yes" doc:"Model that writes summaries, as provider/name or an alias; unset: the conversation's"`
}

// TitlesAuto stands for a cheap model of the conversation's provider.
const TitlesAuto = "auto"

// Titles say who writes titles.
type Titles struct {
	Model string `toml:"model" security:"yes" default:"auto" doc:"Model that writes the title of a new conversation or fork after its first turn, in the background. auto: a cheap model of the conversation's provider at that provider's own address, so the text goes nowhere else. As provider/name or an alias: that one. Empty: none"`
}

// Assistant is the user's text for every model.
type Assistant struct {
	Instructions string `toml:"instructions" doc:"Your own words to the model, given before any file of instructions"`
}

// Web bounds the addresses that web_fetch may reach.
type Web struct {
	Allow         []string `toml:"allow" tighten:"fewer" check:"hosts" doc:"Hosts, with all names below them, of which web_fetch reads https addresses without a question: those in your words, in instructions, and links of pages it has read"`
	AllowComposed []string `toml:"allow_composed" tighten:"fewer" check:"hosts" doc:"Hosts of which web_fetch reads any https address without a question, also one that the model composed"`
	Private       []string `toml:"private" tighten:"fewer" doc:"Hosts that web_fetch may read though their address is private, such as localhost"`
}

// Instructions say which files of instructions a model is given.
type Instructions struct {
	Enable   bool     `toml:"enable" default:"true" tighten:"off" doc:"Give the model AGENTS.md files: yours, and those of the repository"`
	Fallback []string `toml:"fallback" default:"[\"CLAUDE.md\"]" tighten:"fewer" check:"names" doc:"Names of files that stand in for AGENTS.md in a folder without one, first to last"`
	MaxBytes int64    `toml:"max_bytes" default:"32768" min:"1" max:"49152" tighten:"lower" doc:"Bytes of all instructions together that the model is given at the start of a turn, and of those with one result of a tool"`
}

// Git says how jp writes commits of yours.
type Git struct {
	Trailers bool `toml:"trailers" default:"true" doc:"Name the conversation and the model in commits of git_commit, as trailers"`
}

// Snapshot says which files an event's commit holds.
type Snapshot struct {
	Mode string `toml:"mode" enum:"tracked+tools|off" default:"tracked+tools" doc:"tracked+tools: what git tracks and what tools made; off: no files"`
	Base string `toml:"base" enum:"head|none" default:"head" doc:"Parent of a conversation's first event: the user's HEAD commit, or none"`
}

// Backup chooses the files outside of trees that jp copies before a program of a tool runs.
type Backup struct {
	Enable   bool     `toml:"enable" default:"true" doc:"Keep a copy of untracked files, and of ignored files outside of ignored folders, before a tool changes files"`
	FileSize int64    `toml:"file_size" default:"8388608" min:"0" doc:"Bytes that a file may have of which jp keeps a copy"`
	StepSize int64    `toml:"step_size" default:"67108864" min:"0" doc:"Bytes of new content that jp copies before one program, small files first. The first time in a working tree it is eight times as much"`
	Total    int64    `toml:"total" default:"2147483648" min:"0" doc:"Bytes of all copies of a repository. Beyond them the oldest go, but for those of the newest turn of each conversation"`
	Days     int64    `toml:"days" default:"30" min:"1" doc:"Days for which jp keeps a copy"`
	Include  []string `toml:"include" doc:"Patterns of ignored files that jp copies too, such as build/*.bin"`
	Exclude  []string `toml:"exclude" doc:"Patterns of files that jp does not copy"`
	Required bool     `toml:"required" default:"true" doc:"If jp cannot make a copy and no person can be asked, do not run a command that is known to destroy files"`
}

// Sandbox confines the programs that tools start.
type Sandbox struct {
	Enable  bool     `toml:"enable" default:"true" tighten:"on" doc:"Confine tools where the system can"`
	Network bool     `toml:"network" default:"false" tighten:"off" doc:"Let confined tools use the network"`
	Write   []string `toml:"write" tighten:"fewer" doc:"More directories that confined tools may write to: absolute, below ~/, or relative to the working tree, such as ../shared"`
	Caches  []string `toml:"caches" default:"[\"go-build\", \"golangci-lint\", \"staticcheck\", \"ccache\", \"sccache\", \"zig\", \"pip\", \"uv\", \"pypoetry\", \"yarn\", \"pnpm\", \"deno\", \"bazel-disk\", \"~/.ccache\", \"~/.npm/_cacache\", \"~/.local/share/pnpm/store\"]" tighten:"fewer" doc:"Your caches that confined tools may write to: names below the cache folder, absolute, or below ~/. Tools keep other caches in jp-tools below the cache folder"`
}

// Secrets decides how jp treats passwords, keys and tokens in the record.
type Secrets struct {
	Redact bool `toml:"redact" default:"true" tighten:"on" doc:"Replace secrets by placeholders before jp records or sends them"`
}

// MCP is a server of tools that is started as a command and spoken to over its
// stdio. Its tools are offered once the user has approved them.
type MCP struct {
	Command      []string          `toml:"command" check:"argv" doc:"Program and arguments of the server; its tools, mcp__<name>__TOOL, are offered once you approve them"`
	Env          map[string]string `toml:"env" label:"variable" doc:"Environment variable for the server"`
	URL          string            `toml:"url" check:"url" doc:"Address of a server over streamable HTTP, http or https, in the place of a command"`
	Headers      map[string]string `toml:"headers" label:"header" doc:"Header of every request to the server at url; $NAME is an environment variable"`
	ClientID     string            `toml:"client_id" doc:"Client with which jp mcp login signs in, where you have registered one; unset: jp registers itself"`
	ClientSecret string            `toml:"client_secret" doc:"Secret of client_id; $NAME is an environment variable"`
	RedirectPort int64             `toml:"redirect_port" doc:"Port of the address http://127.0.0.1:PORT/callback at which the browser comes back to jp mcp login; unset or 0: a free one"`
	StartTimeout time.Duration     `toml:"start_timeout" doc:"Time from the server's start until it has listed its tools, apart from the time of tools; unset or 0: 30 seconds"`
}

// Store says how events are kept.
type Store struct {
	Durability string `toml:"durability" trust:"durable" enum:"full|off" default:"full" doc:"full: events survive a power cut; off: they survive a kill only"`
	Packing    string `toml:"packing" enum:"auto|off" default:"auto" doc:"auto: after a turn, a background process packs the conversations' loose objects if there are many; off: only jp pack does"`
}

// Style is how things look on a terminal.
type Style struct {
	Markdown bool   `toml:"markdown" default:"true" doc:"Render the model's Markdown on a terminal; false: show its source"`
	Color    string `toml:"color" enum:"auto|always|never" default:"auto" doc:"When to use colour; auto: on a terminal without NO_COLOR, and with CLICOLOR_FORCE anywhere"`
	Theme    string `toml:"theme" enum:"auto|dark|light|none" default:"auto" doc:"Grounds of changed lines; auto: for the background that the terminal of a chat names; none: no grounds"`
	Plain    bool   `toml:"plain" default:"false" doc:"Change no line of the terminal in place: for screen readers. No live line, no forms, and jp chat reads one line after the other"`
	Width    int64  `toml:"width" default:"0" doc:"Columns to wrap at, at most the terminal's; 0: the terminal's"`
}

// ResolveModel gives the model that name stands for: the alias's, else name itself. An alias never has a /,
// so that a full name always means its own model.
func (c *Config) ResolveModel(name string) string {
	if model, ok := c.Aliases[name]; ok {
		return model
	}
	return name
}
