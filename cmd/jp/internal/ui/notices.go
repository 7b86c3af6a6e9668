package ui

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"jp/agent/problem"
	"jp/internal/safetext"
)

// A noticeHandler writes the warnings of the packages below to stderr, as one line each: the text, and
// in brackets its subject.
type noticeHandler struct{ env *Env }

// Enabled implements [slog.Handler].
func (h noticeHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && !h.env.Quiet
}

// Handle implements [slog.Handler].
func (h noticeHandler) Handle(_ context.Context, r slog.Record) error {
	var about []string
	r.Attrs(func(a slog.Attr) bool {
		about = append(about, a.Key+" "+a.Value.String())
		return true
	})
	line := "jp: " + r.Message
	if len(about) > 0 {
		line += " (" + strings.Join(about, ", ") + ")"
	}
	var err error
	h.env.aside(func() { _, err = fmt.Fprintln(h.env.Messages(), safetext.Clean(problem.OneLine(line))) })
	return err
}

// WithAttrs implements [slog.Handler]; no package below uses it.
func (h noticeHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements [slog.Handler]; no package below uses it.
func (h noticeHandler) WithGroup(string) slog.Handler { return h }
