package agent

import (
	"context"
	"errors"
	"io"

	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/tool/mcp"
	"jp/turnloop"
	"jp/undo"
)

// A Frontend lets a user follow a run of jp, and decide.
type Frontend interface {
	// Output shows the run.
	Output(o OutputOptions) Output
	// Child shows the output of a delegate, within the output of its parent.
	Child(id conversation.ID) Output
	// Configured is called when the configuration of a conversation is read.
	Configured(style config.Style)
	// Running lets the user interrupt a turn.
	Running(turn Interruptible, transient bool)
	// Over ends the work of Running, and returns when all of it has ended.
	Over()
	// OnSuspend sets a function to call before the process is stopped, if it is not nil.
	OnSuspend(flush func())
	// Abort ends the run as a signal does.
	Abort(signal string)

	// User is the person who can be asked, nil without one.
	User() User
	// CanWrite reports whether the user could write the text of a question, and CanEdit
	// whether an editor can be opened for it.
	CanWrite() bool
	CanEdit() bool
	// Edit opens a file in the user's editor, and returns when that has ended. The editor works in dir.
	Edit(ctx context.Context, dir, path string) error
	// Reads reports whether standard input has a text besides the words of the command line.
	Reads() bool
	// Read reads that text.
	Read(ctx context.Context) (string, error)
	// Input is standard input itself.
	Input() io.Reader
	// Attaches reports whether Attach has a place to show another process.
	Attaches() bool
	// Attach shows the run of another process until the user leaves it.
	Attach(ctx context.Context, id conversation.ID) error
}

// A User is the person at a front end, who answers and decides.
type User interface {
	// Ask puts a question of a turn.
	Ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error)
	// Decide lets the user choose. Its error is ErrUserLeft, ErrUserSilent or ErrUserGone if they do not, and
	// the cause of ctx if that ends.
	Decide(ctx context.Context, d UserDecision) (key rune, err error)
	// Line reads one line for a conversation, with the errors of Decide.
	Line(ctx context.Context, about conversation.ID, prompt string) (string, error)
	// Tell shows a line.
	Tell(line string)
	// Approve shows the offers of an MCP server, and lets the user approve them.
	Approve(ctx context.Context, s *mcp.Server) error
	// Close releases the user.
	Close()
}

// How a user ends a decision without choosing.
var (
	ErrUserLeft   = errors.New("the user left")         // as with Ctrl+C
	ErrUserSilent = errors.New("the user said nothing") // as with Ctrl+D
	ErrUserGone   = errors.New("the user's terminal is gone")
)

// A UserDecision is one of jp's own questions, such as that about an interrupted turn.
type UserDecision struct {
	Text    string // all that the user has to know, in whole lines
	Choices []UserChoice
	List    bool   // each choice has a line of its own
	Enter   rune   // the choice of the Enter key; 0: Enter decides nothing
	Help    string // the text of "?", in whole lines, or ""
	Editor  rune   // the choice that needs [Frontend.Edit], or 0
	Line    rune   // the choice behind which [User.Line] is called, or 0
	Risky   rune   // the choice that only a person may take, or 0
}

// A UserChoice is one answer to it.
type UserChoice struct {
	Key  rune
	Text string
}

// An Interruptible turn takes commands of the user while it runs.
type Interruptible interface {
	Running() bool
	Doing() (turnloop.Activity, bool)
	Interrupt(turnloop.UserCommand) bool
}

// OutputOptions say how a run is shown.
type OutputOptions struct {
	Beside  bool // the turn is beside the user's conversation
	Partial bool // also text before it is durable
}

// An Output shows a running turn, and its result.
type Output interface {
	turnloop.Observer
	// Begin is called before the turn.
	Begin(r RunInfo)
	// Resumed is called before a turn is resumed, with the findings in words and the turn's recorded events.
	Resumed(words string, tail *conversation.IncompleteTurn)
	// Detached is called when the turn goes on in the background.
	Detached(d DetachedJSON)
	// Ended is called once with the result of the run.
	Ended(e Ending)
}

// A DetachedJSON says that a conversation goes on in the background.
type DetachedJSON struct {
	Type         string          `json:"type"`
	Conversation conversation.ID `json:"conversation"`
	PID          int             `json:"pid"`
	Log          string          `json:"log"`
}

// A RunInfo has the facts about a run before its turn.
type RunInfo struct {
	ID         conversation.ID
	Fresh      bool             // the conversation is still to be made
	Recorded   bool             // the turn is kept
	Detach     bool             // it goes on in the background
	Archived   bool             // the conversation is
	Approves   bool             // the user has approved its tools on the command line
	ForkedFrom *repo.ForkedFrom // nil unless it is a fork of this run
	Model      string           // PROVIDER/NAME
	Dir        string           // of the working tree
	Turn       int              // the resumed one; 0: a new one
	// Instructions are the names of the files of instructions that the model works by. It is
	// nil for a run of another process.
	Instructions func() []string
	Approved     func() string // in words, which of its tool runs were approved in advance, or ""
	// snapshots reports whether jp keeps snapshots of the files, and changed are the files that
	// differ between two of them. Both are nil for a run of another process.
	Snapshots func() bool
	Changed   func(before, after string) ([]FileChange, error)
	// Outlook is the effect that jp undo would have after a turn whose tools changed files outside of all
	// snapshots. It is nil, or gives nil, if snapshots have all of them.
	Outlook func(turn int, unknown bool) (*undo.Outlook, error)
}

// A FileChange has a file's changed lines; -1 if its content is binary.
type FileChange struct {
	Path           string
	Added, Deleted int
}

// Known is the conversation's id, "" if it stays unknown to other processes.
func (r RunInfo) Known() conversation.ID {
	if !r.Recorded && r.Fresh {
		return ""
	}
	return r.ID
}

// An Ending is the result of a run.
type Ending struct {
	Outcome turnloop.Outcome
	Err     error
	ID      conversation.ID // "" if the run has no conversation
	Discard bool            // the run only took a turn back
	Tokens  int             // of the model's context that the conversation uses
	Window  int             // tokens of that context; 0: unknown
}

// Transient reports whether the turn is left unrecorded.
func (r RunInfo) Transient() bool { return r.ID != "" && !r.Recorded }
