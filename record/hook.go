package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/record/journal"
	"jp/turnloop"
)

// An Input is what an agent's hook says of itself, without the words of the session.
type Input struct {
	Session    string `json:"session_id"`
	File       string `json:"transcript_path"`
	Agent      string `json:"agent_id"`
	Call       string `json:"tool_use_id"`
	Mode       string `json:"permission_mode"`
	Parameters struct {
		File       string `json:"file_path"`
		Notebook   string `json:"notebook_path"`
		Path       string `json:"filePath"`
		Command    string `json:"command"`
		Background bool   `json:"run_in_background"`
	} `json:"tool_input"`
	Folder string `json:"cwd"`
}

// paths are the files that the call's input names, also those of a patch.
func (in *Input) paths() []string {
	paths := []string{in.Parameters.File, in.Parameters.Notebook, in.Parameters.Path}
	if strings.HasPrefix(in.Parameters.Command, "*** Begin Patch") {
		for _, line := range patchedFile.FindAllStringSubmatch(in.Parameters.Command, -1) {
			paths = append(paths, line[1])
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

var patchedFile = regexp.MustCompile(`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$`)

// kinds are the moments of hooks, by the agents' names for them.
var kinds = map[string]journal.Kind{
	"SessionStart": journal.Start, "UserPromptSubmit": journal.Prompt, "PreToolUse": journal.Before, "PostToolUse": journal.After, "PostToolUseFailure": journal.After,
	"SubagentStop": journal.Stop, "Stop": journal.Stop, "Interrupt": journal.Stop, "SessionEnd": journal.End,
}

// hookTime is how long a hook may take. Then the agent goes on without it.
const hookTime = (hookSeconds - 1) * time.Second

// A Hook is one hook of an agent.
type Hook struct {
	Agent string    // the format of its sessions
	Event string    // the agent's name of the hook
	Run   string    // the recorder that started the agent, "" without one
	At    time.Time // when the hook began
}

// Note takes a snapshot of the files, and a copy of the untracked ones before a tool call, and notes both in
// the journal of the session. An input without a session, or of an unknown event, is left out.
// The session is due if its events should be written now, and no recorder does it.
func (h Hook) Note(ctx context.Context, r *repo.Repo, text []byte) (due Due, err error) {
	kind, known := kinds[h.Event]
	if !known {
		return due, nil
	}
	var in Input
	if err := json.Unmarshal(text, &in); err != nil {
		return due, fmt.Errorf("read the input of %s: %w", h.Event, err)
	}
	if in.Session == "" || (kind == journal.Before || kind == journal.After) && in.Call == "" {
		return due, nil
	}
	if h.Run == "" && in.Agent == "" && (kind == journal.Prompt || kind == journal.Stop || kind == journal.End) {
		due = Due{in.Session, kind == journal.End}
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	rec, err := openRecorder(ctx, r)
	if err != nil {
		return due, err
	}
	if h.Agent == "opencode" {
		in.File = opencodeFile(r.Env.Get, in.Session)
	}
	if h.Agent == "codex" && in.Agent != "" {
		in.File = "" // it is the sub-agent's own
	}
	m := journal.Moment{Kind: kind, Call: in.Call, Agent: in.Agent, Mode: in.Mode, Paths: in.paths(), Open: kind == journal.After && in.Parameters.Background}
	m, err = rec.note(ctx, journal.Source{Format: h.Agent, Session: in.Session, File: in.File, Run: h.Run, Folder: in.Folder}, m, h.At)
	if err == nil && m.Fault != "" {
		err = errors.New(m.Fault)
	}
	return due, err
}

// A Due is a session whose events should be written.
type Due struct {
	Session string // "" for none
	Ended   bool
}

// A recorder notes moments of sessions in a repository.
type recorder struct {
	repo    *repo.Repo
	files   *snapshot.Files
	journal journal.Folder
}

func journalOf(r *repo.Repo) (journal.Folder, error) {
	id, err := r.Standings().WorkspaceID()
	return journal.In(r.Paths.StateDir, id), err
}

func openRecorder(ctx context.Context, r *repo.Repo) (*recorder, error) {
	folder, err := journalOf(r)
	if err != nil {
		return nil, err
	}
	files, err := snapshot.OpenFiles(ctx, r)
	if err == nil && files.Off {
		err = repo.WithoutSnapshots()
	}
	return &recorder{repo: r, files: files, journal: folder}, err
}

// note adds a moment to the journal of a session. Hooks that wait for each other share the next snapshot that
// began after they did. A moment without a snapshot has the reason.
func (rec *recorder) note(ctx context.Context, source journal.Source, m journal.Moment, since time.Time) (journal.Moment, error) {
	unlock, err := rec.journal.Lock(ctx)
	if err != nil {
		return m, err
	}
	defer unlock()
	s, err := rec.journal.Read(source.Format, source.Session)
	if err != nil {
		return m, err
	}
	source.File = cmp.Or(source.File, s.File)
	m.N = len(s.Moments) + 1
	if m.Time = time.Now().UTC(); m.Kind == journal.After { // the clock of the file system
		for i := range m.Paths {
			m.Paths[i] = rec.inTree(source.Folder, m.Paths[i])
		}
		m.Paths = slices.DeleteFunc(m.Paths, func(path string) bool { return path == "" })
	} else {
		m.Paths = nil
	}
	if before := s.Of(journal.Before, m.Call); before != nil && m.Kind == journal.After {
		m.Backup = cmp.Or(before.Backup, before.N)
	}
	if was := s.Since(since, m); was != nil {
		m.Time, m.Tree, m.Git, m.Unrecorded, m.LeftOut = was.Time, was.Tree, was.Git, was.Unrecorded, was.LeftOut
		if m.Kind == journal.Before {
			m.Backup = was.Backup
		}
	} else if err := rec.look(ctx, source, &s, &m); err != nil {
		m.Fault = err.Error()
	}
	rec.conceal(source, &m)
	m.Ready = time.Now().UTC()
	return m, rec.journal.AddMoment(s, source, m)
}

// conceal replaces secrets in the names of files.
func (rec *recorder) conceal(source journal.Source, m *journal.Moment) {
	conceal := rec.repo.Values.Concealer(conversation.ID(source.BackupName()))
	if conceal == nil {
		return
	}
	for _, paths := range [][]string{m.Paths, m.Unrecorded} {
		for i := range paths {
			paths[i] = conceal(paths[i])
		}
	}
	for i := range m.LeftOut {
		m.LeftOut[i].Path = conceal(m.LeftOut[i].Path)
	}
}

// look fills a moment with the state of the files. The files outside of trees are copied before a call, and
// compared with those copies behind it.
func (rec *recorder) look(ctx context.Context, source journal.Source, s *journal.Session, m *journal.Moment) error {
	at := turnloop.SnapshotRequest{}
	if was := s.Newest(); was != nil {
		at.Tree = was.Tree
	}
	backup := conversation.ID(source.BackupName())
	switch before := s.Of(journal.Before, m.Call); {
	case m.Kind == journal.Before:
		at.Any, at.Call, m.Backup = true, &turnloop.CallPlace{Conversation: backup, Seq: m.N}, m.N
	case m.Kind == journal.After && before != nil:
		at.Lost, at.Named = earliest(s, before), m.Paths
		at.Call = &turnloop.CallPlace{Conversation: backup, Seq: m.Backup}
	}
	sight, err := rec.files.Look(ctx, at)
	if err == nil && rec.files.Off {
		err = repo.WithoutSnapshots()
	}
	if err != nil {
		return err
	}
	m.Tree, m.Git, m.Fault = sight.Tree, &sight.Git, sight.NoBackup
	if m.Kind == journal.After {
		m.LeftOut, m.Unrecorded = sight.LeftOut, sight.Unrecorded
	}
	return nil
}

// earliest is when the oldest call began that has not ended before a call did.
func earliest(s *journal.Session, before *journal.Moment) time.Time {
	ended := map[string]bool{}
	for i := range s.Moments {
		ended[s.Moments[i].Call] = ended[s.Moments[i].Call] || s.Moments[i].Kind == journal.After
	}
	at := before.Ready
	for _, m := range s.Moments {
		if m.Kind == journal.Before && !ended[m.Call] && m.Ready.Before(at) && before.Time.Sub(m.Time) < time.Hour {
			at = m.Ready
		}
	}
	return at
}

// inTree is a path of the working tree, "" for one outside.
func (rec *recorder) inTree(folder, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	below, err := filepath.Rel(rec.repo.At.TopLevel, path)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return ""
	}
	return filepath.ToSlash(below)
}
