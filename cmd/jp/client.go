package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"jp/cmd/jp/internal/prompt"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/ownfolder"
	"jp/turnloop"
)

// A client is the person at the terminal, as the turn loop asks them.
type client struct {
	*prompt.Prompter
	tty  *terminal.TTY
	root *os.Root
	gate sync.Mutex // held while the terminal is in use

	transient bool // nothing of the turn is kept
}

// openClient finds the person at the terminal, nil where there is none or
// nobody is to be asked.
func (q *query) openClient() *client {
	if q.opts.nonInteractive {
		return nil
	}
	c := openClient(q.env, q.repo)
	if c != nil {
		c.transient = q.opts.noPersist
	}
	return c
}

// openClient finds the person at the terminal, nil where there is none.
func openClient(e *env, r *repo) *client {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return nil
	}
	c := &client{tty: tty}
	if r.TopLevel != "" {
		c.root, _ = os.OpenRoot(r.TopLevel) // without it a preview shows less
	}
	c.Prompter = prompt.New(tty, prompt.Options{
		Palette: e.palette(tty.File()), Root: c.root, Dir: shortDir(e, r.place()), Limit: r.config.Limits.ToolTimeout, Confinement: r.walls(e.host).words(),
		Editor: func(ctx context.Context, initial []byte, ext string) ([]byte, error) {
			if c.transient {
				return editApart(ctx, e, r, initial, ext)
			}
			return r.editText(ctx, e, initial, ext)
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

func (c *client) close() {
	if c == nil {
		return
	}
	c.tty.Close()
	if c.root != nil {
		c.root.Close()
	}
}

// editText lets the user edit a text in a file of its own.
func (r *repo) editText(ctx context.Context, e *env, initial []byte, ext string) ([]byte, error) {
	drafts, err := r.own().Open(draftsFolder)
	if err != nil {
		return nil, err
	}
	defer drafts.Close()
	f, err := os.CreateTemp(filepath.Join(r.CommonDir, ownfolder.Name, draftsFolder), "edit-*"+ext)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(initial)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := e.editor(ctx, r, f.Name()); err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
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
