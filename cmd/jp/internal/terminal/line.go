package terminal

import (
	"bytes"
	"context"
	"io"
	"strings"

	"jp/internal/safetext"
)

// Line shows a prompt and returns the line that the person types and edits,
// without its newline and without control characters. The errors are [io.EOF]
// for Ctrl+D on an empty line, [ErrInterrupted] for Ctrl+C, [ErrLeft], [ErrHangup],
// and the cause of ctx. What was typed before the prompt appeared is thrown away.
func (t *TTY) Line(ctx context.Context, prompt string) (string, error) {
	in, err := t.listen(ctx)
	if err != nil {
		return "", err
	}
	defer in.stop()
	restore, err := t.enter(t.byLine)
	if err != nil {
		return "", err
	}
	defer restore()
	for {
		if _, err := io.WriteString(t, prompt); err != nil {
			return "", t.lost("show the question", err)
		}
		line, err := in.line()
		if err != nil {
			return "", err
		}
		if line != "" || t.now().Sub(t.letter) >= afterLetter {
			return line, nil
		}
	}
}

// line reads up to the end of a line.
func (in *input) line() (string, error) {
	var typed []byte
	buf := make([]byte, 4096)
	for {
		n, err := in.read(buf)
		switch {
		case err != nil:
			return "", err
		case n == 0 && len(typed) == 0:
			return "", io.EOF
		case n == 0:
			return plain(string(typed)), nil
		case buf[n-1] == byte(KeyCtrlC):
			return "", ErrInterrupted
		case buf[n-1] == byte(KeyCtrlZ) && in.tty.leave:
			return "", ErrLeft
		}
		typed = append(typed, buf[:n]...)
		if whole, ended := bytes.CutSuffix(typed, []byte("\n")); ended {
			return plain(string(whole)), nil
		}
	}
}

// plain drops what cursor keys and the like left in a line.
func plain(typed string) string {
	var b strings.Builder
	c := safetext.NewStripper(&b)
	_, _ = io.WriteString(c, typed)
	_ = c.Close()
	return b.String()
}
