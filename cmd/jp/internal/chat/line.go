package chat

import (
	"fmt"
	"io"

	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
)

// A line is the input line of the person, below jp's output: a [console.Console], or plain lines.
type line interface {
	io.Writer
	Width() int
	Text() string
	SetText(text string)
	Kill()
	// Chip puts a text into the line that is edited as one character.
	Chip(text string)
	// Bottom shows the mode, and at the bottom the parts and something at the right edge. Without room
	// for all, the last parts go.
	Bottom(mode string, parts []string, right string)
	Above(lines ...string)
	Below(lines ...string)
	Asker() terminal.Asker
	Gone() <-chan struct{}
	Close() error
}

// A plainLine asks for one line after the other, and changes none in place. While a turn runs, the
// terminal is the turn's.
type plainLine struct {
	env    *ui.Env
	prompt string
	draft  string // that Tab puts into the line
	gone   chan struct{}
}

// Write implements [io.Writer].
func (p *plainLine) Write(b []byte) (int, error) { return p.env.Messages().Write(b) }

// Width is how many columns the terminal has.
func (p *plainLine) Width() int { return p.env.Columns(p.env.Stderr) }

// Text is the text that is offered.
func (p *plainLine) Text() string { return p.draft }

// SetText offers a text in the next line.
func (p *plainLine) SetText(text string) { p.draft = text }

// Kill does nothing: a line that was entered is gone.
func (p *plainLine) Kill() {}

// Chip offers a text behind the one that is offered.
func (p *plainLine) Chip(text string) { p.draft += text }

// Bottom shows the mode before the line.
func (p *plainLine) Bottom(mode string, _ []string, _ string) {
	if p.prompt = "> "; mode != none {
		p.prompt = mode + " > "
	}
}

// Above shows what waits.
func (p *plainLine) Above(lines ...string) { p.say(lines) }

// Below shows notices.
func (p *plainLine) Below(lines ...string) { p.say(lines) }

func (p *plainLine) say(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(p, line)
	}
}

// Asker is the terminal.
func (p *plainLine) Asker() terminal.Asker {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return nil
	}
	return tty
}

// Gone is closed when the terminal is gone.
func (p *plainLine) Gone() <-chan struct{} { return p.gone }

// Close implements [io.Closer].
func (p *plainLine) Close() error { return nil }
