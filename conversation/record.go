package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ConfigDelta changes the configuration from here on.
type ConfigDelta struct{ Delta raw }

// Type implements [Body].
func (*ConfigDelta) Type() Type { return TypeConfigDelta }

// model is the model that the settings name, or "".
func (b *ConfigDelta) model() string {
	var set struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(b.Delta, &set) != nil {
		return ""
	}
	return set.Model
}

func (b *ConfigDelta) fields(c codec) { c.jsonText("delta", (*rawJSON)(&b.Delta)) }

// Metadata changes facts about the conversation. A nil field leaves one as it is. An [OptionalTime] without a
// time clears it.
type Metadata struct {
	Title       *string
	TitleSource string // "user", "model" or "request"
	PinnedAt    *OptionalTime
	ArchivedAt  *OptionalTime
	ExpiresAt   *OptionalTime
	Labels      map[string]string // all of them; empty and other than nil clears
	Parent      ID                // the conversation that this one works for
	Model       string            // that wrote the title
	Usage       *Usage            // of the request for the title
}

// An OptionalTime is a point in time or "none".
type OptionalTime struct{ Time time.Time }

// Type implements [Body].
func (*Metadata) Type() Type { return TypeMetadata }

func (b *Metadata) fields(c codec) {
	c.value("title", &b.Title)
	c.str("title_source", &b.TitleSource)
	c.moment("pinned_at", &b.PinnedAt)
	c.moment("archived_at", &b.ArchivedAt)
	c.moment("expires_at", &b.ExpiresAt)
	c.value("labels", &b.Labels)
	c.str("parent", (*string)(&b.Parent))
	c.str("model", &b.Model)
	c.value("usage", &b.Usage)
}

// ForkOrigin names the source of a fork.
type ForkOrigin struct {
	Conversation ID
	Seq          int
	Commit       string
	// WrittenFor is the conversation that the event was written for, if Conversation shares it
	// with that one.
	WrittenFor ID
	Adopted    bool // made this user's own although someone else wrote it
	CheckedOut bool // its working tree was made for it, with the files of Seq
}

// Type implements [Body].
func (*ForkOrigin) Type() Type { return TypeForkOrigin }

// forkSource is stored as a value of its own, because an event has a seq and,
// when it is shown, a conversation and a commit itself.
type forkSource struct {
	Conversation ID     `json:"conversation"`
	Seq          int    `json:"seq"`
	Commit       string `json:"commit"`
}

func (b *ForkOrigin) fields(c codec) {
	source := forkSource{b.Conversation, b.Seq, b.Commit}
	c.value("source", &source)
	b.Conversation, b.Seq, b.Commit = source.Conversation, source.Seq, source.Commit
	c.str("written_for", (*string)(&b.WrittenFor))
	c.flag("adopted", &b.Adopted)
	c.flag("checked_out", &b.CheckedOut)
}

// Workspace records outside changes of the files.
type Workspace struct {
	Paths []PathStat
	More  int // paths beyond those listed
	// Cut says that events which a copy left out moved them, its own or other people's.
	Cut bool
}

// A PathStat is how much one path differs. Counts are lines, -1 for binary content and for blobs that a
// partial clone lacks.
type PathStat struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // "A", "M" or "D"
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}

// Type implements [Body].
func (*Workspace) Type() Type { return TypeWorkspace }

func (b *Workspace) fields(c codec) {
	c.value("paths", &b.Paths)
	c.num("more", &b.More)
	c.flag("cut", &b.Cut)
}

// TurnDiscarded takes the dialogue of a turn back: readers skip the range.
type TurnDiscarded struct {
	FromSeq int
	ToSeq   int
	By      Cause
}

// Type implements [Body].
func (*TurnDiscarded) Type() Type { return TypeTurnDiscarded }

func (b *TurnDiscarded) fields(c codec) {
	c.seq("from_seq", &b.FromSeq)
	c.seq("to_seq", &b.ToSeq)
	c.str("by", (*string)(&b.By))
}

// TurnStopped ends a turn as it stands.
type TurnStopped struct {
	By     Cause
	Reason string // the reason for the user; optional
}

// Type implements [Body].
func (*TurnStopped) Type() Type { return TypeTurnStopped }

func (b *TurnStopped) fields(c codec) {
	c.str("by", (*string)(&b.By))
	c.str("reason", &b.Reason)
}

// TurnInterrupted gives the reason why a turn stopped. The turn stays incomplete.
type TurnInterrupted struct {
	By     Cause
	Signal string
	Phase  Phase
	Tries  int    // failed tries of the model call that left no event
	Reason string // the message to the user, if By is ByError; to be shown, never obeyed
	// ControlShown says that the turn stopped because control files of git had changed, and
	// that the user was told which. Resuming it accepts them.
	ControlShown bool
}

// Type implements [Body].
func (*TurnInterrupted) Type() Type { return TypeTurnInterrupted }

func (b *TurnInterrupted) fields(c codec) {
	c.str("by", (*string)(&b.By))
	c.str("signal", &b.Signal)
	c.str("phase", (*string)(&b.Phase))
	c.num("tries", &b.Tries)
	c.str("reason", &b.Reason)
	c.flag("control_shown", &b.ControlShown)
}

// Resumed records that an interrupted turn goes on, and the findings.
type Resumed struct {
	Phase   Phase
	Call    int
	AgeMS   int64
	Report  *Report
	Message string // for the model; optional
	// Approved are tool runs that the user allowed when going on.
	Approved Approval
}

// A Report compares the record with the repository.
type Report struct {
	HeadWas   string     `json:"head_was,omitempty"`
	HeadIs    string     `json:"head_is,omitempty"`
	BranchWas string     `json:"branch_was,omitempty"`
	BranchIs  string     `json:"branch_is,omitempty"`
	Dirty     []string   `json:"dirty,omitempty"`
	Changed   []PathStat `json:"changed,omitempty"`
	Stat      string     `json:"stat,omitempty"`
	More      int        `json:"more,omitempty"`
}

// Type implements [Body].
func (*Resumed) Type() Type { return TypeResumed }

func (b *Resumed) fields(c codec) {
	c.str("phase", (*string)(&b.Phase))
	c.num("call", &b.Call)
	c.num64("age_ms", &b.AgeMS)
	c.value("report", &b.Report)
	c.text("message", &b.Message)
	c.value("approved", &b.Approved)
}

// Restored says that files were brought back from a snapshot.
type Restored struct {
	AsOf  int // seq of the event whose files they are
	Files []RestoredFile
}

// A RestoredFile is one file of an undo, with its outcome.
type RestoredFile struct {
	Path   string `json:"path"`
	Done   bool   `json:"done"`
	Reason string `json:"reason,omitempty"`
	Size   int64  `json:"size,omitempty"` // of the former file, in bytes: git does not keep its line ends
	Ends   string `json:"ends,omitempty"` // of its lines if they differ: how many have LF, then CRLF, then LF, …
}

// Type implements [Body].
func (*Restored) Type() Type { return TypeRestored }

func (b *Restored) fields(c codec) {
	c.seq("as_of", &b.AsOf)
	c.value("files", &b.Files)
}

// WorkState is a delegate's description of its work, so that it can be resumed.
type WorkState struct {
	Plan         string
	OpenTasks    []string
	FilesTouched []string
	Assumptions  []string
	Errors       []string
}

// Type implements [Body].
func (*WorkState) Type() Type { return TypeState }

func (b *WorkState) fields(c codec) {
	c.str("plan", &b.Plan)
	c.value("open_tasks", &b.OpenTasks)
	c.value("files_touched", &b.FilesTouched)
	c.value("assumptions", &b.Assumptions)
	c.value("errors", &b.Errors)
}

// TurnDone sums a finished turn up, for information only.
type TurnDone struct {
	Calls      int // model calls
	Input      int // tokens
	Output     int // tokens
	CostUSD    string
	DurationMS int64
	Files      []string
}

// Type implements [Body].
func (*TurnDone) Type() Type { return TypeTurnDone }

func (b *TurnDone) fields(c codec) {
	c.num("calls", &b.Calls)
	c.num("input", &b.Input)
	c.num("output", &b.Output)
	c.str("cost_usd", &b.CostUSD)
	c.num64("duration_ms", &b.DurationMS)
	c.value("files", &b.Files)
}

// Withholding stops sending attachments of an event: a server refused them. A description of each is sent in
// its place.
type Withholding struct {
	For         int      // seq of the event
	Attachments []string // names
	Reason      string   // the server's words
}

// Type implements [Body].
func (*Withholding) Type() Type { return TypeWithheld }

func (*Withholding) need() string { return needWithheld }

func (b *Withholding) fields(c codec) {
	c.seq("for", &b.For)
	c.value("attachments", &b.Attachments)
	c.str("reason", &b.Reason)
}

// Instructions give the model files of instructions: those of the user, and those of the
// repository for the folder that jp works in.
type Instructions struct {
	Files   []InstructionFile // all that are in force, in order
	For     *int              // seq of the response whose tool touched the files' folders first, or of the request with files of them; nil: for the turn
	Content string            // for the model
}

// An InstructionFile is one file of instructions. Its text is From to To of the event's, empty if an earlier
// event gave it.
type InstructionFile struct {
	Path  string `json:"path"` // from the root of the working tree, or the user's own
	User  bool   `json:"user,omitempty"`
	OID   string `json:"oid"`           // blob id of the whole file
	Bytes int64  `json:"bytes"`         // of the whole file
	Cut   int64  `json:"cut,omitempty"` // bytes that were given; 0: all
	From  int    `json:"from"`
	To    int    `json:"to"`
}

// Given reports whether the file's text stands in its event.
func (f InstructionFile) Given() bool { return f.To > f.From }

// Type implements [Body].
func (*Instructions) Type() Type { return TypeInstructions }

func (*Instructions) need() string { return needInstructions }

func (b *Instructions) fields(c codec) {
	c.value("files", &b.Files)
	c.ref("for", &b.For)
	c.text("content", &b.Content)
}

// paths are the names of the files.
func (b *Instructions) paths() []string {
	var paths []string
	for _, f := range b.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// Text is the text of one of the files, "" if another event has it.
func (b *Instructions) Text(f InstructionFile) string {
	if f.From < 0 || f.To > len(b.Content) || f.From >= f.To {
		return ""
	}
	return b.Content[f.From:f.To]
}

// check reports an error in the places of the texts.
func (b *Instructions) check() error {
	at := 0
	for _, f := range b.Files {
		if !f.Given() && f.From == f.To {
			continue
		}
		if f.From < at || f.To < f.From || f.To > len(b.Content) {
			return errors.New("the texts of its files are not where it says")
		}
		at = f.To
	}
	return nil
}

// A CompactionKind is how a compaction makes room.
type CompactionKind string

// The kinds.
const (
	CompactTrim    CompactionKind = "trim"    // long results of tools are sent as one line each
	CompactSummary CompactionKind = "summary" // a summary is sent in place of the range
)

// A Compaction says that less of a range of events is sent. The events stay.
type Compaction struct {
	Kind    CompactionKind
	FromSeq int
	ToSeq   int
	Keep    int           // model calls behind the range that are sent as they were
	Trimmed []int         // responses whose results are sent as one line
	Room    int           // bytes of each of them that are sent instead, of its beginning and its end; 0: the line
	Items   []SummaryItem // one for each line of Content
	Dropped int           // items of the model without a valid citation
	Window  int           // tokens that the model can read; 0: unknown
	Before  int           // estimate of the tokens that were sent before
	After   int           // and of those that are sent now
	Basis   string        // BasisReported or BasisEstimated: the source of Before; "" if unknown
	By      Cause         // ByUser, or ByLimit if jp decided it
	Focus   string        // the focus of the summary, from the user
	Model   string        // that wrote the summary, "provider/name"
	Usage   *Usage        // of the request for the summary
	Content string        // the summary
}

// Sources of the number of tokens before a compaction.
const (
	BasisReported  = "reported"  // by the server, of the newest model call, and later events
	BasisEstimated = "estimated" // by the length of the texts
)

// TokensWords are the tokens before and after a compaction.
func TokensWords(before int, basis, most string, after int) string {
	if basis == "" {
		return fmt.Sprintf("%s → %s%s tokens", Tokens(before), most, Tokens(after))
	}
	return fmt.Sprintf("%s %s → %s%s estimated tokens", Tokens(before), basis, most, Tokens(after))
}

// A SummaryItem is a piece of a summary.
type SummaryItem struct {
	Kind  ItemKind `json:"kind"`
	Cites []int    `json:"cites"` // the events that it is from
}

// An ItemKind says on whose word an item stands, by the events that it cites.
type ItemKind string

// The kinds of item.
const (
	ItemUser     ItemKind = "user"     // the user said or decided it
	ItemChange   ItemKind = "change"   // a tool changed files
	ItemError    ItemKind = "error"    // a tool failed
	ItemResult   ItemKind = "result"   // a tool said it
	ItemAnswer   ItemKind = "answer"   // the model said it
	ItemReported ItemKind = "reported" // it is about the user, without citing an event of the user's
)

// Type implements [Body].
func (*Compaction) Type() Type { return TypeCompaction }

func (*Compaction) need() string { return needCompaction }

func (b *Compaction) fields(c codec) {
	c.str("kind", (*string)(&b.Kind))
	c.seq("from_seq", &b.FromSeq)
	c.seq("to_seq", &b.ToSeq)
	c.num("keep", &b.Keep)
	c.value("trimmed", &b.Trimmed)
	c.num("room", &b.Room)
	c.value("items", &b.Items)
	c.num("dropped", &b.Dropped)
	c.num("window", &b.Window)
	c.num("before_tokens", &b.Before)
	c.num("after_tokens", &b.After)
	c.str("before_basis", &b.Basis)
	c.str("by", (*string)(&b.By))
	c.str("focus", &b.Focus)
	c.str("model", &b.Model)
	c.value("usage", &b.Usage)
	c.text("content", &b.Content)
}

// Lines are the texts of the items, in order.
func (b *Compaction) Lines() []string {
	lines := make([]string, len(b.Items))
	if len(b.Items) > 0 {
		copy(lines, strings.SplitN(b.Content, "\n", len(b.Items)))
	}
	return lines
}

// check reports an error in a compaction that is event seq.
func (b *Compaction) check(seq int) error {
	switch {
	case b.Kind != CompactTrim && b.Kind != CompactSummary:
		return fmt.Errorf("unknown kind of compaction %q", b.Kind)
	case b.FromSeq < 0 || b.FromSeq > b.ToSeq || b.ToSeq >= seq:
		return errors.New("its range is not before it")
	case slices.ContainsFunc(b.Trimmed, func(at int) bool { return at < b.FromSeq || at > b.ToSeq }):
		return errors.New("a trimmed result is not in its range")
	}
	return nil
}

// CompactionUndone ends the effect of a compaction.
type CompactionUndone struct {
	For int // seq of the compaction
}

// Type implements [Body].
func (*CompactionUndone) Type() Type { return TypeCompactionUndone }

func (*CompactionUndone) need() string { return needCompaction }

func (b *CompactionUndone) fields(c codec) { c.seq("for", &b.For) }
