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

// A Frontend is where a user follows a run of jp, and decides.
type Frontend interface {
	// Output shows the run.
	Output(o OutputOptions) Output
	// Child shows what a delegate does, among what its parent shows.
	Child(id conversation.ID) Output
	// Configured is called when the configuration of a conversation is read.
	Configured(style config.Style)
	// Running lets the user interrupt a turn.
	Running(turn Interruptible, transient bool)
	// Over ends what Running began, and returns when nothing of it goes on.
	Over()
	// OnSuspend is called before the process is stopped, if it is not nil.
	OnSuspend(flush func())
	// Abort ends the run as a signal does.
	Abort(signal string)

	// User is the person who can be asked, nil without one.
	User() User
	// CanWrite reports whether the user could write the text of a question, and CanEdit
	// whether an editor can be opened for it.
	CanWrite() bool
	CanEdit() bool
	// Edit opens a file in the user's editor, and returns when that has ended. dir is where
	// the editor works.
	Edit(ctx context.Context, dir, path string) error
	// Reads reports whether a text comes from standard input beside the words that were given.
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
	// Decide lets the user choose. It is an ErrUserLeft, ErrUserSilent or ErrUserGone where they
	// do not, and the cause of ctx where that ends.
	Decide(ctx context.Context, d UserDecision) (key rune, err error)
	// Line reads one line for a conversation, with the errors of Decide.
	Line(ctx context.Context, about conversation.ID, prompt string) (string, error)
	// Tell shows a line.
	Tell(line string)
	// Approve shows what an MCP server offers, and lets the user approve it.
	Approve(ctx context.Context, s *mcp.Server) error
	// Close lets go of the user.
	Close()
}

// How a user ends a decision without choosing.
var (
	ErrUserLeft   = errors.New("the user left")         // as with Ctrl+C
	ErrUserSilent = errors.New("the user said nothing") // as with Ctrl+D
	ErrUserGone   = errors.New("the user's terminal is gone")
)

// A UserDecision is a question of jp itself, such as what becomes of an interrupted turn.
type UserDecision struct {
	Text    string // what the user has to know, in whole lines
	Choices []UserChoice
	List    bool   // each choice stands on a line of its own
	Enter   rune   // the choice that Enter stands for; 0: Enter decides nothing
	Help    string // what "?" shows, in whole lines; "" for none
	Editor  rune   // the choice that needs [Frontend.Edit]; 0: none does
	Line    rune   // the choice behind which [User.Line] is called; 0: none is
	Risky   rune   // the choice that no front end may take by itself; 0: none is
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
	Partial bool // also text that is not durable yet
}

// An Output shows a turn while it runs, and what it came to.
type Output interface {
	turnloop.Observer
	// Begin is called before the turn.
	Begin(r RunInfo)
	// Resumed is called before a turn is gone on with, with what was found in words and
	// the events that are there of it.
	Resumed(words string, tail *conversation.IncompleteTurn)
	// Detached is called when the turn goes on in the background.
	Detached(d DetachedJSON)
	// Ended is called once with what the run came to.
	Ended(e Ending)
}

// A DetachedJSON says that a conversation goes on in the background.
type DetachedJSON struct {
	Type         string          `json:"type"`
	Conversation conversation.ID `json:"conversation"`
	PID          int             `json:"pid"`
	Log          string          `json:"log"`
}

// A RunInfo is what is known of a run before its turn.
type RunInfo struct {
	ID         conversation.ID
	Fresh      bool             // the conversation does not exist yet
	Recorded   bool             // else nothing of the turn is kept
	Detach     bool             // it goes on in the background
	Archived   bool             // the conversation is
	Approves   bool             // the user has approved its tools on the command line
	ForkedFrom *repo.ForkedFrom // nil where no fork was made for it
	Model      string           // PROVIDER/NAME
	Dir        string           // of the working tree
	Turn       int              // that is gone on with; 0 for a new one
	// Instructions are the names of the files of instructions that the model works by. It is
	// nil for a run of another process.
	Instructions func() []string
	Approved     func() string // which of its tool runs were approved in advance, in words; "" for none
	// snapshots reports whether jp keeps snapshots of the files, and changed are the files that
	// differ between two of them. Both are nil for a run of another process.
	Snapshots func() bool
	Changed   func(before, after string) ([]FileChange, error)
	// Outlook says what jp undo would come to after a turn whose tools changed files that no snapshot has. It is nil, or gives
	// nil, where there are none.
	Outlook func(turn int, unknown bool) (*undo.Outlook, error)
}

// A FileChange is how a file differs, in lines; -1 where its content is binary.
type FileChange struct {
	Path           string
	Added, Deleted int
}

// Known is the conversation's id, "" where no other process will know it.
func (r RunInfo) Known() conversation.ID {
	if !r.Recorded && r.Fresh {
		return ""
	}
	return r.ID
}

// An Ending is what a run came to.
type Ending struct {
	Outcome turnloop.Outcome
	Err     error
	ID      conversation.ID // "" where the run found or made none that is there
	Discard bool            // the run took a turn back, and did nothing else
	Tokens  int             // of the model's context that the conversation uses
	Window  int             // tokens of that context; 0: unknown
}

// Transient reports whether nothing of the turn is kept.
func (r RunInfo) Transient() bool { return r.ID != "" && !r.Recorded }
