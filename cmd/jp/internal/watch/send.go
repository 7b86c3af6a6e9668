package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/agent"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
)

// Send gives a message to a running conversation. If it does not run, the message is a request in the background. The text "-"
// stands for standard input.
func Send(ctx context.Context, e *ui.Env, word, text string) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.States().Sweep(ctx, e.Host)
	id, err := r.Find().Resolve(ctx, e.Host, word)
	if err != nil {
		return err
	}
	if text == "-" {
		piped, err := io.ReadAll(e.Stdin)
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		text = strings.TrimRight(string(piped), "\n")
	}
	sent, err := agent.Send(ctx, r, id, text)
	switch {
	case errors.Is(err, repo.ErrNotRunning):
		o := agent.Request{
			Target: agent.Target{ID: string(id)}, Detach: true, Input: agent.Input{Text: []string{text}, NoStdin: true, NoEdit: true},
			Show: agent.ShowOptions{Quiet: e.Quiet, Verbose: e.Verbose},
		}
		return agent.Ask(ctx, r, o, e.Frontend(r, o))
	case err != nil:
		return err
	case e.Format.Structured():
		return ui.WriteJSON(e.Results(), sent)
	}
	_, err = fmt.Fprintf(e.Results(), "Queued. %s reads it at its next boundary (pid %d).\n", id, sent.PID)
	return err
}
