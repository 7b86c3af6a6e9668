package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"jp/conversation"
	"jp/tool"
)

// ErrNoAnswer says that a question ended without an answer: end of file, a hang-up, a
// closed socket, a time-out. The question stays open.
var ErrNoAnswer = errors.New("the question was not answered")

// ErrElsewhere is the cause that ends the context of a question when another terminal answered it.
var ErrElsewhere = errors.New("answered elsewhere")

// A Prompter puts questions to people, one at a time. Its methods end when ctx
// does, with its cause.
type Prompter interface {
	// Present reports whether a user can be asked now.
	Present() bool
	// Ask returns the answer of the user. It fails with ErrNoAnswer if the user is absent or leaves.
	Ask(ctx context.Context, q Question) (Answer, error)
	// Await waits until a user attaches and answers. It fails with ErrNoAnswer if that
	// takes too long.
	Await(ctx context.Context, q Question) (Answer, error)
}

// A Question is everything that a person needs to answer.
type Question struct {
	Inquiry   *conversation.Inquiry
	Tool      *tool.Definition
	Arguments json.RawMessage
	Hooked    bool   // a hook changed the model's arguments
	Subject   string // the part of the arguments that says most
	Warning   string // shown with the question; optional
	Detail    string // shown on demand
	Position  int    // of the call in its batch, from 1
	Batch     int    // size of the batch
	Result    string // for a delivery: the result to deliver
	// Approved are the calls that a person has allowed and that run after the last question of their batch.
	Approved []*conversation.ToolCall
	// Also are further calls of the same answer of the model. jp would ask about each. The words of the command say all
	// that such a call does.
	Also []*conversation.ToolCall
}

// An Answer is a person's answer.
type Answer struct {
	Outcome   conversation.Outcome
	Value     json.RawMessage
	Reason    string
	Arguments json.RawMessage // edited
	Remember  bool
	Also      []*conversation.ToolCall // of those of the question: a yes holds for these, too
}

// A Workspace is the files that tools work on.
type Workspace interface {
	// Look compares the files with a tree.
	Look(ctx context.Context, at SnapshotRequest) (SnapshotResult, error)
}

// A SnapshotRequest says which files to record, and against which tree.
type SnapshotRequest struct {
	Tree  string // the tree of the newest event
	Since any    // the Mark of the snapshot before a tool; nil: tracked files only
	// Lost is the start of a tool that has no result. Untracked files that changed
	// since may be its work. Zero if there is no such tool.
	Lost  time.Time
	Only  []string // the only files that can have moved; nil: any
	Named []string // files that the tool was told to write
	Any   bool     // a tool is about to run that may write to any file
	// Destroys says that it is known to delete or overwrite files.
	Destroys bool
	// Control asks for the control files of git, which any look before such a tool has.
	Control bool
	// Call is the call that is about to run, that ran, or, with Lost, that may have run; optional.
	Call *CallPlace
	// Event is the seq of the event that will record the changes since a lost call.
	Event int
}

// A CallPlace is the place of a call's request in the record.
type CallPlace struct {
	Conversation conversation.ID
	Turn, Seq    int
}

// A SnapshotResult is the state of the files, and how it differs from the tree asked for.
type SnapshotResult struct {
	Tree    string
	Objects []conversation.Object
	Changes []conversation.FileChange
	Stat    []conversation.PathStat
	LeftOut []conversation.SkippedPath
	Git     conversation.Git
	Mark    any // for the snapshot after a tool
	// Unrecorded lists changed files whose previous content was not captured: first
	// tracked files that differed from the snapshot, then new files.
	Unrecorded []string
	// Obeyed are files that say what git runs, and that differ from those at the Mark.
	Obeyed []string
	Refs   string // how refs differ from those at the Mark, in one line
	// Control are the present control files, each with a code of its content. Empty if not asked for or not
	// watched.
	Control []conversation.NamedFile
	// NoBackup is the reason why files outside of the tree have no copy. It is "" if there is one, or if none
	// is wanted.
	NoBackup string
	// LostUnseen are files outside of the tree that changed since the lost call, by the backups.
	LostUnseen []string
}

// An Observer receives the events of a turn. Calls come one at a time, and must return soon.
type Observer interface {
	// Recorded is called after the events are durable.
	Recorded(events []*conversation.Event)
	// Streamed gets text that is not durable yet.
	Streamed(Delta)
	// Noticed is called with a line for the user, such as a retry.
	Noticed(text string)
	// Working gets the activities of the loop that take time, at most ten times a second. The call comes from
	// another goroutine, also while one of the other methods runs, and must not block. Short activities are
	// left out. The end of the turn ends all of them.
	Working(Activity)
}

// A Delta is text that the model is writing.
type Delta struct {
	Seq  int // of the event that it will become
	Call int
	Part conversation.Part
	At   int // byte offset in the part
	Text string
}

// nopObserver ignores everything.
type nopObserver struct{}

func (nopObserver) Recorded([]*conversation.Event) {}
func (nopObserver) Streamed(Delta)                 {}
func (nopObserver) Noticed(string)                 {}
func (nopObserver) Working(Activity)               {}
