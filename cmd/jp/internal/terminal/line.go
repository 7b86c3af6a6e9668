package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"jp/internal/safetext"
)

// Line shows a prompt and returns the line that the person types and edits, without its newline and
// without control characters. A pasted line break becomes a blank. The errors are [io.EOF] for Ctrl+D
// on an empty line, [ErrBack] for Esc, [ErrInterrupted] for Ctrl+C, [ErrLeft], [ErrHangup], and the
// cause of ctx. They come with the text typed so far. Keys typed before the prompt appeared are thrown
// away. Text that the terminal or the end of ctx cuts off goes to the [Unsent] of the TTY, and the
// next line with this prompt offers it.
func (t *TTY) Line(ctx context.Context, prompt string) (string, error) {
	return t.LineOr(ctx, prompt, "")
}

// An Unsent keeps text that a person typed at a prompt and could not send.
type Unsent interface {
	// Keep replaces the text of a prompt. An empty text removes it.
	Keep(prompt, text string)
	// Text returns the text of a prompt, "" if there is none.
	Text(prompt string) string
}

// KeepUnsent sets the keeper of text that was not sent. With nil, the default, it is lost.
func (t *TTY) KeepUnsent(u Unsent) { t.unsent = u }

// LineOr is Line with a text that Tab puts on an empty line, where the person can edit it.
func (t *TTY) LineOr(ctx context.Context, prompt, offered string) (string, error) {
	t.marked = nil // typed text takes rows, too
	in, done, err := t.edits(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	name, kept := prompt, ""
	if t.unsent != nil {
		kept = plain(t.unsent.Text(name))
	}
	if kept != "" {
		prompt = "You typed here before: " + kept + "\nTab takes it.\n" + prompt
	}
	prompt = Wrap(prompt, t.Width())
	above := strings.LastIndexByte(prompt, '\n') + 1
	if err := t.ask(prompt[:above]); err != nil {
		return "", err
	}
	for {
		line := &lineInput{in: in}
		line.editor = term.NewTerminal(line, prompt[above:])
		line.editor.AutoCompleteCallback = func(typed string, _ int, key rune) (string, int, bool) {
			switch {
			case line.err != nil:
				line.typed = typed
			case key == '\t' && typed == "" && kept != "":
				return kept, len(kept), true
			case key == '\t' && (typed == "" || typed == kept) && offered != "":
				return offered, len(offered), true
			}
			return "", 0, false
		}
		line.resize()
		text, err := line.editor.ReadLine()
		t.out.column = 0
		switch {
		case line.err != nil:
			deliberate := errors.Is(line.err, ErrBack) || errors.Is(line.err, ErrInterrupted)
			typed := plain(line.typed)
			if t.unsent != nil && !deliberate && typed != "" {
				t.unsent.Keep(name, typed)
			}
			return typed, line.err
		case errors.Is(err, io.EOF):
			return "", io.EOF
		case err != nil:
			return "", t.lost("read a line", err)
		case text != "" || t.now().Sub(t.letter) >= afterLetter:
			if text != "" && kept != "" {
				t.unsent.Keep(name, "")
			}
			return plain(text), nil
		}
	}
}

// edits reads keys one by one until done is called.
func (t *TTY) edits(ctx context.Context) (in *input, done func(), err error) {
	if in, err = t.listen(ctx); err != nil {
		return nil, nil, err
	}
	_, restore, err := t.enter(in)
	if err != nil {
		in.stop()
		return nil, nil, err
	}
	return in, func() { restore(); in.stop() }, nil
}

// Hidden is Line for a secret: the terminal does not show it, and Unsent does not get it.
func (t *TTY) Hidden(ctx context.Context, prompt string) (string, error) {
	in, done, err := t.edits(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	line := &lineInput{in: in}
	line.editor = term.NewTerminal(line, "")
	line.resize()
	text, err := line.editor.ReadPassword(prompt)
	t.out.column = 0
	if line.err != nil {
		err = line.err
	}
	return plain(text), err
}

// A lineInput is the stream of a line editor: it reads keys and text, and writes the line.
type lineInput struct {
	in      *input
	editor  *term.Terminal
	raw     []byte // typed and not yet decoded
	keys    []byte // for the editor
	pasting bool
	err     error  // the reason that the line ended
	asked   bool   // the editor was asked for its line
	typed   string // the line when err came
	width   int
}

// Write shows the editor's output.
func (l *lineInput) Write(p []byte) (int, error) {
	n, err := l.in.tty.file.Write(p)
	if err != nil {
		l.err = l.in.tty.lost("show the question", err)
	}
	return n, err
}

// Read gives the editor the typed keys. Before the error that ends the line it gives a Tab, for which
// the editor shows its line to the callback.
func (l *lineInput) Read(p []byte) (int, error) {
	for len(l.keys) == 0 {
		if l.err != nil && !l.asked {
			l.asked, l.keys = true, []byte{'\t'}
			break
		}
		if l.err != nil {
			return 0, l.err
		}
		if l.raw, l.err = l.in.more(l.raw); l.err == nil {
			l.err = l.look()
		}
		l.resize()
	}
	n := copy(p, l.keys)
	l.keys = l.keys[n:]
	return n, nil
}

// resize gives the editor the terminal's width.
func (l *lineInput) resize() {
	if width := l.in.tty.Width(); width != l.width {
		l.width = width
		_ = l.editor.SetSize(width, Rows(l.in.tty.file))
	}
}

// look decodes the typed bytes into keys.
func (l *lineInput) look() error {
	for len(l.raw) > 0 {
		switch c := l.raw[0]; {
		case l.pasting:
			end := bytes.Index(l.raw, []byte(pasteEnds))
			if end < 0 && bytes.IndexByte(l.raw, byte(KeyEsc)) >= 0 && len(l.raw) < len(pasteEnds) {
				return nil // its end may be on the way
			}
			text, rest := l.raw, []byte(nil)
			if end >= 0 {
				text, rest, l.pasting = l.raw[:end], l.raw[end+len(pasteEnds):], false
			}
			l.raw = rest
			l.keys = append(l.keys, pasted(text)...)
		case c == byte(KeyEsc):
			if err := l.escape(); err != nil {
				return err
			}
		case c == byte(KeyCtrlC):
			return ErrInterrupted
		case c == byte(KeyCtrlZ):
			if l.in.tty.leave {
				return ErrLeft
			}
			l.raw = l.raw[1:]
		case c == '\n' || c == '\r':
			l.raw = l.raw[1:]
			if len(bytes.Trim(l.raw, "\r\n")) > 0 { // a paste that is not marked
				l.keys = append(l.keys, ' ')
				continue
			}
			l.raw = nil
			l.keys = append(l.keys, '\r')
		case !utf8.FullRune(l.raw):
			return nil
		default:
			r, size := utf8.DecodeRune(l.raw)
			if r < ' ' || r == 0x7f || !unicode.IsControl(r) && r != utf8.RuneError {
				l.keys = append(l.keys, l.raw[:size]...)
			}
			l.raw = l.raw[size:]
		}
	}
	return nil
}

// escape takes a sequence, or Esc alone, which goes back.
func (l *lineInput) escape() error {
	size, is := cut(l.raw)
	for size == 0 {
		limit := map[kind]time.Duration{character: forever, sequence: forever, escape: sameKey, message: late}[is]
		more, err := l.in.wait(limit)
		if err != nil {
			return err
		}
		if !more {
			size = len(l.raw)
			break
		}
		if l.raw, err = l.in.more(l.raw); err != nil {
			return err
		}
		size, is = cut(l.raw)
	}
	if is == escape && size == 1 {
		l.in.tty.typed.escape = l.in.tty.now()
		return ErrBack
	}
	if rest, found := bytes.CutPrefix(l.raw, []byte(pasteBegins)); found {
		l.raw, l.pasting = rest, true
		return nil
	}
	if is != message && is != broken {
		l.keys = append(l.keys, l.raw[:size]...)
	}
	l.raw = l.raw[size:]
	return nil
}

// pasted is a text as it goes into a line.
func pasted(text []byte) []byte {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, string(text)))
}

// plain drops hidden characters from a line.
func plain(typed string) string {
	var b strings.Builder
	c := safetext.NewStripper(&b)
	_, _ = io.WriteString(c, typed)
	_ = c.Close()
	return b.String()
}
