package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A Request is the order of a run.
type Request struct {
	Target    Target
	Input     Input
	Turn      TurnOptions
	Tools     ToolChoice
	Resume    ResumeOptions
	Show      ShowOptions
	Detach    bool // the turn goes on in the background
	NoPersist bool
	DryRun    bool       // the run stops before its first model call, and stays unrecorded; see Preview
	preview   *Previewed // becomes the request that would be sent; nil: it is sent
}

// A Target names the conversation of a run.
type Target struct {
	New   bool
	NewID conversation.ID // of the new conversation; "": jp makes one
	ID    string
	Fork  string // an event, or ForkAtEnd; "": ask in the conversation itself
	Title string // of the conversation from now on
}

// Input is the question, and the files that go with it.
type Input struct {
	Text           []string
	Edit, NoEdit   bool
	Stdin, NoStdin bool
	None           bool          // the run ends without a question
	Prompt         *ServerPrompt // an MCP server's text below the question; nil: the text is all
	Skills         []string      // the model gets these skills with the question
	Attachments    []string
	Given          []contextfiles.Attachment // further attachments
	Schema         string                    // of the answer
}

// TurnOptions hold for a turn.
type TurnOptions struct {
	Model          string
	Profiles       []string    // besides the default one, for this process; a later one wins over an earlier one
	Modes          *ModeChange // modes that the user chooses while the turn runs, or nil
	Policy         string
	Yes            bool
	NonInteractive bool
	Wait           bool          // as long as a provider asks
	NoInstructions bool          // the model gets no files of instructions
	Beside         bool          // beside the user's work: no tool runs, and the session stays in its conversation
	Queue          *live.Queue   // messages that the user enters while the turn runs; nil: the user cannot
	History        *HistoryCache // of the session that the turn belongs to; nil: it is loaded anew
}

// A ToolChoice says which tools a turn has.
type ToolChoice struct {
	Enable  []string
	Disable []string
	None    bool                  // only those of Enable
	Servers map[string]config.MCP // MCP servers besides those of the configuration
	Buffers toolset.BufferReader  // the user's editor, or nil
}

// ResumeOptions decide about an interrupted turn.
type ResumeOptions struct {
	Continue bool
	Discard  bool
	GoOn     bool   // a message goes on with a turn that waits for the model alone; jp queues it in TurnOptions.Queue
	Pending  string // run or report; "": jp asks, or reports
	Anyway   bool   // also in another place than the turn's
}

// ShowOptions say which parts of a run are shown.
type ShowOptions struct {
	Partial        bool // also text before it is durable
	Quiet, Verbose bool
	KeepStreamed   bool // streamed text stands among the drafts before it is shown
}

// asks reports whether the command line has something to ask.
func (o Request) asks() bool {
	return strings.TrimSpace(strings.Join(o.Input.Text, " ")) != "" || o.Input.Edit || o.Input.Stdin
}

type decision int

const (
	undecided decision = iota
	decideResume
	decideDiscard
	decideEdit
	decideQuit
)

func (o Request) decision() decision {
	switch {
	case o.Resume.Continue:
		return decideResume
	case o.Resume.Discard:
		return decideDiscard
	}
	return undecided
}

// Check fails for combinations that a request cannot have.
func (o Request) Check() error {
	for _, name := range o.Tools.Enable {
		if slices.Contains(o.Tools.Disable, name) {
			return problem.Usage("-t %s and --no-tool %s exclude each other.", safetext.Show(name), safetext.Show(name))
		}
	}
	if err := CheckTitle(o.Target.Title); err != nil {
		return err
	}
	switch turnloop.Policy(o.Turn.Policy) {
	case "", turnloop.PolicyAuto, turnloop.PolicyDefaults, turnloop.PolicyDeny, turnloop.PolicyQueue, turnloop.PolicyDefer:
	default:
		return problem.Usage("invalid --policy %q (want auto, defaults, deny, queue or defer).", o.Turn.Policy)
	}
	if o.unrecorded() {
		if err := o.checkTransient(); err != nil {
			return err
		}
	}
	switch {
	case o.Resume.Pending != "" && o.Resume.Pending != "run" && o.Resume.Pending != "report":
		return problem.Usage("invalid --pending %q (want run or report).", o.Resume.Pending)
	case o.Detach && o.Show.Partial:
		return problem.Usage("--partial has nothing to show with --detach.").Hint(action.AttachSession, "shows what streams")
	case o.Resume.Continue && o.Resume.Discard:
		return problem.Usage("--continue-turn and --discard-turn exclude each other.")
	case o.Resume.Continue && len(o.Input.Attachments) > 0, o.Resume.Continue && o.Input.Schema != "":
		return problem.Usage("--continue-turn finishes the turn as it is; -a and -s belong to a new one.")
	case o.Resume.Continue && len(o.Input.Text) > 0:
		return problem.Usage("--continue-turn finishes the turn as it is and takes no text.").
			Hint(action.ContinueSession, "finish it, and ask then").Hint(action.AskInstead, "drop it and ask this instead")
	}
	return nil
}

func (o Request) unrecorded() bool { return o.NoPersist || o.DryRun }

// checkTransient fails for options that need a recorded turn.
func (o Request) checkTransient() error {
	why := "--no-persist"
	if o.DryRun {
		why = "--dry-run"
	}
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"--fork", o.Target.Fork != ""}, {"--title", o.Target.Title != ""}, {"--detach", o.Detach}, {"--continue-turn", o.Resume.Continue},
		{"--discard-turn", o.Resume.Discard}, {"--pending", o.Resume.Pending != ""}, {"--anyway", o.Resume.Anyway},
	} {
		if other.given {
			return problem.Usage("%s records nothing, and %s does.", why, other.flag)
		}
	}
	if p := turnloop.Policy(o.Turn.Policy); o.NoPersist && p.Waits() {
		return problem.Usage("--no-persist records nothing, and with --policy %s a question waits.", p)
	}
	return nil
}

// ForkAtEnd is the meaning of --fork without a value.
const ForkAtEnd = "newest"

// eventWord is a text that could be meant as the event to fork at.
var eventWord = lazy.Regexp(`^(@.*|-?\d+|turn:\d+)$`)

// CheckFork refuses a text that was meant as the value of --fork.
func (o Request) CheckFork() error {
	if o.Target.Fork != ForkAtEnd || len(o.Input.Text) == 0 || !eventWord().MatchString(o.Input.Text[0]) {
		return nil
	}
	event := strings.TrimPrefix(o.Input.Text[0], "@")
	at := action.ForkThenAsk(event)
	if len(o.Input.Text) > 1 {
		at = action.AskInForkAt(event, strings.Join(o.Input.Text[1:], " "))
	}
	return problem.Usage("%s after --fork would be part of the text.", safetext.Show(o.Input.Text[0])).
		Hint(at, "fork at that event").
		Hint(action.AskInForkAtEnd(strings.Join(o.Input.Text, " ")), "fork at the newest event, and ask this")
}

// parseSchema reads the value of --schema: a JSON schema, or the file with one.
func (o Request) parseSchema(e *repo.Host) (json.RawMessage, error) {
	text, source := []byte(o.Input.Schema), "--schema"
	if o.Input.Schema == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(o.Input.Schema), "{") {
		path := o.Input.Schema
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, contextfiles.UnreadableAttachment(o.Input.Schema, err)
		}
		source = o.Input.Schema
	}
	schema, err := turnloop.ParseSchema(text)
	if err != nil {
		return nil, problem.Usage("%s: %v.", source, err)
	}
	return schema, nil
}
