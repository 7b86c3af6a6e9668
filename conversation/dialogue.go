package conversation

import "strings"

// TurnStart opens a turn.
type TurnStart struct {
	Model       string   // "provider/name"
	JP          string   // version of jp
	Approved    Approval // tool runs that the user allowed in advance
	Environment string   // description for the model of jp's surroundings; "" if it knows them
}

// Type implements [Body].
func (*TurnStart) Type() Type { return TypeTurnStart }

func (b *TurnStart) fields(c codec) {
	c.str("model", &b.Model)
	c.str("jp", &b.JP)
	c.value("approved", &b.Approved)
	c.str("environment", &b.Environment)
}

// Prompt is the system prompt. An event is written only if it differs from the one in force. The tool
// definitions are its payload.
type Prompt struct{ System string }

// Type implements [Body].
func (*Prompt) Type() Type { return TypePrompt }

func (b *Prompt) fields(c codec) { c.text("system", &b.System) }

// Note is something that jp tells the model in the user's role.
type Note struct{ Content string }

// Type implements [Body].
func (*Note) Type() Type { return TypeNote }

func (b *Note) fields(c codec) { c.text("content", &b.Content) }

// ChatRequest is a message of the user: at the start of a turn, or within it as a reply to an interruption.
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

// ChatResponse is one part of the model's output.
type ChatResponse struct {
	Call    int // ordinal of the model call in its turn, from 1
	Part    Part
	Text    string
	Partial bool // cut off; never has a Finish
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
	Name      string // the registry's name, or an invention of the model
	Arguments raw    // a JSON object, indented
	Malformed bool   // the model's text was no JSON object: it is a payload
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

// ToolStarted announces the run of a tool that may change something. Without a response behind it, the
// outcome is unknown.
type ToolStarted struct {
	For       int // seq of the request
	Attempt   int // from 1
	PGID      int // process group, if the tool is a process
	Child     ID  // the delegate's conversation
	Arguments raw // if the user edited them
	// ControlFiles are the files that say what git runs, with their state before the tool. Empty: the same as
	// in the newest event that has them.
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

// ToolCallResponse is the result of a tool call.
type ToolCallResponse struct {
	For        int // seq of the request
	ID         string
	Name       string
	Content    string
	IsError    bool
	Held       bool // withheld from the model until the delivery question is answered
	Cancelled  bool
	DurationMS int64
	Truncated  *Truncated
	Changed    []FileChange
	Shared     []string // paths of Changed that someone else also changed meanwhile
	// Unrecorded are changed files that were there before the tool started, with content that is in no tree:
	// first those that the tree before has in another state, then those that are new in the event's.
	// UnrecordedMore counts the unlisted rest.
	Unrecorded     []string
	UnrecordedMore int
	LeftOut        []SkippedPath
	Attachments    []Attachment
	Usage          *Usage // of the model calls that the tool itself made, or nil
}

// Truncated gives the size and hash of the whole before the cut.
type Truncated struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// A FileChange is one path that differs between two snapshots. Ids are blob
// ids, empty if the file is absent.
type FileChange struct {
	Path   string
	Before string
	After  string
}

// A SkippedPath is a path that a snapshot leaves out, and the reason.
type SkippedPath struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Exact reports whether a tool of this name returns the content of files and events, which a model may have
// to write again byte by byte. Other tools return the output of programs, for reading.
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

// AskedBy is who made the request of an event, "user" if that is unknown: jp itself writes the record of
// another agent.
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
