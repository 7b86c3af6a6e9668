package terminal

import (
	"bytes"
	"io"
	"strings"

	"jp/internal/safetext"
)

// Plain prints text as it is written, clean, and without the line breaks at its
// end: it ends with one. Like [Markdown] it can make room for another writer.
type Plain struct {
	out    io.Writer
	clean  *safetext.Cleaner
	text   bytes.Buffer // clean, not yet printed
	breaks int          // line breaks that wait for more text
	within bool         // the cursor is behind text
}

// NewPlain returns a printer of text for a terminal. The text need not be clean.
func NewPlain(out io.Writer) *Plain {
	p := &Plain{out: out}
	p.clean = safetext.NewCleaner(&p.text)
	return p
}

// Write prints the next part of the text.
func (p *Plain) Write(text []byte) (int, error) {
	_, _ = p.clean.Write(text)
	return len(text), p.print()
}

func (p *Plain) print() (err error) {
	text := strings.TrimRight(p.text.String(), "\n")
	breaks := p.text.Len() - len(text)
	p.text.Reset()
	if text != "" {
		_, err = io.WriteString(p.out, strings.Repeat("\n", p.breaks)+text)
		p.breaks, p.within = 0, true
	}
	p.breaks += breaks
	return err
}

// Hide ends the line that is being written.
func (p *Plain) Hide() error {
	if !p.within {
		return nil
	}
	p.within, p.breaks = false, max(p.breaks-1, 0)
	_, err := io.WriteString(p.out, "\n")
	return err
}

// Leave ends the line that is being written, and takes no text away.
func (p *Plain) Leave() error { return p.Hide() }

// Resize does nothing: the terminal breaks long lines.
func (p *Plain) Resize(int, int) {}

// Close ends the text. It does not close the writer below.
func (p *Plain) Close() error {
	_ = p.clean.Close()
	if err := p.print(); err != nil {
		return err
	}
	return p.Hide()
}
