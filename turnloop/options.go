package turnloop

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
)

// Options are everything that a turn needs, grouped by subject. Conversation.Journal, .ID and .Stream,
// Model.Provider and .Name, and Tools.Registry must be set.
type Options struct {
	Conversation ConversationOptions
	Model        ModelOptions
	Input        InputOptions
	Tools        ToolOptions
	Files        FileOptions
	Secrets      SecretOptions
	User         UserOptions
	Hooks        Hooks // optional
	Limits       Limits
	Observer     Observer // optional
	Verbose      bool     // the observer is also told of details
	Clock        Clock
}

// ConversationOptions name the conversation and its place in the journal.
type ConversationOptions struct {
	Journal conversation.Journal
	ID      conversation.ID
	Head    conversation.Head // "": the conversation is made, behind Base
	Base    string            // commit that a new conversation starts from, or ""
	Stream  *conversation.Stream
	JP      string // version, for the record
	// NewID names the conversation of a tool that works in one of its own. The
	// default makes an id that is most likely free.
	NewID func() (conversation.ID, error)
}

// ModelOptions name the model, its server, and the models that stand in for it.
type ModelOptions struct {
	Provider provider.Provider
	API      string // which provider's opaque state may be sent back
	Endpoint string // the server, without secrets; "" if irrelevant
	Account  string // code of the key, eight hex digits; "" if irrelevant
	Name     string // "provider/name"
	System   string // sent to the model before anything else
	// Known caches the common part of the conversation's requests. Nil: the turn has its own.
	Known *provider.CompleteTurns
	Retry provider.Retry
	// Window is the model's context window in tokens, 0 if unknown. Nil: unknown.
	Window func() int
	// MakeRoom returns compactions to record, so that the next request is shorter. The loop calls it before a
	// model call, and once more if the server refused one for its length. It returns nil if there is room, or
	// if nothing can be compacted. Nil: there is always room.
	MakeRoom func(ctx context.Context, r Room) ([]conversation.Body, error)
	// Fallback is the n-th model to ask if those before it fail, from 0 on, and nil behind the last one. An
	// error says why that one cannot be asked. Nil: there are none.
	Fallback func(ctx context.Context, n int) (*Candidate, error)
	// Replace asks a person for a model in place of one that does not exist, and returns nil if the person
	// names none. The conversation keeps it. Nil: there is no person.
	Replace func(ctx context.Context, cause error) (*Candidate, error)
}

// InputOptions are the texts for the model beside the request and the results.
type InputOptions struct {
	// Environment tells the model about the place where jp runs. The loop sends it only if it is new to the
	// model.
	Environment string
	// Queued are messages of the user that wait for the next boundary: the loop records them before it asks
	// the model, and the Observer learns of it. Optional.
	Queued func() []string
	// More are those that wait when the turn would end with an answer; the turn goes on with them. Nil: the turn ends.
	More func() []string
	// Touched returns the instructions of folders whose files a tool names or the request has attached, to be
	// given with its result, whose event will have the seq. It returns nil if the model knows
	// them all.
	Touched func(ctx context.Context, events []*conversation.Event, paths []string, seq int) *conversation.Instructions
}

// ToolOptions are the tools, and the lock of a running one.
//
// The order of locks: a call that changes files takes Files.Hold and then its Lock, asks Orphaned with both held, and
// gives them back in reverse order. A call that only reads takes no Hold. A delegate keeps its Lock while the tools of
// its own conversation take Hold, one by one.
type ToolOptions struct {
	Registry *tool.Registry
	Lock     func(seq int) (f *os.File, done func(), err error) // held while a tool lives; optional
	// Orphaned reports whether a tool of another run, whose jp has ended, may still change files. Nil: never.
	Orphaned func() bool
	// Mentioned are the files that a call seems to name, for a tool that does not tell its files. Optional.
	Mentioned func(arguments json.RawMessage) []string
}

// FileOptions are how a turn sees and changes the working tree.
type FileOptions struct {
	Workspace Workspace                                         // optional
	Hold      func(context.Context) (release func(), err error) // the right to change files; optional
	// Digest identifies the content of a file, "" if the file is absent. It is false for a folder. Nil:
	// changes of untracked files leave a permission valid.
	Digest func(path string) (digest string, ok bool)
	// ListUntracked returns a folder and the files below it with their states, nil if it is no folder. ok is
	// false if there are more than most. Nil: changes in folders leave a permission valid.
	ListUntracked func(folder string, most int) (files []tool.NamedFile, ok bool)
	// NoCopy lists the present files that could not be brought back. Nil: unknown.
	NoCopy func() []UncopiedFile
	// BackupRequired keeps a command that is known to destroy files from running without copies of untracked ones.
	BackupRequired bool
}

// An UncopiedFile is a file without a copy or, with a slash at its end, a folder.
type UncopiedFile struct {
	Path  string
	Shown string // for a person, with the size
}

// SecretOptions replace secrets by placeholders, and placeholders by secrets.
type SecretOptions struct {
	// Restore replaces placeholders by the values of secrets, for the arguments of a tool only. For an
	// unknown value it fails with its name, and the tool does not run. Nil: there are no placeholders.
	Restore func(value json.RawMessage) (json.RawMessage, error)
	// Placeholders are those in a value. A tool that hands its calls to another program does not run with
	// any. Optional.
	Placeholders func(value json.RawMessage) []string
	// RedactOutput replaces secrets in the whole output of a tool, before jp cuts it. Optional.
	RedactOutput func(text string) string
	// Redacts reports whether jp would record a placeholder in the place of a text under this name. Nil:
	// never.
	Redacts func(name, text string) bool
	// Redact replaces secrets in a text that the observer shows and that is never recorded. It is called from
	// any goroutine. Optional.
	Redact func(text string) string
}

// UserOptions are the decisions of the user, before a turn and in it.
type UserOptions struct {
	Prompter Prompter     // nil if no user can be asked
	Policy   Policy       // for an absent user; default PolicyDefer
	Grant    func() Grant // the rules in force; optional
	Unknown  Resolver     // nil: unknown outcomes are reported to the model
	// Restrict is the user's present restriction, beyond that of the turn's start. It holds for each call
	// that has not begun. Optional.
	Restrict func() Restriction
	// Review asks a person whether the turn goes on after a tool changed files that
	// decide what git runs. An error, or the end of ctx, leaves the question open. Nil:
	// the turn ends without a question.
	Review func(ctx context.Context, changed *ControlFilesError) (goOn bool, err error)
	// GoOn asks a person whether the turn goes on with a model that repeats itself. A Command
	// as the error is done, and any other error leaves the question open. Nil: the turn ends
	// without a question.
	GoOn func(ctx context.Context, again *Repeating) (goOn bool, err error)
}

// A Clock is the time and the chance of a turn.
type Clock struct {
	Now    func() time.Time                           // default time.Now; called from several goroutines
	Random func() float64                             // default math/rand
	Wait   func(context.Context, time.Duration) error // default a timer
}

// A Restriction is what the user forbids beyond the configuration and the start of a turn.
type Restriction struct {
	None      bool // no call runs
	ReadsOnly bool // calls of tools that may change something do not run
	Asks      bool // calls approved in advance are asked about
	Less      bool // a rule of a mode no longer counts, also for calls that it has allowed and that have not begun
}

func (o *Options) restriction() Restriction {
	if o.User.Restrict == nil {
		return Restriction{}
	}
	return o.User.Restrict()
}

// A Room is the input of the decision about a compaction.
type Room struct {
	Events  []*conversation.Event
	Request provider.Options // of which a request of these events is made
	Refused error            // why the server refused the last one; nil before it is asked
	// Asking is called before a model is asked for a summary. It gives a context that the user can
	// end, and a function to call afterwards.
	Asking func(context.Context) (context.Context, func())
}

// A Resolver decides the outcome of a call that started earlier and has no response.
type Resolver func(ctx context.Context, call *conversation.ToolCall) (Resolution, error)

// A Resolution is the decision about a call of unknown outcome.
type Resolution struct {
	Again  bool   // it is run again
	Text   string // else: the message to the model
	ByUser bool   // the text is the result, as the user knows it; else it is an error
}

// A Candidate is a model that can be asked in place of the turn's.
type Candidate struct {
	Provider                      provider.Provider
	API, Endpoint, Account, Model string // as in [Options]
	Window                        int    // tokens that it can read; 0: unknown
	// MakeRoom is that of [Options] for this model's context window.
	MakeRoom func(ctx context.Context, r Room) ([]conversation.Body, error)
}
