package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"jp/cmd/jp/internal/prompt"
	"jp/cmd/jp/internal/terminal"
	"jp/tool/mcp"
	"jp/turnloop"
)

// A client is the person at the terminal, as the turn loop asks them.
type client struct {
	*prompt.Prompter
	tty  *terminal.TTY
	root *os.Root
	gate sync.Mutex // held while the terminal is in use

	front   *terminalFront
	palette terminal.Palette
}

// openClient finds the person at the terminal, nil where there is none.
func openClient(f *terminalFront) *client {
	e, r := f.env, f.repo
	tty, err := terminal.OpenTTY()
	if err != nil {
		return nil
	}
	c := &client{tty: tty, front: f, palette: e.palette(tty.File())}
	if r.TopLevel != "" {
		c.root, _ = os.OpenRoot(r.TopLevel) // without it a preview shows less
	}
	c.Prompter = prompt.New(tty, prompt.Options{
		Palette: c.palette, Root: c.root, Dir: shortDir(e, r.place()), Limit: r.config.Limits.ToolTimeout, Confinement: r.walls(e.host).words(),
		Editor: func(ctx context.Context, initial []byte, ext string) ([]byte, error) {
			if c.front.transient {
				return editApart(ctx, c.front, r, initial, ext)
			}
			return r.editText(ctx, c.front, initial, ext)
		},
	})
	return c
}

// Ask puts a question. Ctrl+C in its place opens a menu; the loss of the
// terminal interrupts the turn. Neither is an answer.
func (c *client) Ask(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	c.gate.Lock()
	defer c.gate.Unlock()
	for {
		answer, err := c.Prompter.Ask(ctx, question)
		switch {
		case errors.Is(err, terminal.ErrHangup):
			return answer, &turnloop.Interrupt{Signal: "SIGHUP"}
		case !errors.Is(err, prompt.ErrInterrupted):
			return answer, err
		}
		if err := c.atQuestion(ctx); err != nil {
			return answer, err
		}
	}
}

// Close implements [user].
func (c *client) Close() {
	if c == nil {
		return
	}
	c.tty.Close()
	if c.root != nil {
		c.root.Close()
	}
}

// shortDir is a directory as people write it.
func shortDir(e *env, dir string) string {
	if home := e.get("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return dir
}

// Tell implements [user].
func (c *client) Tell(line string) { fmt.Fprintln(c.tty, line) }

// Approve implements [user].
func (c *client) Approve(ctx context.Context, s *mcp.Server) error {
	c.gate.Lock()
	defer c.gate.Unlock()
	return askApproval(ctx, c.tty, c.palette, s)
}

// Decide implements [user]. Enter decides nothing.
func (c *client) Decide(ctx context.Context, d userDecision) (rune, error) {
	c.gate.Lock()
	defer c.gate.Unlock()
	letters, words := "", make([]string, len(d.choices))
	for i, choice := range d.choices {
		letters += string(choice.key)
		words[i] = string(choice.key) + " " + choice.text
	}
	if d.help != "" {
		letters += "?"
		words = append(words, "? help")
	}
	fmt.Fprint(c.tty, d.text)
	prompt := "> "
	if d.list {
		for _, choice := range d.choices {
			fmt.Fprintf(c.tty, "  %c  %s\n", choice.key, choice.text)
		}
		if d.help != "" {
			fmt.Fprint(c.tty, "  ?  help\n")
		}
	} else {
		prompt = "  " + strings.Join(words, "   ") + "\n> "
	}
	for {
		key, err := c.tty.Choose(ctx, prompt, func(k terminal.Key) bool {
			return k == terminal.KeyEnter || strings.ContainsRune(letters, rune(k.Lower()))
		})
		if err != nil {
			return 0, userError(err)
		}
		switch key {
		case terminal.KeyCtrlC:
			fmt.Fprintln(c.tty)
			return 0, errUserLeft
		case terminal.KeyCtrlD:
			fmt.Fprintln(c.tty)
			return 0, errUserSilent
		case terminal.KeyEnter:
			fmt.Fprintf(c.tty, "\n%s\n", joinLetters(letters))
			continue
		}
		fmt.Fprintf(c.tty, "%c\n", key.Lower())
		if key.Lower() != '?' {
			return rune(key.Lower()), nil
		}
		fmt.Fprint(c.tty, d.help)
	}
}

// Line implements [user].
func (c *client) Line(ctx context.Context, prompt string) (string, error) {
	line, err := c.tty.Line(ctx, prompt)
	return line, userError(err)
}

// userError is an error of the terminal as [user] has it.
func userError(err error) error {
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return fmt.Errorf("%w: %w", errUserGone, err)
	case errors.Is(err, terminal.ErrInterrupted):
		return errUserLeft
	case errors.Is(err, io.EOF):
		return errUserSilent
	}
	return err
}

func joinLetters(letters string) string {
	words := strings.Split(letters, "")
	if len(words) == 1 {
		return letters
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
