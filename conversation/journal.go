package conversation

import (
	"context"
	"iter"
)

// A Head is the stored id of a conversation's newest event. It changes with
// every event, so it says exactly what a writer has seen.
type Head string

// A Journal keeps conversations.
//
// Every method that writes returns only after what it wrote is durable, and
// names the head that it expects: it writes behind that head or, with
// [ErrHeadMoved], not at all. Readers never see half a group of events.
// All methods may be called concurrently and from several processes.
type Journal interface {
	// Create starts a conversation with its first events, behind the commit
	// base ("" for none). It fails with ErrExists if the id is taken.
	Create(ctx context.Context, id ID, base string, events []*Event) (Head, error)
	// Append adds events, whose Seq goes on from the newest event's. On success
	// each of them has its Commit and Tree. A conversation that a newer jp wrote
	// to is refused with ErrNewer.
	Append(ctx context.Context, id ID, expect Head, events []*Event) (Head, error)
	// Head is the newest event's id, or ErrNotFound.
	Head(ctx context.Context, id ID) (Head, error)
	// Load reads a conversation up to a head, oldest event first, as copies that
	// are the caller's. It fails with ErrNotFound where there is no such event;
	// where it is damaged, the events before the damage come with the error.
	Load(ctx context.Context, at Head) ([]*Event, error)
	// Backward yields events from a head backwards, reading no more than is asked
	// for.
	Backward(ctx context.Context, at Head) iter.Seq2[*Event, error]
	// Info reads what a conversation's newest event says of the whole.
	Info(ctx context.Context, id ID) (Info, error)
	// List reads the Info of all conversations of a scope, in no order. One
	// that cannot be read has its Err set.
	List(ctx context.Context, scope Scope) ([]Info, error)
	// Fork makes a new conversation that shares all events of from up to a head,
	// and appends the origin, which the caller has numbered. A source that no ref
	// of ours names, because it was fetched, is "".
	Fork(ctx context.Context, from ID, at Head, id ID, origin *Event) (Head, error)
	// Archive appends the record and moves the conversation out of the live
	// ones, or with archived false back, in one step. Where it is there already
	// it fails with ErrNotFound.
	Archive(ctx context.Context, id ID, expect Head, record *Event, archived bool) (Head, error)
	// Delete removes a conversation.
	Delete(ctx context.Context, id ID, expect Head) error
	// Verify checks all that can be checked of a conversation.
	Verify(ctx context.Context, id ID) (Verdict, error)
	// Payload reads the content of a payload; ok is false where it is absent.
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

// An Info is what is known of a conversation from its newest event alone.
type Info struct {
	ID      ID
	Remote  string // "" for a local ref
	Ref     string
	Head    Head
	Tip     *Event  // the newest event; a long text, or one that is not UTF-8, may be cut
	Summary Summary // trustworthy only where Tip.Signed
	Err     error   // why the conversation cannot be read
}

// A Verdict is what a check found.
type Verdict struct {
	ID     ID
	Events int
	Absent int  // payloads that are not here, which is no problem: they may be elsewhere
	Local  bool // see [Local]; of a damaged conversation, of the events before the damage
	// Standing is why it may not act; Elsewhere the other repository that it was written in.
	Standing  Standing
	Elsewhere string
	Problems  []Problem
}

// A Problem is one thing that is wrong. Seq is -1 where it is not known.
type Problem struct {
	Commit string
	Seq    int
	Text   string
}

// OK reports whether nothing is wrong.
func (v Verdict) OK() bool { return len(v.Problems) == 0 }
