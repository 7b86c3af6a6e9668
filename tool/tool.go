// Package tool is what a tool is to jp: a name, a schema for its arguments, what
// it may do, and how to run it once.
//
// A tool decides nothing about permission: whether it may run, whether its
// result is delivered and who answers its questions is decided by the caller
// from the [Definition]. A tool that needs an answer returns it as a question
// and is run again from the start with the answers so far; it must ask before
// it changes anything.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"jp/conversation"
)

// A Tool can be run by the model.
type Tool interface {
	// Definition says what the tool is: one value that does not change while jp
	// runs.
	Definition() *Definition
	// Run runs the tool once. What goes wrong with the tool's work is a Result
	// with IsError; an error means that the tool could not be run at all or that
	// ctx ended. The call's arguments have passed the schema.
	Run(ctx context.Context, call Call) (Result, error)
}

// A Preparer is a tool that may have to get ready before it runs: it starts a
// program that serves many calls.
type Preparer interface {
	// Prepare makes the tool ready. It has a limit of its own; its time does not
	// count as the run's. An error means that the call was not run.
	Prepare(ctx context.Context) error
}

// ErrNotRun is part of an error of Run where the call did nothing: it was not sent
// to the code that would have done the work.
var ErrNotRun = errors.New("the call was not run")

// A Definition is what is known of a tool before it runs.
type Definition struct {
	Name        string          // the registry's name
	Description string          // for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object
	Effect      Effect
	Idempotent  bool // running it twice is as good as once
	// Resumes says that a run works in a conversation of its own, and that running
	// the tool again goes on with it. Its outcome is never unknown, no limit of
	// time ends it, and an error of Run leaves the call open, to be gone on with.
	Resumes   bool
	Exclusive bool // only a person may allow a run
	// Timeout is the time that one run may take, 0 for what the caller says.
	Timeout time.Duration
	// Timed says that the tool ends its runs in time by itself, and returns what
	// there is by then. The caller then sets no limit.
	Timed bool
	// Command is the program that each run starts, with its arguments; nil where
	// none is, or each call names one. Argv says that calls do, by an argument of
	// that name: a list of words.
	Command []string
	Argv    bool
	// Destination is whom each call is handed to, in words: a server, which may send it
	// anywhere. No secret is put in the place of its placeholder there. "" is nobody: the tool
	// works on this machine, with what is here.
	Destination string
	// Instead says, without a full stop, what to do where a call is not run for a placeholder.
	Instead string
	// Approval is a code of all that the user approved of the tool and of the server behind it. "" is a tool that needs no
	// approval.
	Approval string
	// Offline says that programs of the tool have no network, unless [Call.Network] is set.
	Offline   bool
	Run       RunMode
	Result    RunMode               // whether the result is delivered
	Questions map[string]QuestionTo // who answers the tool's questions, by id
	// Subject is the part of the arguments that says most, on one line:
	// a path, an argv, a pattern. Nil: nothing.
	Subject func(arguments json.RawMessage) string
	// Rule is the user's rule by which a call needs no question, "" if there is none, by the events so far. It
	// holds for an exclusive tool, too. Nil: there is never one.
	Rule func(arguments json.RawMessage, events []*conversation.Event) string
	// OnlyReads reports whether a call needs no question because it only reads, and is kept from all else if
	// [Call.OnlyReads] is set. Nil: no call does.
	OnlyReads func(arguments json.RawMessage) bool
	// Warn is what a person who is asked about a call should know, "" for nothing, by the events so far. Nil:
	// there is never anything.
	Warn func(arguments json.RawMessage, events []*conversation.Event) string
	// Foresee is the yes-or-no question of its own that a call would ask now, and that
	// a person who allows the run answers with yes. Nil: that is not known; ok is false where
	// it would ask none.
	Foresee func(arguments json.RawMessage) (f Foreseen, ok bool)
	// Fault is why a call would fail now, before it changed anything: a person is not asked
	// about such a call. The error is for the model. Nil: that is not known.
	Fault func(arguments json.RawMessage) error
	// Paths are the files that a call names, relative to the workspace, if the
	// tool touches no others; ok is false where that is not known.
	Paths func(arguments json.RawMessage) (paths []string, ok bool)
	// About are the files that a call of a conversation is about, as they are now: what a
	// command names, what a commit takes. Who allows the call allows it for their state.
	// Nil: those of Paths.
	About func(arguments json.RawMessage, in conversation.ID) []NamedFile

	schema func() (*schema, error) // of Parameters, once; nil until a registry holds the tool
}

// A NamedFile is one that a call is about. Its path is relative to the workspace, or
// absolute where it lies outside.
type NamedFile struct {
	Path  string
	State string // "": its content
}

// An Effect is what a run may do to the world.
type Effect int

// The effects. Whatever may change anything is Changes.
const (
	Changes Effect = iota
	Reads
)

// A RunMode is what happens before a tool runs, or before its result is
// delivered.
type RunMode string

// The modes.
const (
	Ask        RunMode = "ask"
	Unattended RunMode = "unattended"
	Edit       RunMode = "edit" // as Ask, with an editor on the arguments or the result
	Skip       RunMode = "skip" // never
)

// A QuestionTo says who answers one of a tool's own questions.
type QuestionTo struct {
	Assistant bool            // the model, not the user
	Answer    json.RawMessage // a fixed answer; nobody is asked
	Exclusive bool            // only a person may answer
}

// Foreseen is a question that need not be asked apart from whether the tool may run.
type Foreseen struct {
	ID    string // the question's
	Words string // what the person who is asked for permission is told: a sentence
}

// A Call is one run of a tool.
type Call struct {
	Conversation conversation.ID
	Seq          int                        // of the request
	Arguments    json.RawMessage            // a JSON object
	Answers      map[string]json.RawMessage // answers to the tool's questions, by question id
	Attempt      int                        // from 1
	Child        conversation.ID            // of a tool that resumes: the conversation that it works in, the same in each attempt
	OnlyReads    bool                       // it was allowed for that alone: a run that does anything else is refused
	Network      bool                       // a person lets its program use the network, this once
	Budget       int                        // tokens that the turn may still use, at least 1; 0: any number
	Lock         *os.File                   // inherited by processes of the tool: held while one of them lives; may be nil
	Started      func(pgid int)             // told the process group of a tool that is a process; may be nil
	Output       io.Writer                  // told what the tool's program writes, as it comes; from any goroutine; may be nil
	Progress     func(text string)          // told how far the run is, on one line of clean text; from any goroutine; may be nil
	Room         int                        // bytes of a result that the model is sent; 0: not known
	// Event reads an event of the conversation, as far as the model may read it. Nil: there
	// is none to read.
	Event func(ctx context.Context, seq int) (EventText, error)
}

// Plan is the name of the tool by which a model writes down its steps. What it said last is
// the plan in force.
const Plan = "plan"

// EventRead is the name of the tool that reads an event.
const EventRead = "event_read"

// An EventText is the whole text of an event.
type EventText struct {
	Of   string // what it is, in words: "result of shell_run"
	Text string
}

// A Result is what a run came to.
type Result struct {
	Content     []byte // any bytes; cut to a limit by the caller
	IsError     bool
	Effect      string // for one line: "+7 -3", "16 lines", "exit 1, 4 lines"; "" = derived from Content
	Question    *Question
	Refused     string // why a run of [Call.OnlyReads] does not count: a person has to allow another one; "": it does
	Attachments []Attachment
	// Truncated is set by a tool that had to cut its output itself.
	Truncated *conversation.Truncated
	// WrittenFiles are the files that the tool wrote or removed, relative to the
	// workspace, where it knows that it touched no others; nil = not known.
	WrittenFiles []string
	// Found are the files of the workspace that the result names, beside those of the call.
	Found []string
	// Records are jp's own events that go with the result. They become durable
	// together with it.
	Records []conversation.Body
	// Usage is what models took that the tool asked, nil if it asked none.
	Usage *conversation.Usage
}

// A Question is asked by a tool in the place of a result.
type Question struct {
	ID string
	conversation.Question
	Detail string // what helps to answer: a diff, sizes; shown on demand
	// Optional says that the result counts without the question, too. It is asked once in a turn, if a person is there and
	// the run changed no file.
	Optional bool
}

// QuestionNetwork is the id of the question whether a program that failed runs again with the network.
const QuestionNetwork = "network"

// An Attachment is a file or an image that goes with a result.
type Attachment struct {
	Name      string
	MediaType string
	Data      []byte
}
