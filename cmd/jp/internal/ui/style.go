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

// formEnviron translates style.color to the variables that a form reads.
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

// Columns is the width at which text for a stream is wrapped: style.width, if the stream has as many.
// Beyond its edge a terminal would wrap again, within words.
func (e *Env) Columns(stream *os.File) int {
	columns := terminal.Width(stream, e.Environ)
	if most := e.Style.Width; most > 0 && most < int64(columns) {
		return int(most)
	}
	return columns
}

// MessageColumns is the width at which text for a person on stderr is wrapped, 0 if that is no
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

// A prose prints a model's text, while it still arrives.
type prose interface {
	Write(p []byte) (int, error)
	// Close prints the rest.
	Close() error
	// Hide makes room for other writers to the terminal.
	Hide() error
	// Leave makes room below the shown text. An unfinished text is shown again with its next word.
	Leave() error
	// Resize takes the size of the terminal.
	Resize(width, rows int)
}

// Redraws reports whether lines of a terminal, of that name, may change in place.
func Redraws(s config.Style, term string) bool { return !s.Plain && term != "dumb" }
