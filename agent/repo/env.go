package repo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jp/conversation"
	"jp/internal/safefile"
)

// A Host is jp's system: its facts, and the notices for its user besides results. It is independent of
// streams and terminals.
type Host struct {
	Environ []string
	Dir     string // the working directory; changed by -C
	Now     func() time.Time
	Random  io.Reader
	Wait    func(context.Context, time.Duration) error // before a model is asked again, and for standard input; nil: a timer
	Cfg     []string                                   // key=value of --cfg
	Notify  func(line string)                          // shows the user a line besides results; nil: drop it
	Alarm   func(line string)                          // is Notify for lines that are shown even if only results are wanted
	// Terminal reports whether jp runs in a terminal session, independent of its input and output. nil means
	// false. In a session a person sees a waiting question.
	Terminal func() bool
	Choose   chooser      // lets the user take a conversation; nil: the user cannot
	Log      slog.Handler // takes the warnings of packages below; nil: drop them

	said sync.Map // paths of unused files

	chosen atomic.Pointer[[]string] // pairs that the user chose since, which win over those of Cfg

	Keys sync.Map // of providers, as their programs printed them, by name and command
}

// Override sets a key of the configuration for this process, as --cfg does. It may be called while others read.
func (h *Host) Override(key, value string) {
	pairs := []string{key + "=" + value}
	if before := h.chosen.Load(); before != nil {
		for _, pair := range *before {
			if !strings.HasPrefix(pair, key+"=") {
				pairs = append(pairs, pair)
			}
		}
	}
	h.chosen.Store(&pairs)
}

// Overrides are all key=value pairs that hold for this process.
func (h *Host) Overrides() []string {
	if chosen := h.chosen.Load(); chosen != nil {
		return append(slices.Clip(h.Cfg), *chosen...)
	}
	return h.Cfg
}

// Note shows a line besides the results.
func (h *Host) Note(format string, args ...any) {
	if h.Notify != nil {
		h.Notify(fmt.Sprintf(format, args...))
	}
}

// refused warns once that jp does not use a file.
func (h *Host) refused(err *safefile.SealError) {
	if h == nil {
		return
	}
	if _, said := h.said.LoadOrStore(err.Path, true); !said {
		h.Note("%s.", err)
	}
}

// Warn shows a line even if only results are wanted.
func (h *Host) Warn(format string, args ...any) {
	if h.Alarm != nil {
		h.Alarm(fmt.Sprintf(format, args...))
	}
}

// logger takes the warnings of packages below.
func (h *Host) logger() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(h.Log)
}

// Elsewhere reports whether the command runs in another folder than the one in which it was typed.
func (h *Host) Elsewhere() bool { return filepath.Clean(h.Dir) != "." }

// folder is the working directory, without symbolic links.
func (h *Host) folder() (string, error) {
	dir, err := filepath.Abs(h.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	return dir, nil
}

// Get reads an environment variable.
func (h *Host) Get(name string) string {
	value := ""
	for _, v := range h.Environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

// values are the values of environment variables, "" for unset ones.
func (h *Host) values(names []string) []string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = h.Get(name)
	}
	return values
}

// A Choice is a conversation that the user may choose.
type Choice struct {
	Info conversation.Info
	Last string // the last line that the model said, "" if that is far back
}

// A chooser lets the user take one of some conversations, newest first. It returns ErrNoChoice if the user
// cannot be asked, or there is no conversation. Only then may it leave candidates uncalled.
type chooser func(ctx context.Context, candidates func() ([]Choice, error)) (conversation.ID, error)
