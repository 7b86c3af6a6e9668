package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"jp/internal/safetext"
)

// notices is what packages below may want the user to know, on stderr.
func (e *env) notices() slog.Handler {
	if e.quiet {
		return slog.DiscardHandler
	}
	return noticeHandler{e.stderr}
}

// A noticeHandler writes warnings as one line each: the text, and in brackets
// what it is about.
type noticeHandler struct{ w io.Writer }

// Enabled implements [slog.Handler].
func (h noticeHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
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
	_, err := fmt.Fprintln(h.w, safetext.Clean(oneLine(line)))
	return err
}

// WithAttrs implements [slog.Handler]; nobody below uses it.
func (h noticeHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements [slog.Handler]; nobody below uses it.
func (h noticeHandler) WithGroup(string) slog.Handler { return h }
