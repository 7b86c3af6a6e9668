package chat

import (
	"context"
	"fmt"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/repo"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/turnloop"
)

// mentioned are the files that the person names with @ and means. A doubtful one is asked about.
func (c *chat) mentioned(ctx context.Context, e console.Entry) (files []string, err error) {
	if !strings.Contains(e.Text, "@") {
		return nil, nil
	}
	err = c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		found, missing, err := contextfiles.AttachmentSource{Repo: r, Env: c.env.Host}.Mentions(ctx, e.Text, e.Pasted)
		if err != nil {
			return err
		}
		for _, path := range missing {
			fmt.Fprintln(c.console, c.dim(terminal.Wrap("There is no file "+safetext.Show(path)+". jp sends the words as you typed them.", c.console.Width())))
		}
		for _, m := range found {
			yes := len(m.Doubts) == 0
			if !yes {
				if yes, err = meant(ctx, c.console.Asker(), m); err != nil {
					return err
				}
			}
			if yes {
				files = append(files, m.Word)
			}
		}
		return nil
	})
	return files, err
}

// meant asks whether a file is to be sent.
func meant(ctx context.Context, ask terminal.Asker, m contextfiles.Mention) (bool, error) {
	fmt.Fprintf(ask, "Attach %s? It is %s.\n", safetext.Escape(m.Resolved), strings.Join(m.Doubts, ", "))
	key, err := ask.Choose(ctx, terminal.Choices(ask.Width(), 0, "", "y yes", "n no, send the text alone", "Esc do not ask")+"\n> ", func(k terminal.Key) bool {
		return k.Lower() == 'y' || k.Lower() == 'n' || k == terminal.KeyEsc
	})
	if err != nil {
		return false, err
	}
	switch key.Lower() {
	case 'y', 'n':
		fmt.Fprintf(ask, "%c\n", key.Lower())
		return key.Lower() == 'y', nil
	}
	fmt.Fprintln(ask)
	return false, repo.Interrupted(&turnloop.Interrupt{Signal: "SIGINT"})
}
