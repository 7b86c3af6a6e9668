package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/internal/ownfolder"
	"jp/internal/wholefile"
)

// A session is one place where somebody works: a terminal, or what JP_SESSION
// names, together with a working tree. It remembers which conversation it is
// about.
type session struct {
	own  ownfolder.Place
	file string // its name among the sessions
	name string
}

// sessionFile is what is kept of a session: newest first.
type sessionFile struct {
	Source  string  `json:"source"`
	History []visit `json:"history"`
}

type visit struct {
	ID conversation.ID `json:"id"`
	At time.Time       `json:"at"`
}

// sessionsFolder has these files, in jp's folder.
const sessionsFolder = "sessions"

// historyLength is how many conversations a session remembers.
const historyLength = 50

// session finds the session that a command runs in.
func (r *repo) session(e *env) session {
	source := sessionSource(e)
	sum := sha256.Sum256([]byte(source + "\x00" + r.place()))
	return session{own: r.own(), file: hex.EncodeToString(sum[:8]) + ".json", name: source}
}

// place is the working tree's root, or the git directory where there is none.
func (r *repo) place() string {
	if r.TopLevel != "" {
		return r.TopLevel
	}
	return r.GitDir
}

// sessionSource says where the user is: a name of their own, a multiplexer's
// pane, or the operating system's session.
func sessionSource(e *env) string {
	for _, name := range []string{"JP_SESSION", "TMUX_PANE", "WEZTERM_PANE", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "ITERM_SESSION_ID"} {
		if value := e.get(name); value != "" {
			return name + "=" + value
		}
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
	if text, err := s.own.Read(sessionsFolder, s.file); err == nil {
		_ = json.Unmarshal(text, &f) // a damaged one only forgets
	}
	f.History = slices.DeleteFunc(f.History, func(v visit) bool {
		_, err := conversation.ParseID(string(v.ID))
		return err != nil
	})
	return f
}

// visited are the session's conversations, newest first.
func (s session) visited() []conversation.ID {
	var ids []conversation.ID
	for _, v := range s.read().History {
		ids = append(ids, v.ID)
	}
	return ids
}

// use makes a conversation the session's. A session that cannot be written
// forgets; the conversation is not affected.
func (s session) use(id conversation.ID, now time.Time) error {
	f := s.read()
	f.Source = s.name
	f.History = slices.DeleteFunc(f.History, func(v visit) bool { return v.ID == id })
	f.History = append([]visit{{ID: id, At: now.UTC()}}, f.History...)
	f.History = f.History[:min(len(f.History), historyLength)]
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return s.own.Replace(sessionsFolder, s.file, append(text, '\n'), wholefile.Options{Volatile: true})
}

// isReadOnly reports whether an error comes from a file system that cannot be
// written.
func isReadOnly(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission)
}
