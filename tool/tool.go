// Package tool defines a tool: a name, a schema for its arguments, its possible effects, and how to run it
// once.
//
// The caller decides all permissions from the [Definition]: whether the tool may run, whether its result is
// delivered and who answers its questions. A tool that needs an answer returns it as a question and is run
// again from the start with the answers so far; it must ask before it changes anything.
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
	// Definition describes the tool. It is one value that stays the same while jp runs.
	Definition() *Definition
	// Run runs the tool once. A failure of the tool's work is a Result with IsError. An error means that jp
	// could not run the tool, or that ctx ended. The call's arguments have passed the schema.
	Run(ctx context.Context, call Call) (Result, error)
}

// A Preparer is a tool that may have to get ready before it runs: it starts a
// program that serves many calls.
type Preparer interface {
	// Prepare makes the tool ready. It has its own time limit, apart from that of the run. An error means
	// that jp did not run the call.
	Prepare(ctx context.Context) error
}

// ErrNotRun is part of an error of Run if the call had no effect, since jp did not send it to the code that
// does the work.
var ErrNotRun = errors.New("the call was not run")

// A Definition describes a tool before it runs.
type Definition struct {
	Name        string          // the registry's name
	Description string          // for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object
	Effect      Effect
	Idempotent  bool // running it twice is as good as once
	// Resumes says that a run works in a conversation of its own, and that running the tool again resumes it.
	// Its outcome is never unknown, it has no time limit, and an error of Run leaves the call open, to be
	// resumed.
	Resumes   bool
	Exclusive bool // only a person may allow a run
	// Timeout is the time that one run may take, 0 for the caller's limit.
	Timeout time.Duration
	// Timed means that the tool limits its own runs, and returns the output so far. The caller then sets no
	// limit.
	Timed bool
	// Command is the program that each run starts, with its arguments; nil if there is none, or each call
	// names one. Argv means that each call names one, in an argument of that name: a list of words.
	Command []string
	Argv    bool
	// Destination names the receiver of each call: a server, which may send it anywhere. The placeholders of
	// secrets stay in such a call. If it is "", the tool works on this machine, with local data.
	Destination string
	// Instead says, without a full stop, what to do if jp refuses a call for its placeholder.
	Instead string
	// Approval is a code of all that the user approved of the tool and of the server behind it. It is "" if
	// the tool needs no approval.
	Approval string
	// Offline means that programs of the tool run without network, unless [Call.Network] is set.
	Offline   bool
	Run       RunMode
	Result    RunMode               // whether the result is delivered
	Questions map[string]QuestionTo // recipients of the tool's questions, by id
	// Subject is the part of the arguments with the most information, on one line: a path, an argv, a
	// pattern. Nil: there is none.
	Subject func(arguments json.RawMessage) string
	// Rule is the user's rule that allows a call without a question, "" if there is none, by the events so
	// far. It holds for an exclusive tool, too. Nil: there are no rules.
	Rule func(arguments json.RawMessage, events []*conversation.Event) string
	// OnlyReads reports whether a call needs no question because it only reads, and is kept from all else if
	// [Call.OnlyReads] is set. Nil: every call needs one.
	OnlyReads func(arguments json.RawMessage) bool
	// Warn is a warning for the person who is asked about a call, by the events so far. It is "" if there is
	// none. Nil: there are no warnings.
	Warn func(arguments json.RawMessage, events []*conversation.Event) string
	// Foresee is the yes-or-no question of its own that a call would ask now, and that a person who allows
	// the run answers with yes. Nil: unknown. ok is false if it would ask none.
	Foresee func(arguments json.RawMessage) (f Foreseen, ok bool)
	// Fault is why a call would fail now, before it changed anything. jp then skips the question to a person.
	// The error is for the model. Nil: unknown.
	Fault func(arguments json.RawMessage) error
	// Paths are the files that a call names, relative to the workspace, if the tool touches no others; ok is
	// false if that is unknown.
	Paths func(arguments json.RawMessage) (paths []string, ok bool)
	// About are the files that a call of a conversation is about, as they are now: the files that a command
	// names or a commit takes. A permission for the call holds for their state. Nil: those of Paths.
	About func(arguments json.RawMessage, in conversation.ID) []NamedFile

	schema func() (*schema, error) // of Parameters, once; nil until a registry holds the tool
}

// A NamedFile is one that a call is about. Its path is relative to the workspace, or absolute if it lies
// outside.
type NamedFile struct {
	Path  string
	State string // "": its content
}

// An Effect is the possible effect of a run on the world.
type Effect int

// The effects. A tool that may change anything has Changes.
const (
	Changes Effect = iota
	Reads
)

// A RunMode says how jp proceeds before a tool runs, or before its result is delivered.
type RunMode string

// The modes.
const (
	Ask        RunMode = "ask"
	Unattended RunMode = "unattended"
	Edit       RunMode = "edit" // as Ask, with an editor on the arguments or the result
	Skip       RunMode = "skip" // never
)

// A QuestionTo decides who answers one of a tool's own questions.
type QuestionTo struct {
	Assistant bool            // the model, not the user
	Answer    json.RawMessage // a fixed answer, given without asking
	Exclusive bool            // only a person may answer
}

// Foreseen is a question that is settled by the question whether the tool may run.
type Foreseen struct {
	ID    string // the question's
	Words string // a sentence for the person who is asked for permission
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
	Started      func(pgid int)             // receives the process group of a tool that is a process; may be nil
	Output       io.Writer                  // receives the output of the tool's program, as it comes; from any goroutine; may be nil
	Progress     func(text string)          // receives the progress, on one line of clean text; from any goroutine; may be nil
	Room         int                        // bytes of a result that the model is sent; 0: unknown
	// Event reads an event of the conversation, as far as the model may read it. Nil: there are none.
	Event func(ctx context.Context, seq int) (EventText, error)
}

// Plan is the name of the tool by which a model writes down its steps. Its last text is the plan in force.
const Plan = "plan"

// EventRead is the name of the tool that reads an event.
const EventRead = "event_read"

// An EventText is the whole text of an event.
type EventText struct {
	Of   string // in words: "result of shell_run"
	Text string
}

// A Result is the outcome of a run.
type Result struct {
	Content     []byte // any bytes; cut to a limit by the caller
	IsError     bool
	Effect      string // for one line: "+7 -3", "16 lines", "exit 1, 4 lines"; "" = derived from Content
	Question    *Question
	Refused     string // why a run of [Call.OnlyReads] does not count: a person has to allow another one; "" if it does
	Attachments []Attachment
	// Truncated is set by a tool that had to cut its output itself.
	Truncated *conversation.Truncated
	// WrittenFiles are the files that the tool wrote or removed, relative to the workspace, if it knows that
	// it left all others alone; nil if unknown.
	WrittenFiles []string
	// Found are the files of the workspace that the result names, beside those of the call.
	Found []string
	// Records are jp's own events that go with the result. They become durable
	// together with it.
	Records []conversation.Body
	// Usage is the usage of the models that the tool called, nil if it called none.
	Usage *conversation.Usage
}

// A Question is asked by a tool in the place of a result.
type Question struct {
	ID string
	conversation.Question
	Detail string // a diff or sizes that help to answer; shown on demand
	// Optional means that the result counts without the question, too. It is asked once in a turn, if a
	// person is there and the run left all files as they were.
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
