package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/action"
	"jp/agent/attachments"
	"jp/agent/drafts"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/titles"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A Request is what a run is to do.
type Request struct {
	Text           []string
	New            bool
	NewID          conversation.ID // of the new conversation; "": jp makes one
	ID             string
	Fork           string // E, or forkAtEnd; "" for no fork
	Model          string
	Profiles       []string    // used in this process besides the default one, later ones over earlier ones
	Modes          *ModeChange // modes that the user chooses while the turn runs; nil: none
	Yes            bool
	Tools          []string
	WithoutTools   []string
	NoTools        bool
	Skills         []string      // the model is given these with the question
	Prompt         *ServerPrompt // what an MCP server makes of it stands below the text; nil: the text is all
	Title          string
	Attachments    []string
	Given          []attachments.File    // go with the request besides those
	Buffers        toolset.BufferReader  // the user's editor; nil: there is none
	Servers        map[string]config.MCP // MCP servers besides those of the configuration
	KeepStreamed   bool                  // what streams stands among the drafts before it is shown
	Schema         string
	Policy         string
	NonInteractive bool
	Partial        bool
	Edit, NoEdit   bool
	Stdin, NoStdin bool
	ContinueTurn   bool
	DiscardTurn    bool
	Bare           bool // nothing is asked afterwards
	Pending        string
	Anyway         bool
	Detach         bool
	Wait           bool // as long as a provider asks
	NoPersist      bool
	DryRun         bool       // no model is asked, no hook runs and nothing is recorded; see Preview
	preview        *Previewed // becomes what would be sent; nil: it is sent
	NoInstructions bool       // the model gets no files of instructions in this turn
	Quiet, Verbose bool
	Queue          *drafts.Queue // what the user enters while the turn runs; nil: they cannot
}

// asks reports whether the command line has something to ask.
func (o Request) asks() bool {
	return strings.TrimSpace(strings.Join(o.Text, " ")) != "" || o.Edit || o.Stdin
}

// A decision is what becomes of an incomplete turn.
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
	case o.ContinueTurn:
		return decideResume
	case o.DiscardTurn:
		return decideDiscard
	}
	return undecided
}

// Check refuses what a request cannot ask for.
func (o Request) Check() error {
	for _, name := range o.Tools {
		if slices.Contains(o.WithoutTools, name) {
			return problem.Usage("-t %s and --no-tool %s exclude each other.", safetext.Show(name), safetext.Show(name))
		}
	}
	if err := titles.Check(o.Title); err != nil {
		return err
	}
	switch turnloop.Policy(o.Policy) {
	case "", turnloop.PolicyAuto, turnloop.PolicyDefaults, turnloop.PolicyDeny, turnloop.PolicyQueue, turnloop.PolicyDefer:
	default:
		return problem.Usage("invalid --policy %q (want auto, defaults, deny, queue or defer).", o.Policy)
	}
	if o.unrecorded() {
		if err := o.checkTransient(); err != nil {
			return err
		}
	}
	switch {
	case o.Pending != "" && o.Pending != "run" && o.Pending != "report":
		return problem.Usage("invalid --pending %q (want run or report).", o.Pending)
	case o.Detach && o.Partial:
		return problem.Usage("--partial has nothing to show with --detach.").Hint(action.AttachSession, "shows what streams")
	case o.ContinueTurn && o.DiscardTurn:
		return problem.Usage("--continue-turn and --discard-turn exclude each other.")
	case o.ContinueTurn && len(o.Attachments) > 0, o.ContinueTurn && o.Schema != "":
		return problem.Usage("--continue-turn finishes the turn as it is; -a and -s belong to a new one.")
	case o.ContinueTurn && len(o.Text) > 0:
		return problem.Usage("--continue-turn finishes the turn as it is and takes no text.").
			Hint(action.ContinueSession, "finish it, and ask then").Hint(action.AskInstead, "drop it and ask this instead")
	}
	return nil
}

// unrecorded reports whether nothing of the turn is recorded.
func (o Request) unrecorded() bool { return o.NoPersist || o.DryRun }

// checkTransient refuses what would have to be recorded.
func (o Request) checkTransient() error {
	why := "--no-persist"
	if o.DryRun {
		why = "--dry-run"
	}
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"--fork", o.Fork != ""}, {"--title", o.Title != ""}, {"--detach", o.Detach}, {"--continue-turn", o.ContinueTurn},
		{"--discard-turn", o.DiscardTurn}, {"--pending", o.Pending != ""}, {"--anyway", o.Anyway},
	} {
		if other.given {
			return problem.Usage("%s records nothing, and %s does.", why, other.flag)
		}
	}
	if p := turnloop.Policy(o.Policy); o.NoPersist && p.Waits() {
		return problem.Usage("--no-persist records nothing, and with --policy %s a question waits.", p)
	}
	return nil
}

// ForkAtEnd is what --fork without a value means.
const ForkAtEnd = "newest"

// eventWord is a text that could be meant as the event to fork at.
var eventWord = lazy.Regexp(`^(@.*|-?\d+|turn:\d+)$`)

// CheckFork refuses a text that was meant as the value of --fork.
func (o Request) CheckFork() error {
	if o.Fork != ForkAtEnd || len(o.Text) == 0 || !eventWord().MatchString(o.Text[0]) {
		return nil
	}
	event := strings.TrimPrefix(o.Text[0], "@")
	at := action.ForkThenAsk(event)
	if len(o.Text) > 1 {
		at = action.AskInForkAt(event, strings.Join(o.Text[1:], " "))
	}
	return problem.Usage("%s after --fork would be part of the text.", safetext.Show(o.Text[0])).
		Hint(at, "fork at that event").
		Hint(action.AskInForkAtEnd(strings.Join(o.Text, " ")), "fork at the newest event, and ask this")
}

// parseSchema reads what --schema says: a JSON schema, or the file with one.
func (o Request) parseSchema(e *repo.Host) (json.RawMessage, error) {
	text, source := []byte(o.Schema), "--schema"
	if o.Schema == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(o.Schema), "{") {
		path := o.Schema
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, attachments.Unreadable(o.Schema, err)
		}
		source = o.Schema
	}
	schema, err := turnloop.ParseSchema(text)
	if err != nil {
		return nil, problem.Usage("%s: %v.", source, err)
	}
	return schema, nil
}
