package ui

import (
	"io"
	"os"

	"jp/cmd/jp/internal/terminal"
	"jp/config"
)

// Palette has the colours for a stream, as style.color says.
func (e *Env) Palette(stream *os.File) terminal.Palette {
	theme := terminal.Theme(e.Background.Load())
	switch e.Style.Theme {
	case "dark":
		theme = terminal.Dark
	case "light":
		theme = terminal.Light
	case "none":
		theme = terminal.NoTheme
	}
	palette := terminal.NewPalette(stream, e.Environ)
	switch e.Style.Color {
	case "always":
		palette = terminal.Coloured()
	case "never":
		palette = terminal.Palette{}
	}
	return palette.With(theme, e.Environ)
}

// formEnviron tells a form what style.color says, by the variables that it goes by.
func (e *Env) formEnviron() []string {
	environ := e.Environ[:len(e.Environ):len(e.Environ)]
	switch e.Style.Color {
	case "always":
		return append(environ, "NO_COLOR=", "CLICOLOR_FORCE=1")
	case "never":
		return append(environ, "NO_COLOR=1", "CLICOLOR_FORCE=")
	}
	return environ
}

// Columns is where text for a stream is wrapped: at style.width, if the stream has
// as many. Beyond its edge a terminal would wrap again, within words.
func (e *Env) Columns(stream *os.File) int {
	columns := terminal.Width(stream, e.Environ)
	if most := e.Style.Width; most > 0 && most < int64(columns) {
		return int(most)
	}
	return columns
}

// MessageColumns is where text for a person on stderr is wrapped, 0 where that is no
// terminal: programs get each message on one line.
func (e *Env) MessageColumns() int {
	if !IsTerminal(e.Stderr) {
		return 0
	}
	return e.Columns(e.Stderr)
}

// Messages is stderr, for text to people. On a terminal lines break between words.
func (e *Env) Messages() io.Writer {
	return terminal.NewWrapper(shownOn(e.Console, e.Stderr), e.MessageColumns)
}

// Rendered reports whether Markdown on stdout is laid out for a person to read.
func (e *Env) Rendered() bool {
	return IsTerminal(e.Stdout) && (e.Format == FormatAuto || e.Format == "") && e.Style.Markdown
}

// A prose prints what a model says, while it still says it.
type prose interface {
	Write(p []byte) (int, error)
	// Close prints what is left.
	Close() error
	// Hide makes room for others who write to the terminal.
	Hide() error
	// Leave makes room below what is shown. What is not finished is shown again with its next word.
	Leave() error
	// Resize says how large the terminal is now.
	Resize(width, rows int)
}

// Redraws reports whether lines of a terminal, of that name, may change in place.
func Redraws(s config.Style, term string) bool { return !s.Plain && term != "dumb" }
