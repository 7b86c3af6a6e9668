package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
)

func (c *chat) askBeside(ctx context.Context, words []string) error {
	text := strings.Join(words, " ")
	switch {
	case text == "":
		return problem.Usage("/btw takes a question.")
	case c.id == "":
		return problem.Usage("there is no conversation yet to ask beside.")
	}
	c.draft.ask("/btw " + text) // until it is answered: a kill may come in between
	o := c.settings.next(false)
	o.Input.Text, o.Input.Attachments, o.Input.Given = []string{text}, nil, nil
	var id conversation.ID
	err := c.ask(ctx, o, func(ctx context.Context, r *repo.Repo, o agent.Request) (err error) {
		id, err = agent.AskBeside(ctx, r, c.id, o, c.env.Frontend(r, o))
		return err
	})
	if id != "" {
		c.draft.recorded()
		fmt.Fprintln(c.console, c.dim(terminal.Wrap(fmt.Sprintf("The conversation goes on without this. It is kept in the archive: %s", action.Print(id.Short())), c.console.Width())))
	}
	return err
}

func (c *chat) showContext(ctx context.Context, _ []string) error {
	return c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		o := c.request(false)
		use, err := agent.ContextByKind(ctx, r, o, c.env.Frontend(r, o))
		if err != nil {
			return err
		}
		for _, row := range ui.ContextRows(use, c.console.Width(), c.env.Palette(c.env.Stdout), c.plain == nil) {
			fmt.Fprintln(c.console, row)
		}
		return nil
	})
}

func effortFlags(words []string) []string {
	return []string{"--cfg", "parameters.reasoning=" + effortValue(strings.Join(words, " "))}
}

func effortValue(word string) string {
	if word == agent.EffortAuto {
		return ""
	}
	return word
}

// chooseEffort sets how much the model thinks, by a word or from a menu.
func (c *chat) chooseEffort(ctx context.Context, words []string) error {
	model := c.bottom.asks()
	return c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		levels, now := agent.Efforts(r, model)
		word, err := chosen(ctx, ui.Self{Env: c.env}, "How much does "+problem.OneLine(model)+" think?", words, levels, now)
		if err != nil || word == "" {
			return err
		}
		if err := agent.CheckEffort(r, model, word); err != nil {
			return err
		}
		c.env.Override("parameters.reasoning", effortValue(word))
		c.bottom.thinks(word)
		c.showBottom()
		fmt.Fprintln(c.console, "From the next request on: effort "+word+".")
		return nil
	})
}

var themes = []string{"auto", "dark", "light", "none"}

// chooseTheme sets the colours for the terminal's background, by a word or from a menu.
func (c *chat) chooseTheme(ctx context.Context, words []string) error {
	word, err := chosen(ctx, ui.Self{Env: c.env}, "Which background has your terminal?", words, themes, c.env.Style.Theme)
	if err != nil || word == "" {
		return err
	}
	if !slices.Contains(themes, word) {
		return problem.Usage("invalid theme %q (want %s).", word, strings.Join(themes, ", "))
	}
	c.env.Override("style.theme", word)
	c.env.Style.Theme = word
	c.showBottom()
	fmt.Fprintln(c.console, "From now on: theme "+word+".")
	return nil
}

// chosen is the word that was given, or the one that the person takes of some; "" if they take none.
func chosen(ctx context.Context, self ui.Self, title string, words, from []string, now string) (string, error) {
	if len(words) > 0 {
		return strings.Join(words, " "), nil
	}
	rows := slices.Clone(from)
	if i := slices.Index(rows, now); i >= 0 {
		rows[i] += " (now)"
	}
	at, err := self.ChooseRow(ctx, title, rows)
	if err != nil || at < 0 {
		return "", err
	}
	return from[at], nil
}
