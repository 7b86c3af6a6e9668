package conversation

import (
	"encoding/json"
	"slices"
	"time"
)

// Version is the format version that this package writes.
const Version = 1

// An Event is one thing that happened. Its Body has the content. The other fields are the same for every
// type.
//
// Seq, Turn and Time are set by the [Stream] that the event becomes part of, Commit and (if it is empty) Tree
// by the [Journal] that stores it.
type Event struct {
	Seq  int       // position in the conversation, from 0, dense
	Turn int       // turn, from 1; 0 before the first
	Time time.Time // the clock's time; the order is the sequence's alone
	Body Body

	Git      *Git            // HEAD and the branch, if they matter here
	Was      *int            // seq in the source, if a slice copied the event
	Provider json.RawMessage // a model's opaque state, sent back unchanged or left out
	Payloads []Payload       // content too large for the message, and attachments
	Model    string          // model in force, "provider/name"; who said it, or for whom it ran
	Subject  string          // the line that git shows; empty: derived from Body

	Tree    string   // id of the files' tree; empty: as the event before
	Objects []Object // objects of Tree that the store may lack; write-only
	Commit  string   // id of the stored event; empty before it is stored
	Author  string   // who acted, as stored

	Version int      // format version of a stored event
	Needs   []string // features that a reader must know to act on the event
	Lossy   bool     // the stored message shows the text with replacements
	Signed  bool     // this user's jp wrote the event
	Handed  bool     // and did so on another machine
	Home    *Home    // the intended conversation; nil if unrecorded
	extra   []Field  // fields that this jp does not know
}

// A Git is the repository's place: HEAD and working tree. Ids are hex.
type Git struct {
	Head      string `json:"head,omitempty"`
	HeadWas   string `json:"head_was,omitempty"`
	Branch    string `json:"branch,omitempty"`
	BranchWas string `json:"branch_was,omitempty"`
	Worktree  string `json:"worktree,omitempty"` // name of a linked worktree
	// WorktreeID tells a linked worktree from a later one of the same name.
	WorktreeID string `json:"worktree_id,omitempty"`
	Repo       string `json:"repo,omitempty"` // workspace id
	// InProgress is an operation of git that waits to be ended: "merge", "rebase".
	InProgress string `json:"in_progress,omitempty"`
}

// SamePlace reports whether HEAD, branch, working tree and operation are those of a
// later look.
func (g Git) SamePlace(now Git) bool {
	return g.Head == now.Head && g.Branch == now.Branch && g.InProgress == now.InProgress && g.SameWorktree(now)
}

// SameWorktree reports whether a later look is at the same working tree. An unrecorded workspace matches any.
// If a worktree has no id, the name decides.
func (g Git) SameWorktree(now Git) bool {
	same := g.Worktree == now.Worktree && (g.Repo == "" || g.Repo == now.Repo)
	return same && (g.WorktreeID == "" || now.WorktreeID == "" || g.WorktreeID == now.WorktreeID)
}

// A Payload is content that is kept beside the message.
type Payload struct {
	Name      string `json:"name"`
	OID       string `json:"oid"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"-"` // the content of a new one; write-only
	// Absent reports that this repository lacks the content. Journals set it for the content that they read
	// with an event: its text and the provider's state.
	Absent bool `json:"-"`
}

// Payload names that jp itself uses.
const (
	PayloadText      = "text"        // the exact text of the event
	PayloadArguments = "arguments"   // malformed arguments as the model wrote them
	PayloadTools     = "tools.json"  // tool definitions as sent
	PayloadOutput    = "text.output" // the whole output of a tool, of which the event has both ends
	PayloadProvider  = "provider"    // provider state too large for a header
)

// An Object is a git object that a snapshot needs.
type Object struct {
	Kind string // "blob" or "tree"
	OID  string
	Data []byte
}

// A Role is the kind of actor behind an event.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleJP        Role = "jp"
)

// Type is the event's type.
func (e *Event) Type() Type { return e.Body.Type() }

// Role says who acted.
func (e *Event) Role() Role {
	switch b := e.Body.(type) {
	case *ChatResponse, *ToolCallRequest:
		return RoleAssistant
	case *ToolCallResponse:
		return RoleTool
	case *TurnStart, *ChatRequest, *ForkOrigin, *TurnDiscarded, *ConfigDelta, *Metadata, *Restored:
		return RoleUser
	case *Workspace:
		if !b.Cut {
			return RoleUser
		}
	case *InquiryResponse:
		switch b.By {
		case ByUser:
			return RoleUser
		case ByModel:
			return RoleAssistant
		}
	case *TurnStopped:
		if b.By == ByUser {
			return RoleUser
		}
	}
	return RoleJP
}

// Opaque reports that this jp may show the event but must not act on it, and must not extend its
// conversation.
func (e *Event) Opaque() bool {
	return e.Version > Version || slices.ContainsFunc(e.Needs, func(name string) bool { return !knownNeeds[name] })
}

// Text is the event's text and whether its type has one.
func (e *Event) Text() (string, bool) {
	t := textOf(e.Body)
	if t == nil {
		return "", false
	}
	return t.get(), true
}

// TextBytes is the length of [Event.Text].
func (e *Event) TextBytes() int {
	switch b := e.Body.(type) { // most events, without a look at all fields
	case *ChatRequest:
		return len(b.Content)
	case *ChatResponse:
		return len(b.Text)
	case *ToolCallRequest:
		return len(b.Arguments)
	case *ToolCallResponse:
		return len(b.Content)
	}
	text, _ := e.Text()
	return len(text)
}

// SetText replaces the event's text. Journals use it to fill in a text that they store apart from the header.
func (e *Event) SetText(text string) {
	if t := textOf(e.Body); t != nil {
		t.set(text)
	}
}

// Missing is the number of bytes that the end of the event's text lacks here.
func (e *Event) Missing() int64 {
	p := e.Payload(PayloadText)
	if p == nil || !p.Absent {
		return 0
	}
	text, _ := e.Text()
	return max(0, p.Bytes-int64(len(text)))
}

// Payload finds a payload by name.
func (e *Event) Payload(name string) *Payload {
	for i := range e.Payloads {
		if e.Payloads[i].Name == name {
			return &e.Payloads[i]
		}
	}
	return nil
}

// Clone copies the event so that its body can be changed.
func (e *Event) Clone() *Event {
	c := *e
	c.Body = cloneBody(e.Body)
	return &c
}

// A Draft completes an event that is about to be added.
type Draft func(*Event)

// WithTree sets the files' tree, and the objects of it that may be new.
func WithTree(tree string, objects ...Object) Draft {
	return func(e *Event) { e.Tree, e.Objects = tree, objects }
}

// WithGit sets the repository's place.
func WithGit(g *Git) Draft { return func(e *Event) { e.Git = g } }

// WithSubject sets the line that git shows.
func WithSubject(s string) Draft { return func(e *Event) { e.Subject = s } }

// WithModel sets the model that said it, if it is another than the one in force.
func WithModel(model string) Draft { return func(e *Event) { e.Model = model } }

// WithProvider sets a model's opaque state.
func WithProvider(state json.RawMessage) Draft { return func(e *Event) { e.Provider = state } }

// WithPayload adds content that is kept beside the message.
func WithPayload(p Payload) Draft {
	return func(e *Event) { e.Payloads = append(e.Payloads, p) }
}
