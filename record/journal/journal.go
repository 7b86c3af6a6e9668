// Package journal keeps the moments of sessions of other agents: at each hook of an agent, the tree of the
// files, and the tool call that the hook is about.
//
// A session has one file of JSON lines in the user's state folder, which only grows. A line that a crash cut
// off is skipped. The files have ids, trees and paths, and no words of a session.
package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safefile"
)

// A Kind is the kind of a moment.
type Kind string

// The kinds.
const (
	Start  Kind = "start" // of the session
	Prompt Kind = "prompt"
	Before Kind = "before" // a tool call
	After  Kind = "after"  // a tool call
	Stop   Kind = "stop"   // of a turn
	End    Kind = "end"    // of the session
	Look   Kind = "look"   // by the recorder, when a hook did not come
)

// A Moment is the state of the files at a hook.
type Moment struct {
	N     int               `json:"n"` // from 1
	Kind  Kind              `json:"kind"`
	Time  time.Time         `json:"time"`  // before the files were looked at
	Ready time.Time         `json:"ready"` // behind that: the call of a hook before it begins later
	Call  string            `json:"call,omitempty"`
	Agent string            `json:"agent,omitempty"` // the sub-agent that acts; "" for the session itself
	Tree  string            `json:"tree,omitempty"`  // "" if jp could not look
	Git   *conversation.Git `json:"git,omitempty"`
	Mode  string            `json:"mode,omitempty"`  // in which the agent decides about its tools, in its own word
	Paths []string          `json:"paths,omitempty"` // that the call's input names, absolute or relative to the session's folder
	// Unrecorded and LeftOut are those of the result of a tool call.
	Unrecorded []string                   `json:"unrecorded,omitempty"`
	LeftOut    []conversation.SkippedPath `json:"left_out,omitempty"`
	// Backup is the number of the moment with the copies of untracked files before the call.
	Backup int    `json:"backup,omitempty"`
	Open   bool   `json:"open,omitempty"`  // the call goes on behind this moment
	About  bool   `json:"about,omitempty"` // the agent did not wait for it
	Fault  string `json:"fault,omitempty"` // what jp could not record
}

// A Source says which session the moments are of.
type Source struct {
	Format  string `json:"format"`
	Session string `json:"session"`
	File    string `json:"file,omitempty"` // of the session, as the agent named it
	Run     string `json:"run,omitempty"`  // of the recorder that started the agent, "" without one
	Folder  string `json:"folder,omitempty"`
}

// A Written is a conversation that a recorder wrote, up to an event's commit.
type Written struct {
	Head   conversation.Head `json:"head"`
	Format string            `json:"format"`
	Run    string            `json:"run,omitempty"` // of the recorder
}

// A Session is the content of a session's file.
type Session struct {
	Source
	Moments []Moment
}

type line struct {
	Source *Source `json:"source,omitempty"`
	Moment *Moment `json:"moment,omitempty"`
}

// A Folder has the sessions of a repository.
type Folder string

// In is the folder of a repository, by the user's state folder and the repository's id.
func In(state, repository string) Folder {
	return Folder(filepath.Join(state, "recordings", repository))
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// Name is the file of a session.
func (f Folder) Name(format, session string) string {
	if !plainName.MatchString(session) {
		sum := sha256.Sum256([]byte(session))
		session = "h" + hex.EncodeToString(sum[:])
	}
	return filepath.Join(string(f), format+"-"+session+".jsonl")
}

// Lock makes this process the only one that looks at the files for a session of the repository.
func (f Folder) Lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, err
	}
	return safefile.LockFile(ctx, filepath.Join(string(f), "lock"))
}

// Read reads a session. It is empty without a file.
func (f Folder) Read(format, session string) (Session, error) {
	return read(f.Name(format, session))
}

func read(path string) (s Session, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return s, err
	}
	for l := range bytes.Lines(text) {
		var now line
		if json.Unmarshal(l, &now) != nil {
			continue
		}
		switch {
		case now.Source != nil:
			s.Source = *now.Source
		case now.Moment != nil:
			s.Moments = append(s.Moments, *now.Moment)
		}
	}
	return s, nil
}

// All reads the sessions whose files changed at or after a time, oldest change first.
func (f Folder) All(since time.Time) (sessions []Session, err error) {
	entries, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	type found struct {
		path string
		at   time.Time
	}
	var files []found
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".jsonl") && info.Mode().IsRegular() && !info.ModTime().Before(since) {
			files = append(files, found{filepath.Join(string(f), e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b found) int { return a.at.Compare(b.at) })
	for _, file := range files {
		s, err := read(file.path)
		if err != nil {
			return sessions, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// AddMoment adds a moment, durably, behind the source if that is new.
func (f Folder) AddMoment(s Session, source Source, m Moment) error {
	var lines []line
	if s.Source != source {
		lines = append(lines, line{Source: &source})
	}
	return f.add(f.Name(source.Format, source.Session), append(lines, line{Moment: &m}))
}

// SetWritten notes the newest state of a conversation that a recorder wrote.
func (f Folder) SetWritten(id conversation.ID, w Written) error {
	if was, ok := f.Written(id); ok && was == w {
		return nil
	}
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return safefile.Replace(f.conversation(id), text, safefile.Options{})
}

func (f Folder) conversation(id conversation.ID) string {
	return filepath.Join(string(f), "conversations", string(id))
}

// Written is the newest state of a conversation that a recorder wrote. ok is false for another one.
func (f Folder) Written(id conversation.ID) (w Written, ok bool) {
	text, err := os.ReadFile(f.conversation(id))
	return w, err == nil && json.Unmarshal(text, &w) == nil
}

// Begin marks a recorder as running, until end is called or the process ends. With a rest, another recorder has to
// write the rest of its sessions.
func (f Folder) Begin(run string) (end func(rest bool), err error) {
	folder := filepath.Join(string(f), "runs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, run)
	unlock, err := safefile.LockFile(context.Background(), path)
	return func(rest bool) {
		if !rest {
			_ = os.Remove(path)
		}
		unlock()
	}, err
}

// Dead are the recorders that left a rest, or were killed.
func (f Folder) Dead() (runs []string) {
	entries, _ := os.ReadDir(filepath.Join(string(f), "runs")) // without the folder there were none
	for _, e := range entries {
		if !f.Runs(e.Name()) {
			runs = append(runs, e.Name())
		}
	}
	return runs
}

// Forget forgets a recorder that ended.
func (f Folder) Forget(run string) { _ = os.Remove(filepath.Join(string(f), "runs", run)) }

// Runs reports whether a recorder runs.
func (f Folder) Runs(run string) bool {
	if !plainName.MatchString(run) {
		return false
	}
	file, err := os.OpenFile(filepath.Join(string(f), "runs", run), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	err = safefile.TryLock(file)
	safefile.Unlock(file)
	return errors.Is(err, safefile.ErrLocked)
}

func (f Folder) add(path string, lines []line) (err error) {
	text := []byte{'\n'} // ends a line that a crash cut off
	for _, l := range lines {
		one, err := json.Marshal(l)
		if err != nil {
			return err
		}
		text = append(append(text, one...), '\n')
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err = file.Write(text); err != nil {
		return err
	}
	return file.Sync()
}

// Newest is the newest moment with a tree, or nil.
func (s *Session) Newest() *Moment {
	for i := len(s.Moments) - 1; i >= 0; i-- {
		if s.Moments[i].Tree != "" {
			return &s.Moments[i]
		}
	}
	return nil
}

// Since is a moment that began at or after a time and that a new one can share, or nil. Its copies of untracked files, or
// their comparison, are those that the new one needs.
func (s *Session) Since(since time.Time, m Moment) *Moment {
	for i := len(s.Moments) - 1; i >= 0 && s.Moments[i].Time.After(since); i-- {
		switch was := &s.Moments[i]; {
		case was.Tree == "" || was.Fault != "":
		case m.Kind == Before && was.Kind == Before, m.Kind == After && was.Kind == After && m.Backup == was.Backup:
			return was
		case m.Kind != Before && m.Kind != After:
			return was
		}
	}
	return nil
}

// Of is the moment of a kind of a call, or nil.
func (s *Session) Of(kind Kind, call string) *Moment {
	for i := len(s.Moments) - 1; i >= 0; i-- {
		if m := &s.Moments[i]; m.Kind == kind && m.Call == call {
			return m
		}
	}
	return nil
}

// BackupName is the conversation under which the backups of a session are kept until its events are written.
func (s Source) BackupName() string { return "recording " + s.Format + " " + s.Session }
