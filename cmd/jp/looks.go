package main

import (
	"os"

	"jp/cmd/jp/internal/terminal"
)

// palette has the colours for a stream, as style.color says.
func (e *env) palette(stream *os.File) terminal.Palette {
	switch e.style.Color {
	case "always":
		return terminal.Coloured()
	case "never":
		return terminal.Palette{}
	}
	return terminal.NewPalette(stream, e.environ)
}

// formEnviron tells a form what style.color says, by the variables that it goes by.
func (e *env) formEnviron() []string {
	environ := e.environ[:len(e.environ):len(e.environ)]
	switch e.style.Color {
	case "always":
		return append(environ, "NO_COLOR=", "CLICOLOR_FORCE=1")
	case "never":
		return append(environ, "NO_COLOR=1", "CLICOLOR_FORCE=")
	}
	return environ
}

// columns is where text for a stream is wrapped: at style.width, if the stream has
// as many. Beyond its edge a terminal would wrap again, within words.
func (e *env) columns(stream *os.File) int {
	columns := terminal.Width(stream, e.environ)
	if most := e.style.Width; most > 0 && most < int64(columns) {
		return int(most)
	}
	return columns
}

// rendered reports whether Markdown on stdout is laid out for a person to read.
func (e *env) rendered() bool {
	return isTerminal(e.stdout) && (e.format == formatAuto || e.format == "") && e.style.Markdown
}

// A prose prints what a model says, while it still says it.
type prose interface {
	Write(p []byte) (int, error)
	// Close prints what is left.
	Close() error
	// Hide makes room for whoever else writes to the terminal.
	Hide() error
	// Resize says how wide the terminal is now.
	Resize(width int)
}

// prose prints a model's words on a terminal, as style.markdown says.
func (e *env) prose() prose {
	if !e.style.Markdown {
		return terminal.NewPlain(e.results())
	}
	m := terminal.NewMarkdown(e.results(), e.columns(e.stdout), e.palette(e.stdout))
	if e.get("TERM") != "dumb" {
		m.Live(terminal.Rows(e.stdout) - 1)
	}
	return m
}
