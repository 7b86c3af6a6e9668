package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
	"jp/record/journal"
)

// A Report has the counts of an import, or of a dry run.
type Report struct {
	Format  string          `json:"format"`
	File    string          `json:"file"`
	Session string          `json:"session"`
	ID      conversation.ID `json:"id"`
	State   State           `json:"state"`
	DryRun  bool            `json:"dry_run"`
	Waits   bool            `json:"-"` // a hook is still to come: the import stopped before a result
	Dir     string          `json:"dir"`
	Started time.Time       `json:"started"`
	Ended   time.Time       `json:"ended"`
	Model   string          `json:"model"`

	Events    int `json:"events"`
	Added     int `json:"added"`
	Turns     int `json:"turns"`
	Requests  int `json:"requests"`
	Texts     int `json:"texts"`
	Reasoning int `json:"reasoning"`
	Calls     int `json:"calls"`
	Results   int `json:"results"`
	Unknowns  int `json:"unknown_outcomes"`

	Forks    []Part `json:"forks"`
	Children []Part `json:"children"`

	Edits   int            `json:"edits"`
	Rebuilt int            `json:"rebuilt"`
	Files   string         `json:"files"`
	LeftOut map[string]int `json:"left_out"`
	Unknown map[string]int `json:"unknown"`
	Refused map[string]int `json:"refused"`

	noted int // tool calls with the files that jp record noted
}

// A Part is a conversation beside that of the session: a branch of it, the records that it gained after its
// conversation continued here, or the work of a sub-agent.
type Part struct {
	ID     conversation.ID `json:"id"`
	Of     conversation.ID `json:"of"`   // the conversation that it leaves or works for
	From   int             `json:"from"` // the newest event that it shares, -1 for none
	State  State           `json:"state"`
	Events int             `json:"events"` // its own
	Added  int             `json:"added"`
}

// count counts an event of the session.
func (rep *Report) count(e *conversation.Event, tool string) {
	rep.Events++
	switch body := e.Body.(type) {
	case *conversation.TurnStart:
		rep.Turns++
	case *conversation.ChatRequest:
		rep.Requests++
	case *conversation.ChatResponse:
		if body.Part == conversation.PartReasoning {
			rep.Reasoning++
		} else {
			rep.Texts++
		}
	case *conversation.ToolCallRequest:
		rep.Calls++
	case *conversation.ToolCallResponse:
		if body.Content != outcomeUnknown(tool) && body.Content != wentOn(tool) {
			rep.Results++
		}
	}
}

// A State is the result of comparing the conversation of a session with an earlier import.
type State string

// The states.
const (
	StateNew       State = "new"
	StateGrown     State = "grown"
	StateUnchanged State = "unchanged"
	StateOlder     State = "older" // the conversation has more than the file
)

// notRebuilt means that the events lack files of their own.
const notRebuilt = "not rebuilt"

// filesOf is a text about how many tool calls have the files that jp record noted, else how many edits of files are in
// the trees of events.
func (rep *Report) filesOf() string {
	if rep.noted > 0 {
		return fmt.Sprintf("noted by jp record at %d of %s", rep.noted, conversation.Count(rep.Calls, "tool call"))
	}
	if rep.Edits == 0 {
		return notRebuilt
	}
	return fmt.Sprintf("%d of %s rebuilt", rep.Rebuilt, conversation.Count(rep.Edits, "edit"))
}

// Labels of the first event, which name the session.
const (
	labelFormat  = conversation.LabelImportedFrom
	labelSession = "session"
	labelFile    = "file"
	labelOwner   = "owner"
)

// origin names the session, and the file without its folder.
func (rep *Report) origin(session string) map[string]string {
	labels := map[string]string{labelFormat: rep.Format, labelSession: bounded(session)}
	if rep.File != "" {
		labels[labelFile] = bounded(filepath.Base(rep.File))
	}
	if owner := ownerOf(rep.File); owner != "" {
		labels[labelOwner] = bounded(owner)
	}
	return labels
}

// ownerOf is the name of a file's owner, "" if unknown.
func ownerOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	uid := strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := user.LookupId(uid); err == nil {
		return u.Username
	}
	return "user " + uid
}

// An Origin is the origin of an imported conversation. Its words come from the writer of the labels, and are
// unverified.
type Origin struct{ Format, Session, File, Owner string }

// OriginOf reads the labels of a conversation. ok is false if it was not imported.
func OriginOf(labels map[string]string) (o Origin, ok bool) {
	o = Origin{Format: labels[labelFormat], Session: labels[labelSession], File: labels[labelFile], Owner: labels[labelOwner]}
	return o, o.Format != "" && o.Session != ""
}

// Words name the file and its owner.
func (o Origin) Words() string {
	words := "session " + o.Session + " of " + o.Format
	if o.File != "" {
		words = "the file " + o.File + " of " + o.Format
	}
	if o.Owner != "" {
		words += ", which belongs to " + o.Owner
	}
	return words
}

// IDOf is the conversation of a session. It follows from the session alone, so that each
// import of it finds the conversation again.
func IDOf(format, session string, started time.Time) conversation.ID {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(format + "\x00" + session))
	var suffix [4]byte
	for i := range suffix {
		suffix[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return conversation.ID("jp-c" + strconv.FormatInt(started.UnixMilli()/100, 10) + "-" + string(suffix[:]))
}

// Open opens a session file. Only regular files are read.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe waits for its writer
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return file, nil
}

func open(f Format, path string) (io.ReadSeekCloser, error) {
	if o, ok := f.(Opener); ok {
		return o.Open(path)
	}
	return Open(path)
}

var errEnough = errors.New("enough was read")

// agentFile begins the name of a sub-agent's file.
const agentFile = "agent-"

// identify reads the beginning of a session that identifies it. A session without an id has that of its file.
// ok is false if it has no dialogue, or no time in it.
func identify(f Format, file io.ReadSeeker, path string) (s Session, ok bool, err error) {
	err = f.Begin(file, &s, func(Record) error {
		if ok = !s.Started.IsZero(); ok {
			return errEnough
		}
		return nil
	})
	if s.ID == "" {
		s.ID = strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), agentFile)
	}
	if err == nil || errors.Is(err, errEnough) {
		_, err = file.Seek(0, io.SeekStart)
	}
	return s, ok, err
}

// Options say how a session is imported.
type Options struct {
	Dry bool // only report the effects
	// Live says that the agent runs: calls without a result stay open.
	Live bool
	// Look notes the present files for a call of a live session whose hook did not come. Without it the import
	// stops there until another hook comes.
	Look func(context.Context) (journal.Moment, error)
}

// File imports one session file.
func File(ctx context.Context, r *repo.Repo, f Format, path string, o Options) (*Report, error) {
	file, err := open(f, path)
	if err != nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "cannot read the session: %v.", err).Hint(action.Help("jp", "import"), "its arguments, with examples")
	}
	defer file.Close()
	s, ok, err := identify(f, file, path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !ok {
		return nil, problem.New(problem.ExitFailed, "usage", "%s has no session of %s: no record has both words and a time.", path, f.Name())
	}
	rep := &Report{
		Format: f.Name(), File: path, Session: s.ID, ID: IDOf(f.Name(), s.ID, s.Started), DryRun: o.Dry, Dir: s.Dir, Started: s.Started, Files: notRebuilt, Forks: []Part{}, Children: []Part{},
	}
	release, err := hold(ctx, r, rep)
	if err != nil {
		return nil, err
	}
	defer release()
	store, err := r.Standings().RecordStore()
	if err != nil {
		return nil, err
	}
	im := &importing{ctx: ctx, repo: r, store: store, rep: rep, is: s, opts: o}
	if err := im.session(f, file, path); err != nil {
		return nil, failure(fmt.Errorf("import %s: %w", path, err), rep)
	}
	rep.Files = rep.filesOf()
	return rep, nil
}

// hold takes the conversation that an import writes, until release is called.
func hold(ctx context.Context, r *repo.Repo, rep *Report) (release func(), err error) {
	if rep.DryRun {
		return func() {}, nil
	}
	lock, err := r.Hold(ctx, r.Env, rep.ID)
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Release() }, nil
}

// stateOf compares with the events of an earlier import.
func stateOf(have, added int) State {
	switch {
	case have == 0:
		return StateNew
	case added > 0:
		return StateGrown
	}
	return StateUnchanged
}

// failure makes an error that names the way out: of a file that tells another story now, and of
// a conversation beside that of the session, such as a sub-agent's, which another process wrote.
func failure(err error, rep *Report) error {
	switch {
	case errors.Is(err, conversation.ErrExists), errors.Is(err, conversation.ErrHeadMoved):
		return problem.New(problem.ExitLocked, "locked", "another process writes a conversation of this session: %v.", err).About(rep.ID)
	case !errors.Is(err, errChanged):
		return err
	}
	return problem.New(problem.ExitDecision, "usage", "%v. The conversation stays as it is.", err).About(rep.ID).
		Hint(action.Print(string(rep.ID)), "what was imported before")
}

func headTree(ctx context.Context, r *repo.Repo) (string, error) { return baseTree(ctx, r, Session{}) }

// baseTree is the tree that a session began with: that of the commit which it names, else of
// the newest one on this branch when it started, else of HEAD.
func baseTree(ctx context.Context, r *repo.Repo, s Session) (string, error) {
	if r.Config.Snapshot.Base == "none" {
		return "", nil
	}
	place, err := snapshot.Here(ctx, r)
	if err != nil || place == nil || place.Head == "" {
		return "", err
	}
	if tree, err := commitTree(r, s.Commit); s.Commit != "" && err == nil {
		return tree, nil
	}
	if !s.Started.IsZero() {
		before := "--before=" + s.Started.Format(time.RFC3339)
		if out, err := r.Git.Run(ctx, "rev-list", "-1", "--first-parent", before, place.Head); err == nil && len(out) > 0 {
			if tree, err := commitTree(r, strings.TrimSpace(string(out))); err == nil {
				return tree, nil
			}
		}
	}
	return commitTree(r, place.Head)
}

func commitTree(r *repo.Repo, commit string) (string, error) {
	kind, object, err := r.Store.ReadObject(commit)
	if err != nil {
		return "", fmt.Errorf("read commit %.10s: %w", commit, err)
	}
	line, _, _ := bytes.Cut(object, []byte("\n"))
	tree, ok := bytes.CutPrefix(line, []byte("tree "))
	if kind != "commit" || !ok {
		return "", fmt.Errorf("%.10s is no commit", commit)
	}
	return string(tree), nil
}

// A writer appends events to the conversation in batches. A kill leaves the earlier ones, and the next import
// continues behind them.
type writer struct {
	ctx   context.Context
	store *gitstore.Store
	id    conversation.ID
	dry   bool
	head  conversation.Head
	keep  conversation.Head // the event behind which the batch replaces all others, "" for the head
	batch []*conversation.Event
	bytes int
	files *files // whose objects are in the events; may be nil
}

// Limits of one append.
const (
	batchEvents = 256
	batchBytes  = 4 << 20
)

// open finds the events of an earlier import.
func (w *writer) open(format, session string) ([]mark, error) {
	var err error
	if w.head, err = w.store.Head(w.ctx, w.id); errors.Is(err, conversation.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read what was imported before: %w", err)
	}
	marks, labels, err := marksOf(w.ctx, w.store, w.head, format)
	if err != nil {
		return nil, err
	}
	if len(marks) == 0 || labels[labelFormat] != format || labels[labelSession] != bounded(session) {
		return nil, w.another()
	}
	return marks, nil
}

func (w *writer) another() error {
	return problem.New(problem.ExitDecision, "usage", "conversation %s has the id of this session, and is another one.", w.id).About(w.id).
		Hint(action.Remove(string(w.id)), "delete it, if it is not needed")
}

func (w *writer) add(e *conversation.Event) error {
	if w.dry {
		return nil
	}
	text, _ := e.Text()
	w.batch, w.bytes = append(w.batch, e), w.bytes+len(text)
	for _, o := range e.Objects {
		w.bytes += len(o.Data)
	}
	if len(w.batch) < batchEvents && w.bytes < batchBytes {
		return nil
	}
	return w.write()
}

// replaceAfter makes the next events take the place of those behind an event.
func (w *writer) replaceAfter(seq int) error {
	e, err := eventAt(w.ctx, w.store, w.head, seq)
	if err == nil {
		w.keep = conversation.Head(e.Commit)
	}
	return err
}

// write makes the collected events durable.
func (w *writer) write() (err error) {
	if len(w.batch) == 0 {
		return nil
	}
	switch {
	case w.head == "":
		w.head, err = w.store.Create(w.ctx, w.id, "", w.batch)
	case w.keep != "":
		w.head, err = gitstore.Collection{Store: w.store}.Replace(w.ctx, w.id, w.head, w.keep, w.batch)
		w.keep = ""
	default:
		w.head, err = w.store.Append(w.ctx, w.id, w.head, w.batch)
	}
	w.batch, w.bytes = nil, 0
	if w.files != nil && err == nil {
		w.files.stored()
	}
	return err
}
