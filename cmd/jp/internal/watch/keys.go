package watch

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// A key is one that was typed, or text that was pasted.
type key struct {
	uv.KeyPressEvent
	pasted string
	alone  bool // no other key came at the same time
}

// is reports whether the key has one of the names.
func (k key) is(names ...string) bool { return k.pasted == "" && k.MatchString(names...) }

// char is the printable character of a key, or [terminal.KeyOther].
func (k key) char() terminal.Key {
	if k.pasted != "" {
		return terminal.KeyOther
	}
	if r, size := utf8.DecodeRuneInString(k.Text); size > 0 && size == len(k.Text) && unicode.IsPrint(r) {
		return terminal.Key(r)
	}
	return terminal.KeyOther
}

// A keyboard sends keys until it is closed.
type keyboard struct {
	keys chan key
	err  chan error // why it ended
	stop context.CancelFunc
	done chan struct{}
}

func openKeyboard(ctx context.Context, tty *terminal.TTY) (*keyboard, error) {
	ctx, stop := context.WithCancel(ctx)
	in, err := tty.Keyboard(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	k := &keyboard{keys: make(chan key), err: make(chan error, 1), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		err := k.read(ctx, in)
		_ = in.Close()
		if ctx.Err() == nil {
			k.err <- err
		}
	}()
	return k, nil
}

func (k *keyboard) close() {
	k.stop()
	<-k.done
}

func (k *keyboard) send(ctx context.Context, typed key) {
	select {
	case k.keys <- typed:
	case <-ctx.Done():
	}
}

func (k *keyboard) read(ctx context.Context, in *terminal.Keyboard) error {
	var decoder uv.EventDecoder
	typed := terminal.TextSequences()
	var pasted []byte
	pasting := false
	for {
		more, err := in.Read(typed.Wait(time.Now()))
		if err != nil {
			return err
		}
		typed.Add(more, time.Now())
		for alone := true; ; alone = false {
			if pasting {
				text, rest, ends := bytes.Cut(append(pasted, typed.TakeRest()...), []byte(terminal.PasteEnds))
				if pasted = text; !ends {
					break
				}
				k.send(ctx, key{pasted: string(text)})
				pasted, pasting = nil, false
				typed.Add(rest, time.Now())
			}
			next := typed.Next(time.Now())
			if next == nil {
				break
			}
			if string(next) == terminal.PasteBegins {
				pasting = true
				continue
			}
			if _, event := decoder.Decode(next); event != nil {
				if press, ok := event.(uv.KeyPressEvent); ok {
					k.send(ctx, key{KeyPressEvent: press, alone: alone && len(bytes.Trim(typed.Rest(), "\r\n")) == 0})
				}
			}
		}
	}
}

// A line is the line that the user types.
type line struct {
	prompt  string
	offered string // for Tab, or ""
	text    string
	done    func(text string, err error) // with [terminal.ErrBack] if the user typed Esc
}

// press edits the line, and reports whether it has ended.
func (l *line) press(k key) (ended bool) {
	switch {
	case k.pasted != "":
		l.text += strings.Join(strings.Fields(safetext.Clean(k.pasted)), " ")
	case k.is("enter"):
		l.done(l.text, nil)
		return true
	case k.is("esc", "ctrl+c"):
		l.done("", terminal.ErrBack)
		return true
	case k.is("backspace"):
		_, size := utf8.DecodeLastRuneInString(l.text)
		l.text = l.text[:len(l.text)-size]
	case k.is("tab"):
		l.text += l.offered
	case k.is("ctrl+u"):
		l.text = ""
	case k.is("ctrl+w"):
		text := strings.TrimRight(l.text, " ")
		l.text = text[:strings.LastIndexByte(text, ' ')+1]
	case k.char() != terminal.KeyOther:
		l.text += k.Text
	}
	return false
}

// row is the line as far as it fits, with its end.
func (l *line) row(width int) string {
	room := max(width-safetext.Columns(l.prompt)-1, 1)
	text := l.text
	for safetext.Columns(text) > room {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return l.prompt + text + "_"
}
