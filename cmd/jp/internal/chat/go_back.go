package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// perform does a task. To go back puts the newest request into the line, and the text that the person
// enters next replaces it.
func (c *chat) perform(ctx context.Context, t task) error {
	switch t {
	case taskOpen:
		return c.openBlock(ctx)
	case taskFollow:
		c.others.pid = 0
		c.others.look(ctx, c)
		return nil
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
	switch {
	case err != nil:
		return err
	case len(asked) == 0:
		c.console.Below(c.dim("There is no request yet."))
	case c.console.Text() == "" && c.back.chosen() == nil: // else the person types already, or has entered a text
		c.back.begin(asked)
		c.replaceLine(asked[0].Text)
	}
	return nil
}

// A rewind is a request of the person's that the next one replaces.
type rewind struct {
	mu    sync.Mutex
	asked []agent.AskedRequest // the newest first; nil: the next request comes behind all
	at    int
}

func (b *rewind) begin(asked []agent.AskedRequest) {
	b.mu.Lock()
	b.asked, b.at = asked, 0
	b.mu.Unlock()
}

// chosen is the request, or nil.
func (b *rewind) chosen() *agent.AskedRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == nil {
		return nil
	}
	return &b.asked[b.at]
}

// end ends the choice, and returns the request.
func (b *rewind) end() *agent.AskedRequest {
	chosen := b.chosen()
	b.begin(nil)
	return chosen
}

// move goes to the next newer request, or the next older one, and from an end to the other one. It reports false if the text
// differs from the chosen request.
func (b *rewind) move(newer bool, text string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == nil || b.asked[b.at].Text != text { // nil: it has just been entered
		return "", false
	}
	step := 1
	if newer {
		step = len(b.asked) - 1
	}
	b.at = (b.at + step) % len(b.asked)
	return b.asked[b.at].Text, true
}

// rows are the requests around the chosen one, and the keys. After an edit the person cannot choose
// another one.
func (b *rewind) rows(width int, text string, dim func(string) string) (rows []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == nil {
		return nil
	}
	keys := []string{"Enter ask in its place", "Esc stay here"}
	if b.asked[b.at].Text == text {
		if len(b.asked) > 1 {
			keys = slices.Insert(keys, 1, "Up, Down another request")
		}
		first := max(0, min(b.at-mostCandidates/2, len(b.asked)-mostCandidates))
		for i, a := range b.asked[first:min(first+mostCandidates, len(b.asked))] {
			row := safetext.Fit(safetext.Clean(problem.OneLine(a.Text)), width-3)
			if first+i == b.at {
				rows = append(rows, "❯ "+row)
			} else {
				rows = append(rows, dim("  "+row))
			}
		}
	}
	for row := range strings.SplitSeq(terminal.Choices(width-1, 2, "", keys...), "\n") {
		rows = append(rows, dim("  "+strings.TrimLeft(row, " ")))
	}
	return rows
}

// goBefore forks the conversation before a request, in whose place the person asks another text. Files come back if the person
// says so. It reports false if they stay. A kill leaves the text with the conversation that the session has then.
func (c *chat) goBefore(ctx context.Context, to agent.AskedRequest, text string) (gone bool, err error) {
	c.draft.ask(text)
	files, stay, err := to.Changed, false, error(nil)
	if files {
		if files, stay, err = filesToo(ctx, c.console); err != nil || stay {
			return false, err
		}
	}
	startOver := func() error {
		c.draft.leave(c.id)
		err := c.startNew(ctx, nil)
		if err != nil {
			c.draft.leave("")
		}
		return err
	}
	from := c.id
	switch id := from.Short(); {
	case to.Before >= 0 && files:
		err = c.do(ctx, command{jp: []string{"fork", fmt.Sprintf("%s@%d", id, to.Before), "--restore", "--yes"}, use: true}, nil)
	case to.Before >= 0:
		err = c.do(ctx, command{jp: []string{"fork", fmt.Sprintf("%s@%d", id, to.Before), "--activate"}, use: true}, nil)
	case files: // and no event is left to fork at
		if err = c.do(ctx, command{jp: []string{"undo", id + "@0", "--yes"}}, nil); err == nil {
			err = startOver()
		}
	default:
		err = startOver()
	}
	if err != nil || c.id == from { // the fork printed the reason
		return false, err
	}
	fmt.Fprintln(c.console)
	return true, nil
}

// filesToo asks whether the files come back with the words.
func filesToo(ctx context.Context, out line) (files, stay bool, err error) {
	asker := out.Asker()
	asker.Mark()
	defer asker.Erase(true)
	key, err := asker.Choose(ctx, "Files changed since that request. Bring them back, too?\n"+terminal.Choices(out.Width(), 0, "", "f files and words", "w words only", "Esc stay here")+"\n> ", func(k terminal.Key) bool {
		return k.Lower() == 'f' || k.Lower() == 'w' || k == terminal.KeyEsc
	})
	return key.Lower() == 'f', key.Lower() != 'f' && key.Lower() != 'w', err
}

// replaceLine puts a text into the line, as if it was typed.
func (c *chat) replaceLine(text string) {
	c.console.SetText(text)
	c.Changed(text)
}
