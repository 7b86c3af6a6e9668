package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/agent/repo"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/turnloop"
)

// A line is where the person types, below what jp shows: a [console.Console], or plain lines.
type line interface {
	io.Writer
	Width() int
	Text() string
	SetText(text string)
	Kill()
	// Bottom shows the mode, and at the bottom the parts, of which the last ones go where there is no room, and something
	// at the right edge.
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
	draft  string // what Tab puts into the line
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

// Bottom shows the mode before the line.
func (p *plainLine) Bottom(mode string, _ []string, _ string) {
	if p.prompt = "> "; mode != none {
		p.prompt = mode + " > "
	}
}

// Above says what waits.
func (p *plainLine) Above(lines ...string) { p.say(lines) }

// Below says what the person should know.
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

// read asks for a text until the person enters one that the chat takes, or leaves. A \ at the end of
// a line goes on in the next one.
func (p *plainLine) read(ctx context.Context, c *chat) error {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return err
	}
	defer tty.Close()
	for text := ""; ; {
		prompt := p.prompt
		switch {
		case text != "":
			prompt = "… "
		case p.draft != "":
			fmt.Fprintf(p, "You typed before: %s\nTab takes it.\n", strings.ReplaceAll(p.draft, "\n", " "))
		}
		typed, err := tty.LineOr(ctx, prompt, strings.ReplaceAll(p.draft, "\n", " "))
		switch {
		case errors.Is(err, io.EOF):
			c.Leave()
			return nil
		case errors.Is(err, terminal.ErrHangup):
			return repo.Interrupted(&turnloop.Interrupt{Signal: "SIGHUP"})
		case errors.Is(err, terminal.ErrBack), errors.Is(err, terminal.ErrInterrupted):
			fmt.Fprintln(p) // below what was typed
			empty := text+typed == "" && errors.Is(err, terminal.ErrInterrupted)
			if text = ""; !empty {
				continue
			}
			if c.Stop(true); c.hasLeft() {
				return nil
			}
			continue
		case err != nil:
			return err
		}
		more, goes := strings.CutSuffix(typed, "\\")
		if text += more; goes {
			text += "\n"
			continue
		}
		if c.Enter(console.Entry{Text: text, Pasted: func(int) bool { return false }}) {
			p.draft = ""
			return nil
		}
		text = ""
	}
}

// hasLeft reports whether the person has left.
func (c *chat) hasLeft() bool {
	select {
	case <-c.left:
		return true
	default:
		return false
	}
}
