package conversation

import "strings"

// TurnStart opens a turn.
type TurnStart struct {
	Model       string   // "provider/name"
	JP          string   // version of jp
	Approved    Approval // tool runs that the user allowed in advance
	Environment string   // what the model is told of the place where jp runs; "" if it knows that
}

// Type implements [Body].
func (*TurnStart) Type() Type { return TypeTurnStart }

func (b *TurnStart) fields(c codec) {
	c.str("model", &b.Model)
	c.str("jp", &b.JP)
	c.value("approved", &b.Approved)
	c.str("environment", &b.Environment)
}

// Prompt is what the model is told before anything else. An event is written
// only where it differs from the one in force; the tool definitions are its
// payload.
type Prompt struct{ System string }

// Type implements [Body].
func (*Prompt) Type() Type { return TypePrompt }

func (b *Prompt) fields(c codec) { c.text("system", &b.System) }

// Note is something that jp tells the model in the user's role.
type Note struct{ Content string }

// Type implements [Body].
func (*Note) Type() Type { return TypeNote }

func (b *Note) fields(c codec) { c.text("content", &b.Content) }

// ChatRequest is what the user says: at the start of a turn, or within it as a
// reply to an interruption.
type ChatRequest struct {
	Content     string
	Author      string // for display; never sent
	Schema      raw    // JSON schema that the answer must satisfy
	Attachments []Attachment
	Interrupt   bool
	Replaces    *int // seq of the request that this one stands for
}

// An Attachment is a file or an image that goes with a text; its content is the
// payload of the same name.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Path      string `json:"path,omitempty"`
}

// Type implements [Body].
func (*ChatRequest) Type() Type { return TypeChatRequest }

func (b *ChatRequest) fields(c codec) {
	c.text("content", &b.Content)
	c.str("author", &b.Author)
	c.raw("schema", &b.Schema)
	c.value("attachments", &b.Attachments)
	c.flag("interrupt", &b.Interrupt)
	c.ref("replaces", &b.Replaces)
}

// A Part is which kind of output a chat response is.
type Part string

// The parts.
const (
	PartMessage   Part = "message"
	PartReasoning Part = "reasoning"
	PartData      Part = "data" // structured output, as JSON text
)

// ChatResponse is one part of what the model says.
type ChatResponse struct {
	Call    int // ordinal of the model call in its turn, from 1
	Part    Part
	Text    string
	Partial bool // broken off; never has a Finish
	CallEnd
}

// Type implements [Body].
func (*ChatResponse) Type() Type { return TypeChatResponse }

func (b *ChatResponse) fields(c codec) {
	c.num("call", &b.Call)
	c.str("part", (*string)(&b.Part))
	if b.Part == PartData {
		c.jsonText("data", (*stringJSON)(&b.Text))
	} else {
		c.text(string(b.Part), &b.Text)
	}
	c.flag("partial", &b.Partial)
	b.CallEnd.fields(c)
}

// ToolCallRequest is a tool call that the model asks for.
type ToolCallRequest struct {
	Call      int
	ID        string // as the provider gave it; may come again in a later call
	Name      string // the registry's name, or what the model made up
	Arguments raw    // a JSON object, indented
	Malformed bool   // the model's text was no JSON object; it is a payload
	Repaired  bool   // the model's arguments or name were damaged in a way with one reading; the arguments as written are a payload
	CallEnd
}

// Type implements [Body].
func (*ToolCallRequest) Type() Type { return TypeToolCallRequest }

func (b *ToolCallRequest) fields(c codec) {
	c.num("call", &b.Call)
	c.str("tool_call_id", &b.ID)
	c.str("name", &b.Name)
	c.jsonText("arguments", (*rawJSON)(&b.Arguments))
	c.flag("malformed", &b.Malformed)
	c.flag("repaired", &b.Repaired)
	b.CallEnd.fields(c)
}

// ToolStarted says that a tool which may change anything is about to run. What
// follows without a response has an unknown outcome.
type ToolStarted struct {
	For       int // seq of the request
	Attempt   int // from 1
	PGID      int // process group, if the tool is a process
	Child     ID  // the delegate's conversation
	Arguments raw // where the user edited them
	// ControlFiles are the files that say what git runs, as they are before the tool. Empty:
	// as at the newest event that has them.
	ControlFiles []NamedFile
}

// Type implements [Body].
func (*ToolStarted) Type() Type { return TypeToolStarted }

func (b *ToolStarted) fields(c codec) {
	c.seq("for", &b.For)
	c.num("attempt", &b.Attempt)
	c.num("pgid", &b.PGID)
	c.str("child", (*string)(&b.Child))
	c.raw("arguments", &b.Arguments)
	c.value("control_files", &b.ControlFiles)
}

// ToolCallResponse is what a tool call came to.
type ToolCallResponse struct {
	For        int // seq of the request
	ID         string
	Name       string
	Content    string
	IsError    bool
	Held       bool // not released to the model until the delivery question is answered
	Cancelled  bool
	DurationMS int64
	Truncated  *Truncated
	Changed    []FileChange
	Shared     []string // paths of Changed that someone else also changed meanwhile
	// Unrecorded are those of the changed files that were there before the tool started, and
	// of which no tree says what they held then: first those that the tree before has in
	// another state, then those that are new in the event's. UnrecordedMore is how many are
	// not listed.
	Unrecorded     []string
	UnrecordedMore int
	LeftOut        []SkippedPath
	Attachments    []Attachment
	Usage          *Usage // of the model calls that the tool itself made, nil if it made none
}

// Truncated says what was cut off: the size and hash of the whole.
type Truncated struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// A FileChange is one path that differs between two snapshots. Ids are blob
// ids, empty where the file is not there.
type FileChange struct {
	Path   string
	Before string
	After  string
}

// A SkippedPath is a path that a snapshot does not record, and why.
type SkippedPath struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Exact reports whether a tool of this name gives what files and events hold, which a model may
// have to write again byte by byte. What other tools give is the output of programs, to be read.
func Exact(tool string) bool {
	return strings.HasPrefix(tool, "fs_") || strings.HasPrefix(tool, "git_") || tool == "event_read"
}

// Type implements [Body].
func (*ToolCallResponse) Type() Type { return TypeToolCallResponse }

func (b *ToolCallResponse) fields(c codec) {
	c.seq("for", &b.For)
	c.str("tool_call_id", &b.ID)
	c.str("name", &b.Name)
	c.text("content", &b.Content)
	c.must("is_error", &b.IsError)
	c.flag("held", &b.Held)
	c.flag("cancelled", &b.Cancelled)
	c.num64("duration_ms", &b.DurationMS)
	c.value("truncated", &b.Truncated)
	c.value("changed", &b.Changed)
	c.value("shared", &b.Shared)
	c.value("unrecorded", &b.Unrecorded)
	c.num("unrecorded_more", &b.UnrecordedMore)
	c.value("left_out", &b.LeftOut)
	c.value("attachments", &b.Attachments)
	c.value("usage", &b.Usage)
}

// AskedBy is who made the request of an event, "user" if that is not known: what another agent
// recorded is written by jp.
func (e *Event) AskedBy() string {
	if request, ok := e.Body.(*ChatRequest); ok && request.Author != "" {
		return request.Author
	}
	if e.Author == "" || e.Author == string(RoleJP) {
		return string(RoleUser)
	}
	return e.Author
}

// LabelImportedFrom is the label of a conversation that another agent recorded. It names the agent.
const LabelImportedFrom = "imported-from"
