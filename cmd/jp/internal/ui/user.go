package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/prompt"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A client is the person at the terminal, as the turn loop asks them.
type client struct {
	*prompt.Prompter
	tty  terminal.Asker
	own  *terminal.TTY // to close; nil if the terminal is the console's
	root *os.Root
	gate sync.Mutex // held while the terminal is in use

	asking  atomic.Bool // a question waits for the person
	editing atomic.Bool // they answer it in an editor

	front   *TerminalFront
	palette terminal.Palette
}

// OpenClient finds the person at the terminal, nil if there is none.
func OpenClient(f *TerminalFront) *client {
	e, r := f.Env, f.Repo
	c := &client{front: f}
	if e.Console != nil {
		c.tty, c.palette = e.Console.Asker(), e.Palette(e.Stdout)
	} else {
		tty, err := terminal.OpenTTY()
		if err != nil {
			return nil
		}
		c.tty, c.own, c.palette = tty, tty, e.Palette(tty.File())
		tty.KeepUnsent(live.Unsent{Dir: r.StateDir(), ID: f.about})
	}
	if r.At.TopLevel != "" {
		c.root, _ = os.OpenRoot(r.At.TopLevel) // without it a preview shows less
	}
	var standing func(ctx context.Context, q turnloop.Question) (turnloop.Rule, bool)
	if !f.transient {
		standing = func(ctx context.Context, q turnloop.Question) (turnloop.Rule, bool) { return agent.Standing(ctx, r, q) }
	}
	var others func() int
	if Redraws(e.Style, e.Get("TERM")) {
		others = func() int { return f.live.written() }
	}
	c.Prompter = prompt.New(c.tty, prompt.Options{
		Others: others, Standing: standing,
		Allow: func(rule turnloop.Rule) (string, error) {
			file, err := agent.Allow(r, rule)
			return ShortDir(e, file), err
		},
		Page: func(text string) bool {
			if e.NoPager {
				return false
			}
			c.editing.Store(true)
			defer c.editing.Store(false)
			defer Self{e}.lend()()
			out := e.Stdout
			if c.own != nil {
				out = c.own.File()
			}
			return terminal.PageWhole(e.Environ, out, text)
		},
		Palette: c.palette, Root: c.root, Dir: ShortDir(e, r.Place()), Limit: r.Config.Limits.ToolTimeout, Confinement: toolset.SandboxOf(r, e.Host).Words(),
		Editor: func(ctx context.Context, initial []byte, ext string) ([]byte, error) {
			c.editing.Store(true)
			defer c.editing.Store(false)
			if c.front.transient {
				return agent.EditApart(ctx, c.front, r, initial, ext)
			}
			return agent.EditText(ctx, r, c.front, initial, ext)
		},
	})
	return c
}

// Ask puts a question. Ctrl+C in its place opens a menu; the loss of the
// terminal interrupts the turn. Both leave the question unanswered.
func (c *client) Ask(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	defer c.take()()
	c.asking.Store(true)
	defer c.asking.Store(false)
	c.front.notify.tell(waitsForYou)
	defer c.front.notify.acted()
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

// take waits for the terminal, and takes the live line away. It returns a function that gives the
// terminal back.
func (c *client) take() func() {
	c.gate.Lock()
	c.front.live.hide()
	return c.gate.Unlock
}

// Close implements [user].
func (c *client) Close() {
	if c == nil {
		return
	}
	if c.own != nil {
		c.own.Close()
	}
	if c.root != nil {
		c.root.Close()
	}
}

// direct is the terminal for a question that the user has asked for: the next key answers it.
func (c *client) direct() terminal.Asker {
	if console, ok := c.tty.(interface{ Direct() terminal.Asker }); ok {
		return console.Direct()
	}
	return c.tty
}

// ShortDir is a directory as people write it.
func ShortDir(e *Env, dir string) string {
	if home := e.Get("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return dir
}

// Tell implements [user].
func (c *client) Tell(line string) { c.front.Env.aside(func() { fmt.Fprintln(c.tty, line) }) }

// Approve implements [user].
func (c *client) Approve(ctx context.Context, s *toolset.Server) error {
	defer c.take()()
	return askApproval(ctx, c.tty, c.palette, s)
}

// Decide implements [user]. In a chat one line stays of the question.
func (c *client) Decide(ctx context.Context, d agent.UserDecision) (key rune, err error) {
	defer c.take()()
	if c.front.live != nil && c.front.Env.Console != nil {
		c.tty.Mark()
		defer func() {
			c.tty.Erase(true)
			for _, choice := range d.Choices {
				if choice.Key == key {
					fmt.Fprintln(c.tty, c.palette.Dim(decided(d.Text, choice.Text, c.tty.Width())))
				}
			}
		}()
	}
	letters, words := "", make([]string, len(d.Choices))
	for i, choice := range d.Choices {
		letters += string(choice.Key)
		words[i] = string(choice.Key) + " " + choice.Text
	}
	if d.Help != "" {
		letters += "?"
		words = append(words, "? help")
	}
	fmt.Fprint(c.tty, d.Text)
	prompt := "> "
	if d.List {
		for _, choice := range d.Choices {
			fmt.Fprintf(c.tty, "  %c  %s\n", choice.Key, choice.Text)
		}
		if d.Help != "" {
			fmt.Fprint(c.tty, "  ?  help\n")
		}
	} else {
		prompt = terminal.Choices(c.tty.Width(), 2, "", words...) + "\n> "
	}
	for {
		key, err := c.tty.Choose(ctx, prompt, func(k terminal.Key) bool {
			return k == terminal.KeyEnter || k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
		})
		if err != nil {
			return 0, userError(err)
		}
		switch key {
		case terminal.KeyCtrlC:
			fmt.Fprintln(c.tty)
			return 0, agent.ErrUserLeft
		case terminal.KeyCtrlD, terminal.KeyEsc:
			fmt.Fprintln(c.tty)
			return 0, agent.ErrUserSilent
		case terminal.KeyEnter:
			if d.Enter != 0 {
				fmt.Fprintf(c.tty, "%c\n", d.Enter)
				return d.Enter, nil
			}
			fmt.Fprintf(c.tty, "\n%s\n", joinLetters(letters))
			continue
		}
		fmt.Fprintf(c.tty, "%c\n", key.Lower())
		if key.Lower() != '?' {
			return rune(key.Lower()), nil
		}
		fmt.Fprint(c.tty, d.Help)
	}
}

// decided is the line that stays of a question: the first one of its text, as far as there is room, and the choice.
func decided(text, choice string, width int) string {
	about, _, _ := strings.Cut(text, "\n")
	if room := width - 1 - safetext.Columns(" · "+choice); about != "" && room >= 16 {
		choice = safetext.Fit(about, room) + " · " + choice
	}
	return safetext.Fit(choice, width-1)
}

// Line implements [user].
func (c *client) Line(ctx context.Context, about conversation.ID, prompt string) (string, error) {
	c.front.About(about)
	c.front.live.cover(true)
	defer c.front.live.cover(false)
	line, err := c.tty.Line(ctx, prompt)
	if errors.Is(err, terminal.ErrBack) { // no line: back to the question
		fmt.Fprintln(c.tty)
		return "", nil
	}
	return line, userError(err)
}

// userError translates an error of the terminal for package agent.
func userError(err error) error {
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return fmt.Errorf("%w: %w", agent.ErrUserGone, err)
	case errors.Is(err, terminal.ErrInterrupted):
		return agent.ErrUserLeft
	case errors.Is(err, io.EOF):
		return agent.ErrUserSilent
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
