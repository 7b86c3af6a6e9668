package chat

import (
	"context"
	"fmt"
	"strings"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
)

// perform does a task.
func (c *chat) perform(ctx context.Context, t task) error {
	switch t {
	case taskOpen:
		return c.openBlock(ctx)
	case taskEdit:
		return c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
			written, err := agent.EditApart(ctx, c.env.Frontend(r, c.options.Request), r, []byte(c.console.Text()), ".md")
			if err == nil {
				c.replaceLine(strings.TrimRight(string(written), "\n"))
			}
			return err
		})
	}
	var asked []agent.AskedRequest
	err := c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) (err error) {
		if c.id != "" {
			asked, err = agent.AskedRequests(ctx, r, c.id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		c.console.Below(c.dim("There is no request yet."))
		return nil
	}
	to, files, err := chooseRequest(ctx, ui.Self{Env: c.env}, c.console, asked)
	if err != nil || to == nil {
		return err
	}
	from := c.id
	switch id := c.id.Short(); {
	case to.Before >= 0 && files:
		err = c.do(ctx, command{jp: []string{"fork", fmt.Sprintf("%s@%d", id, to.Before), "--restore", "--yes"}, use: true}, nil)
	case to.Before >= 0:
		err = c.do(ctx, command{jp: []string{"fork", fmt.Sprintf("%s@%d", id, to.Before), "--activate"}, use: true}, nil)
	case files: // and no event is left to fork at
		if err = c.do(ctx, command{jp: []string{"undo", id + "@0", "--yes"}}, nil); err == nil {
			err = c.startNew(ctx, nil)
		}
	default:
		err = c.startNew(ctx, nil)
	}
	if err == nil && c.id != from { // else the fork said why there is none
		c.replaceLine(to.Text)
	}
	return err
}

// replaceLine puts a text into the line, as if it was typed.
func (c *chat) replaceLine(text string) {
	c.console.SetText(text)
	c.Changed(text)
}

// chooseRequest lets the person choose a request to go back before, and whether the files come back. It is nil if they stay.
func chooseRequest(ctx context.Context, self ui.Self, out line, asked []agent.AskedRequest) (to *agent.AskedRequest, files bool, err error) {
	var rows []string
	for _, a := range asked {
		rows = append(rows, safetext.Clean(problem.OneLine(a.Text)))
	}
	chosen, err := self.ChooseRow(ctx, "Go back to before which request? (Esc stays here)", rows)
	if err != nil || chosen < 0 {
		return nil, false, err
	}
	key, err := out.Asker().Choose(ctx, terminal.Choices(out.Width(), 0, "", "f files and words", "w words only", "Esc stay here")+"\n> ", func(k terminal.Key) bool {
		return k.Lower() == 'f' || k.Lower() == 'w' || k == terminal.KeyEsc
	})
	fmt.Fprintln(out)
	if err != nil || key.Lower() != 'f' && key.Lower() != 'w' {
		return nil, false, err
	}
	return &asked[chosen], key.Lower() == 'f', nil
}
