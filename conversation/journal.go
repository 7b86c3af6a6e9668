package conversation

import (
	"context"
	"iter"
)

// A Head is the stored id of a conversation's newest event. It changes with
// every event, so it identifies all events that a writer has seen.
type Head string

// A Journal keeps conversations.
//
// Every method that writes returns only after the write is durable. It takes the expected head, and writes
// behind that head or fails with [ErrHeadMoved]. A group of events appears to readers as a whole. All methods
// may be called concurrently and from several processes.
type Journal interface {
	// Create starts a conversation with its first events, behind the commit base, which is optional. It fails
	// with ErrExists if the id is taken.
	Create(ctx context.Context, id ID, base string, events []*Event) (Head, error)
	// Append adds events, whose Seq goes on from the newest event's. On success
	// each of them has its Commit and Tree. A conversation that a newer jp wrote
	// to is refused with ErrNewer.
	Append(ctx context.Context, id ID, expect Head, events []*Event) (Head, error)
	// Head is the newest event's id, or ErrNotFound.
	Head(ctx context.Context, id ID) (Head, error)
	// Load reads a conversation up to a head, oldest event first, as copies that are the caller's. It fails
	// with ErrNotFound if that event does not exist. If the conversation is damaged, the events before the
	// damage come with the error.
	Load(ctx context.Context, at Head) ([]*Event, error)
	// Backward yields events from a head backwards, reading only as far as the caller does.
	Backward(ctx context.Context, at Head) iter.Seq2[*Event, error]
	// Info reads the state summary in a conversation's newest event.
	Info(ctx context.Context, id ID) (Info, error)
	// List reads the Info of all conversations of a scope, in any order. An unreadable one has its Err set.
	List(ctx context.Context, scope Scope) ([]Info, error)
	// Fork makes a new conversation that shares all events of from up to a head, and appends the origin,
	// which the caller has numbered. The source is "" if it was fetched and has no ref of its own.
	Fork(ctx context.Context, from ID, at Head, id ID, origin *Event) (Head, error)
	// Archive appends the record and moves the conversation out of the live ones, or with archived false
	// back, in one step. If it is there already, it fails with ErrNotFound.
	Archive(ctx context.Context, id ID, expect Head, record *Event, archived bool) (Head, error)
	// Delete removes a conversation.
	Delete(ctx context.Context, id ID, expect Head) error
	// Verify checks all that can be checked of a conversation.
	Verify(ctx context.Context, id ID) (Verdict, error)
	// Payload reads the content of a payload; ok is false if it is absent.
	Payload(ctx context.Context, p Payload) (data []byte, ok bool, err error)
}

// A Scope is which conversations a list holds.
type Scope string

// The scopes.
const (
	ScopeLive     Scope = "conversations"
	ScopeArchived Scope = "archive"
	ScopeRemotes  Scope = "remotes"
)

// An Info is the state of a conversation by its newest event alone.
type Info struct {
	ID      ID
	Remote  string // "" for a local ref
	Ref     string
	Head    Head
	Tip     *Event  // the newest event; a text that is long or not UTF-8 may be cut
	Summary Summary // trustworthy only if Tip.Signed
	Err     error   // why the conversation cannot be read
}

// A Verdict is the result of a check.
type Verdict struct {
	ID     ID
	Events int
	Absent int  // payloads that this repository lacks; they may be elsewhere
	Local  bool // see [Local]; of a damaged conversation, of the events before the damage
	// Standing is the reason why it may not act. Elsewhere is the other repository that it was written in.
	Standing  Standing
	Elsewhere string
	Problems  []Problem
}

// A Problem is one defect. Seq is -1 if unknown.
type Problem struct {
	Commit string
	Seq    int
	Text   string
}

// OK reports whether there are no problems.
func (v Verdict) OK() bool { return len(v.Problems) == 0 }
