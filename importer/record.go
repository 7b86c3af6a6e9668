package importer

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"jp/conversation"
)

// A Kind is the kind of a record.
type Kind int

// The kinds.
const (
	KindRequest   Kind = iota // the user's words
	KindText                  // of the model
	KindReasoning             // of the model
	KindCall                  // of a tool
	KindResult                // of a tool call
	KindUsage                 // tokens of the newest answer
	KindStopped               // the turn ended early
	KindBranch                // later records are the thread's own, and all earlier ones its parent's
	KindEnded                 // a tool call, or a program that it ran, ended
	KindOpen                  // a tool call goes on behind its next result
)

// A Record is one step of a session, of any agent.
type Record struct {
	Kind Kind
	At   time.Time // zero: as the record before
	Text string

	// Of the model's words.
	Fresh  bool                // it begins another answer than the record before
	Model  string              // "provider/name", "" for the one before
	Finish conversation.Finish // of the whole answer, "" if unrecorded
	Usage  *conversation.Usage // of the whole answer so far

	// Of a tool call and its result.
	CallID    string
	Key       string // joins the call and its result, "" if the id does
	Tool      string
	Arguments string // JSON, or the model's text in its place
	Failed    bool
	Child     string // key of the thread that works on the call, or ""
	Edits     []Edit // of a result: the tool's edits of files
}

// key joins a call and its result.
func (r Record) key() string { return cmp.Or(r.Key, r.CallID) }

// An Edit is a tool's effect on a file, as far as the session has it. If After is nil, it follows from
// Replaced, and from Before or the file's known content.
type Edit struct {
	Path     string // absolute, or below the session's folder
	Before   *string
	After    *string
	From     string // the earlier path of a file that the edit moves to Path
	Created  bool   // the file is new
	Removed  bool
	Replaced []Replacement
	Lines    bool // Replaced has whole lines
}

// A Replacement is a text of a file in place of another one.
type Replacement struct {
	Old, New string
	All      bool // each occurrence, instead of the only one
}

// A Thread is a part of a session that becomes a conversation of its own.
type Thread struct {
	Key     string    // names it within the session, in every import alike; "" is the session itself
	Parent  string    // key of the thread that it leaves or works for
	Child   bool      // it is a sub-agent's work, instead of a branch
	Started time.Time // of its first own record of the dialogue
	// Decode is that of [Format]. A branch begins with its parent's records, and has a record
	// of KindBranch before those of its own.
	Decode func(s *Session, yield func(Record) error) error
}

// A Threaded is a [Format] of which a session may have more than one thread.
type Threaded interface {
	Format
	// Threads are the session itself, and then the others, each after its parent.
	Threads(file io.ReadSeeker, path string) ([]Thread, error)
}

// An Opener is a [Format] for sessions without files of their own, such as those of a database. It opens the
// results of Files.
type Opener interface {
	Format
	Open(path string) (io.ReadSeekCloser, error)
}

// A Format is how one agent keeps its sessions.
type Format interface {
	// Name is the format's name on the command line.
	Name() string
	// Folder holds the agent's sessions, and files lists those that may be of a working tree.
	Folder(getenv func(string) string) string
	Files(folder, tree string) ([]string, error)
	// Decode reads a session and gives its records in order, and stops at an error of yield. It fills in the
	// session's data, and counts the omitted parts.
	Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error
	// Begin is Decode for callers that need only the first records, and the session's identity.
	Begin(file io.Reader, s *Session, yield func(Record) error) error
}

// A Session has a file's data about itself, and the counts of its records.
type Session struct {
	ID      string    // as the agent named it
	Dir     string    // the working directory of its first record
	Started time.Time // of its first record of the dialogue
	Commit  string    // the HEAD that it began with, or ""

	parent string // the session whose sub-agent it is, or ""
	live   bool   // the agent runs: the file may end within a message

	LeftOut map[string]int // known records without a place in a conversation, by kind
	Unknown map[string]int // kinds unknown to the importer
	Refused map[string]int // damaged records, by reason
}

// Reasons why a record is refused.
const (
	refusedLarge     = "over 8 MiB"
	refusedDeep      = "nested too deeply"
	refusedJSON      = "no valid JSON record"
	refusedUnended   = "unfinished last line"
	refusedDuplicate = "duplicate id"
	refusedOrphan    = "result without its call"
	refusedNameless  = "tool call without a name"
)

// merge adds counts to others.
func merge(to *map[string]int, counts map[string]int) {
	if *to == nil {
		*to = map[string]int{}
	}
	for kind, n := range counts {
		(*to)[kind] += n
	}
}

func count(in *map[string]int, kind string) {
	if *in == nil {
		*in = map[string]int{}
	}
	const kinds = 64
	if _, known := (*in)[kind]; !known && len(*in) >= kinds {
		kind = "others"
	}
	(*in)[kind]++
}

// kindName bounds a kind that a file made up.
func kindName(words ...string) string {
	name := ""
	for _, w := range words {
		if w == "" {
			w = "without a type"
		}
		if name != "" {
			name += "/"
		}
		name += w
	}
	const most = 60
	return conversation.Shorten(name, most)
}

// parseTime reads a time that an event and an id can have, zero for any other.
func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() < 2002 || at.Year() > 2199 {
		return time.Time{}
	}
	return at.UTC()
}

// arguments are a tool call's in the form of events: an object, indented. ok is false if the text is not a
// JSON object.
func arguments(text string) (object json.RawMessage, ok bool) {
	if text == "" {
		return json.RawMessage("{}"), true
	}
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil || fields == nil {
		return json.RawMessage("{}"), false
	}
	raw := json.RawMessage(text)
	if conversation.CheckJSON(raw) != nil { // duplicate keys, lone surrogates
		repaired, err := json.Marshal(fields)
		if err != nil || conversation.CheckJSON(repaired) != nil {
			return json.RawMessage("{}"), false
		}
		raw = repaired
	}
	return indented(raw), true
}
