package terminal

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Key is one that a person typed: a character, or one of the constants.
type Key rune

// Keys that are no characters.
const (
	KeyCtrlC Key = 0x03
	KeyCtrlD Key = 0x04
	KeyCtrlZ Key = 0x1a
	KeyQuit  Key = 0x1c // Ctrl+\
	KeyEnter Key = '\r'
	KeyEsc   Key = 0x1b
	KeyOther Key = -1 // a key that has no name here, or a paste
)

// Lower is the key without regard to case.
func (k Key) Lower() Key { return Key(unicode.ToLower(rune(k))) }

const (
	// afterLetter is how long a newline belongs to the letter before it, for
	// people who are used to confirm.
	afterLetter = 500 * time.Millisecond
	// A question that follows another one within anew ignores keys typed within unread: a key that
	// repeats, or that was meant for the question before.
	anew   = time.Second
	unread = 400 * time.Millisecond
	// repeats is how far apart the same key comes at most while it is held down.
	repeats = 150 * time.Millisecond
	// onePiece is the longest time between two bytes of one key or paste.
	onePiece = 15 * time.Millisecond
)

// Key waits for any key. See [TTY.Choose].
func (t *TTY) Key(ctx context.Context) (Key, error) { return t.Choose(ctx, "", nil) }

// Choose shows a prompt, waits for a key that accept wants (nil: any), and returns it without showing
// it. It throws away keys typed before the prompt appeared and keys that arrive in one piece, as from
// a paste. If another question has just ended or the person was typing, it also throws away keys that
// come before a person can have read the prompt: the "> " at the end of the prompt appears when that
// time is over. Ctrl+C and Ctrl+D are returned regardless of accept. The errors are [ErrHangup],
// [ErrLeft] and the cause of ctx. The terminal's mode is put back in each case.
func (t *TTY) Choose(ctx context.Context, prompt string, accept func(Key) bool) (key Key, err error) {
	if t.marked != nil {
		t.marked.asked++
	}
	in, err := t.listen(ctx)
	if err != nil {
		return 0, err
	}
	defer in.stop()
	typed, restore, err := t.enter(in)
	if err != nil {
		return 0, err
	}
	defer restore()
	head, asks := strings.CutSuffix(prompt, marker)
	if err := t.ask(head); err != nil {
		return 0, err
	}
	if asks {
		defer func() {
			t.ended = time.Time{}
			if err != nil || unicode.IsPrint(rune(key)) { // Ctrl+C is meant for the current question
				t.ended = time.Now()
			}
		}()
		if quiet := t.quiet(typed); quiet > 0 {
			key, err := t.chosen(in, time.Now().Add(t.unread), quiet, func(Key) bool { return false })
			if err != nil || key != 0 {
				return key, err
			}
		}
		if err := t.ask(marker); err != nil {
			return 0, err
		}
	}
	return t.chosen(in, time.Time{}, 0, accept)
}

// quiet is how long no key may come before a person can answer a question, if they were typing when it
// came up or have just answered another one. 0: they can answer at once.
func (t *TTY) quiet(typed bool) time.Duration {
	switch {
	case typed:
		return t.unread
	case time.Since(t.ended) < anew:
		return repeats
	}
	return 0
}

// Repeat makes the next question the last one once more.
func (t *TTY) Repeat() { t.ended = time.Time{} }

// marker stands at the end of a question that can be answered.
const marker = "> "

func (t *TTY) ask(text string) error {
	if _, err := io.WriteString(t, text); err != nil {
		return t.lost("show the question", err)
	}
	return nil
}

// chosen reads keys until there is one that accept wants, or one that ends the
// question, or until a time, and until none has come for a while; it is then 0.
func (t *TTY) chosen(in *input, until time.Time, quiet time.Duration, accept func(Key) bool) (Key, error) {
	for {
		if !until.IsZero() {
			more, err := in.wait(max(0, time.Until(until)))
			if !more || err != nil {
				return 0, err
			}
		}
		key, err := in.key()
		if err != nil {
			return 0, err
		}
		if held := time.Now().Add(quiet); !until.IsZero() && until.Before(held) {
			until = held
		}
		if t.confirms(key) {
			continue
		}
		if t.leave && (key == KeyCtrlZ || key == KeyQuit) {
			return 0, ErrLeft
		}
		if key == KeyCtrlC || key == KeyCtrlD || accept == nil || accept(key) {
			return key, nil
		}
	}
}

// confirms reports whether a newline only ends the letter before it.
func (t *TTY) confirms(key Key) bool {
	if unicode.IsPrint(rune(key)) {
		t.letter = t.now()
		return false
	}
	return key == KeyEnter && t.now().Sub(t.letter) < afterLetter
}

// key reads one key with all its bytes.
func (in *input) key() (Key, error) {
	typed, err := in.tty.typed.piece(func(limit time.Duration) ([]byte, error) {
		if more, err := in.wait(limit); !more || err != nil {
			return nil, err
		}
		return in.more(nil)
	}, in.tty.now)
	if err != nil {
		return 0, err
	}
	return decode(typed), nil
}

// The marks that a terminal sends before and behind a paste.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// more waits for bytes, and returns those that came before with the new ones.
func (in *input) more(before []byte) ([]byte, error) {
	buf := make([]byte, 256)
	n, err := in.read(buf)
	if err == nil && n == 0 {
		err = ErrHangup // while keys are read, the end of input is not a key
	}
	return append(before, buf[:n]...), err
}

// decode finds the key in bytes that were typed in one piece. A cursor key is
// none that jp knows, and not the letter at its end; several keys at once are a
// paste, and only its Ctrl+C counts.
func decode(typed []byte) Key {
	if bytes.Contains(typed, []byte(pasteBegins)) {
		return KeyOther
	}
	if len(typed) > 1 && bytes.IndexByte(typed, byte(KeyCtrlC)) >= 0 {
		return KeyCtrlC
	}
	r, size := utf8.DecodeRune(typed)
	rest := bytes.Trim(typed[size:], "\r\n")
	switch {
	case len(rest) > 0 || r == utf8.RuneError:
		return KeyOther
	case r == '\n' || r == '\r':
		return KeyEnter
	case unicode.IsPrint(r) || len(typed) == 1:
		return Key(r)
	}
	return KeyOther
}
