package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safefile"
)

// A session is one place in which a user works: a terminal, or the name in JP_SESSION, together with a
// working tree. It remembers its conversation, even if the working tree or the repository moves.
type session struct {
	repo *Repo
	file string // its name among the sessions
	Name string
}

// sessionFile is the file of a session: newest first.
type sessionFile struct {
	Source   string                `json:"source"`
	Git      string                `json:"git,omitempty"`      // the common git directory, as it was then
	Repo     string                `json:"repo,omitempty"`     // the repository's name
	Worktree string                `json:"worktree,omitempty"` // the id of a linked working tree
	History  []visitedConversation `json:"history"`
}

type visitedConversation struct {
	ID conversation.ID `json:"id"`
	At time.Time       `json:"at"`
}

// SessionsFolder has these files, in jp's folder.
const SessionsFolder = "sessions"

const historyLength = 50

// Session finds the session that a command runs in.
func (r *Repo) Session(e *Host) session {
	source := SessionSource(e)
	file := func(place string) string {
		sum := sha256.Sum256([]byte(source + "\x00" + place))
		return hex.EncodeToString(sum[:8]) + ".json"
	}
	return session{repo: r, file: file(r.worktreeName()), Name: source}
}

// worktreeName names a working tree by its git directory below the common one, independent of its path. A git
// directory itself has no name.
func (r *Repo) worktreeName() string {
	name, err := filepath.Rel(r.At.CommonDir, r.At.GitDir)
	if err != nil {
		return r.Place()
	}
	if r.At.TopLevel == "" {
		return name + " without files"
	}
	return name
}

// Place is the working tree's root, or the git directory without one.
func (r *Repo) Place() string {
	if r.At.TopLevel != "" {
		return r.At.TopLevel
	}
	return r.At.GitDir
}

// SessionVariable has the session of a chat for commands that it runs without the terminal.
const SessionVariable = "JP_SESSION_SOURCE"

// SessionSource is the user's place: a name of their own, a multiplexer's pane, or the operating system's
// session.
func SessionSource(e *Host) string {
	for _, name := range []string{"JP_SESSION", "TMUX_PANE", "WEZTERM_PANE", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "ITERM_SESSION_ID"} {
		if value := e.Get(name); value != "" {
			return name + "=" + value
		}
	}
	if source := e.Get(SessionVariable); source != "" {
		return source
	}
	sid, err := unix.Getsid(0)
	if err != nil {
		return "none"
	}
	return "sid=" + strconv.Itoa(sid) + leaderStart(sid)
}

// leaderStart tells a session from a later one with the same number.
func leaderStart(sid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", sid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return "@" + fields[19] // start time, in clock ticks since boot
}

func (s session) read() sessionFile {
	var f sessionFile
	text, err := s.repo.StateDir().ReadSealed(SessionsFolder, s.file)
	if err == nil {
		_ = json.Unmarshal(text, &f)
	}
	if !s.kept(f) {
		return sessionFile{}
	}
	f.History = slices.DeleteFunc(f.History, func(v visitedConversation) bool {
		_, err := conversation.ParseID(string(v.ID))
		return err != nil
	})
	return f
}

// kept reports whether a file is of this working tree, rather than of an earlier one of its name, or of the
// repository that this one is a copy of.
func (s session) kept(f sessionFile) bool {
	id, _ := readWord(filepath.Join(s.repo.At.GitDir, safefile.StateDirName, WorktreeIDFile))
	if f.Worktree != "" && f.Worktree != id {
		return false
	}
	if f.Repo != "" {
		return f.Repo == s.repo.Standings().KnownWorkspaceID()
	}
	there, err := os.Stat(f.Git) // older versions of jp wrote none
	here, err2 := os.Stat(s.repo.At.CommonDir)
	if err != nil || err2 != nil || os.SameFile(there, here) {
		return true
	}
	theirs, _ := gitstore.ReadID(f.Git)
	ours, _ := gitstore.ReadID(s.repo.At.CommonDir)
	return theirs == "" || theirs != ours && s.repo.Standings().KnownWorkspaceID() != ""
}

func (s session) conversations() []conversation.ID {
	var ids []conversation.ID
	for _, v := range s.read().History {
		ids = append(ids, v.ID)
	}
	return ids
}

// Use makes a conversation the session's. An unwritable session forgets, without harm to the conversation.
func (s session) Use(id conversation.ID, now time.Time) error {
	f := s.read()
	f.Source, f.Git, f.Worktree = s.Name, s.repo.At.CommonDir, s.repo.WorktreeID()
	f.Repo, _ = s.repo.Standings().WorkspaceID() // without a name the place counts
	f.History = slices.DeleteFunc(f.History, func(v visitedConversation) bool { return v.ID == id })
	f.History = append([]visitedConversation{{ID: id, At: now.UTC()}}, f.History...)
	f.History = f.History[:min(len(f.History), historyLength)]
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return s.repo.StateDir().ReplaceSealed(SessionsFolder, s.file, append(text, '\n'), safefile.Options{Volatile: true})
}

// LastHere is the conversation that the user went to last in this working tree, from any terminal, or else
// the most recently active one.
func (r Finder) LastHere(ctx context.Context) (conversation.ID, error) {
	own := r.repo.Session(r.repo.Env)
	worktree := r.repo.WorktreeID()
	files, _ := os.ReadDir(filepath.Join(r.repo.At.CommonDir, safefile.StateDirName, SessionsFolder)) // without any, the most recently active one
	var visited []visitedConversation
	for _, file := range files {
		own.file = file.Name()
		if f := own.read(); f.Worktree == worktree {
			visited = append(visited, f.History...)
		}
	}
	slices.SortFunc(visited, func(a, b visitedConversation) int { return b.At.Compare(a.At) })
	for _, v := range visited {
		if _, err := r.repo.Store.Head(ctx, v.ID); err == nil {
			return v.ID, nil
		}
	}
	return r.Resolve(ctx, r.repo.Env, "recent")
}
