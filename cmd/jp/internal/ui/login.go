package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// mostKey bounds how much of standard input is read for a key, in bytes.
const mostKey = 64 << 10

// A Login keeps the key for a provider, or deletes it. No tool may do either.
type Login struct {
	Env *Env
	Out bool // it deletes the key
}

// Run asks for the key and keeps it. args may name the provider.
func (l Login) Run(ctx context.Context, args []string) error {
	e := l.Env
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.WarnOfMistake(); err != nil {
		return err
	}
	if toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	providers := models.ProvidersOf(r)
	var said []string
	name, err := providers.LoginTo(strings.Join(args, ""), l.Out)
	if err == nil && l.Out {
		said, err = providers.Logout(ctx, e.Host, name)
	} else if err == nil {
		var key string
		if key, err = l.ask(ctx, name); err == nil {
			said, err = providers.Login(ctx, e.Host, name, key)
		}
	}
	for _, line := range said {
		fmt.Fprintln(e.Messages(), line)
	}
	return err
}

// ask reads a key from standard input, or lets the user type it unseen.
func (l Login) ask(ctx context.Context, name string) (string, error) {
	e := l.Env
	if !IsTerminal(e.Stdin) {
		type read struct {
			text []byte
			err  error
		}
		done := make(chan read, 1)
		go func() { // it ends with the process
			text, err := io.ReadAll(io.LimitReader(e.Stdin, mostKey))
			done <- read{text, err}
		}()
		select {
		case r := <-done:
			return string(r.text), r.err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	tty, err := terminal.OpenTTY()
	if err != nil {
		return "", problem.Usage("jp login asks for the key at a terminal, or reads it from a pipe.")
	}
	defer tty.Close()
	key, err := tty.Hidden(ctx, "Key for "+safetext.Show(name)+" (not shown): ")
	if errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, terminal.ErrBack) || errors.Is(err, io.EOF) {
		return "", problem.Unchanged(problem.ExitInterrupted, "interrupted")
	}
	return key, hangupOf(err)
}
