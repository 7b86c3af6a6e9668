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
	"jp/config"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// A command is an entry of the person with a slash. It stands for a command line of jp.
type command struct {
	name  string
	topic string // under which the help lists it
	args  string // as the help shows them
	help  string
	jp    []string // the command line, with the words that were given behind it; nil: jp does something else
	// run does it; nil: jp runs as a process of its own, and with use the conversation is the
	// session's afterwards.
	run func(c *chat, ctx context.Context, words []string) error
	use bool
	// set changes the settings of the next requests, and returns a message about it. Without words, jp
	// runs with those of bare, if there are any.
	set   func(s *settings, r *repo.Repo, words []string) (said string, err error)
	check func(ctx context.Context, r *repo.Repo, words []string) error // refuses words before set takes them; nil: set does
	bare  []string
	flags func(words []string) []string // the flags of the command line that the words stand for; nil: the words
	skill bool                          // it asks with a skill
	// prompt is the prompt of an MCP server with which it asks; nil: with none.
	prompt *agent.ServerPrompt
}

// asks reports whether the command is a question to the model.
func (o command) asks() bool { return o.skill || o.prompt != nil }

// commands returns all there are, in the order of the help. One whose command jp does not have is
// not listed.
func commands() []command {
	return []command{
		{name: "new", topic: topicConversation, help: "start a new conversation", jp: []string{"query", "--new"}, run: (*chat).startNew},
		{name: "use", topic: topicConversation, args: "[ID]", help: "go on in another conversation", jp: []string{"use"}, use: true},
		{name: "ls", topic: topicConversation, args: "[FLAGS]", help: "list the conversations", jp: []string{"ls"}},
		{name: "fork", topic: topicConversation, args: "[@E]", help: "go on in a fork, from event E or from here", jp: []string{"fork", "--activate"}, use: true},
		{name: "continue", topic: topicConversation, args: "[ID]", help: "resume an interrupted turn", jp: []string{"continue"}, run: (*chat).resume},
		{name: "discard", topic: topicConversation, args: "[ID]", help: "discard an interrupted turn", jp: []string{"continue", "--discard"}},
		{name: "undo", topic: topicFiles, args: "[@E]", help: "bring files back to before the last turn, or event E", jp: []string{"undo"}},
		{name: "restore", topic: topicFiles, args: "@E [PATH…]", help: "bring files back to after event E", jp: []string{"restore"}},
		{name: "diff", topic: topicFiles, args: "[FLAGS]", help: "show what the tools changed in the last turn", jp: []string{"diff"}},
		{name: "status", topic: topicConversation, args: "[ID]", help: "show what waits, and the next command", jp: []string{"status"}},
		{name: "print", topic: topicConversation, args: "[FLAGS]", help: "show the conversation", jp: []string{"print"}},
		{name: "context", topic: topicContext, help: "show what fills the model's context, by kind", run: (*chat).showContext},
		{name: "compact", topic: topicContext, args: "[FLAGS]", help: "make room in the model's context", jp: []string{"compact"}},
		{name: "usage", topic: topicContext, args: "[FLAGS]", help: "show tokens and costs", jp: []string{"usage"}},
		{name: "skills", topic: topicModel, args: "[FLAGS]", help: "list the skills", jp: []string{"skills"}},
		{name: "export", topic: topicConversation, args: "[FLAGS]", help: "export the conversation", jp: []string{"export"}},
		{name: "model", topic: topicModel, args: "[NAME]", help: "ask another model from now on, or list them", jp: []string{"query", "--model"}, check: checkModel, set: (*settings).chooseModel, bare: []string{"models"}},
		{name: "effort", topic: topicModel, args: "[LEVEL]", help: "how much the model thinks from now on", jp: []string{"query"}, flags: effortFlags, run: (*chat).chooseEffort},
		{name: "mode", topic: topicModel, args: "[plan|edits|auto|none]", help: "only read, write files or run programs unasked; Shift+Tab", jp: []string{"query", "--profile"}, set: (*settings).chooseMode},
		{name: "profile", topic: topicModel, args: "[NAME|none]", help: "use a profile from now on, or list them", jp: []string{"query", "--profile"}, set: (*settings).chooseProfile},
		{name: "tools", topic: topicModel, args: "[NAME|-NAME]…", help: "switch tools on or off from the next request on, or list them", jp: []string{"query"}, flags: toolFlags, check: checkTools, set: (*settings).switchTools},
		{name: "attach", topic: topicFiles, args: "[PATH…]", help: "attach files to the next request", jp: []string{"query", "--attachment"}, set: (*settings).attach},
		{name: "btw", topic: topicConversation, args: "QUESTION", help: "ask beside the conversation, which goes on without it", run: (*chat).askBeside},
		{name: "theme", topic: topicChat, args: "[auto|dark|light|none]", help: "colours for your terminal's background", run: (*chat).chooseTheme},
		{name: "help", topic: topicChat, help: "show these commands and the keys", run: func(c *chat, _ context.Context, _ []string) error {
			fmt.Fprintln(c.console, strings.Join(helpRows(c.offers.all(), c.console.Width(), terminal.Rows(c.env.Stdout)), "\n"))
			return nil
		}},
		{name: "quit", topic: topicChat, help: "leave", run: func(c *chat, _ context.Context, _ []string) error {
			c.Leave()
			return nil
		}},
	}
}

// aliases are the names that other agents have for commands. No list shows them.
var aliases = map[string]string{"/exit": "/quit", "/clear": "/new"}

// slash is how a command begins, and not a path.
var slash = lazy.Regexp(`^/([a-z][a-z0-9:-]*|[A-Za-z0-9_-]+:[A-Za-z0-9_.-]*)?$`)

// available are the commands that this jp has.
func (o Options) available() []command {
	return slices.DeleteFunc(commands(), func(c command) bool {
		return c.jp != nil && o.Has != nil && !o.Has(c.jp[0])
	})
}

// command returns the command that a text begins with, and the words behind it. It reports false for a
// text without a slash command. An unknown command has no name.
func (f *offers) command(text string) (found command, words []string, is bool) {
	words = strings.Fields(text)
	if len(words) == 0 || !slash().MatchString(words[0]) {
		return found, nil, false
	}
	all := f.all() // jp's own first
	for _, name := range []string{words[0], aliases[words[0]]} {
		if at := slices.IndexFunc(all, func(o command) bool { return "/"+o.name == name }); at >= 0 {
			found = all[at]
			break
		}
	}
	if !found.skill && strings.Contains(strings.TrimSpace(text), "\n") {
		return found, nil, false
	}
	return found, words[1:], true
}

// do runs a command, and shows the command line that it stands for.
func (c *chat) do(ctx context.Context, o command, words []string) error {
	if o.jp != nil && (o.flags == nil || len(words) > 0) {
		stands := slices.Concat(o.jp, words)
		if o.set != nil && len(words) == 0 && o.bare != nil {
			stands = o.bare
		}
		if o.flags != nil {
			stands = slices.Concat(o.jp, o.flags(words))
		}
		line := "jp " + safetext.EscapeAll(stands)
		fmt.Fprintln(c.console, c.env.Palette(c.env.Stdout).Dim(terminal.Wrap("$ "+line, c.console.Width())))
	}
	switch {
	case o.run != nil:
		return o.run(c, ctx, words)
	case o.set != nil && (len(words) > 0 || o.bare == nil):
		return c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
			if o.check != nil {
				if err := o.check(ctx, r, words); err != nil {
					return err
				}
			}
			said, err := o.set(&c.settings, r, words)
			if err == nil && said != "" {
				fmt.Fprintln(c.console, terminal.Wrap(said, c.console.Width()))
			}
			if err == nil && o.flags != nil && len(words) == 0 {
				err = listTools(c.console, r, c.settings.next(false), c.settings.modeName() == config.ProfilePlan)
			}
			c.bottom.chosen(r, c.settings.next(false))
			c.showBottom()
			return err
		})
	case o.set != nil:
		return ui.Self{Env: c.env}.Run(ctx, o.bare...)
	}
	if err := c.withRepo(ctx, c.takeSession); err != nil {
		return err
	}
	if err := (ui.Self{Env: c.env}).Run(ctx, slices.Concat(o.jp, words)...); err != nil {
		return err
	}
	if !o.use {
		return nil
	}
	return c.withRepo(ctx, c.followSession)
}

func (c *chat) withRepo(ctx context.Context, do func(ctx context.Context, r *repo.Repo) error) error {
	r, err := c.env.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	return do(ctx, r)
}

// takeSession makes this conversation the session's, so that a command is about it.
func (c *chat) takeSession(_ context.Context, r *repo.Repo) error {
	if c.id == "" {
		return nil
	}
	return r.Session(c.env.Host).Use(c.id, c.env.Now())
}

func (c *chat) followSession(ctx context.Context, r *repo.Repo) error {
	o, err := agent.OverviewOf(ctx, r, "")
	if err != nil || o.ID == "" || o.ID == c.id {
		return err
	}
	c.switchTo(ctx, r, o.ID)
	o.Others = nil
	c.bottom.open(ctx, r, o, c.settings.next(false))
	c.welcome().conversation(r, o)
	if inBackground(r, c.id) {
		c.later(taskFollow)
	}
	c.showBottom()
	return nil
}

// startNew goes on in a new conversation with the model of this one.
func (c *chat) startNew(ctx context.Context, words []string) error {
	if len(words) > 0 {
		return problem.Usage("/new takes no words.")
	}
	model := c.bottom.asks()
	err := c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
		c.switchTo(ctx, r, "")
		c.bottom.open(ctx, r, agent.Overview{Listing: repo.Summary{Model: &model}}, c.settings.next(false))
		c.showBottom()
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.console, "The next request starts a new conversation.")
	return nil
}

// resume resumes this conversation, or another one that it goes on in. With flags, jp does it as a process of its own.
func (c *chat) resume(ctx context.Context, words []string) error {
	if len(words) > 1 || len(words) == 1 && strings.HasPrefix(words[0], "-") {
		return ui.Self{Env: c.env}.Run(ctx, append([]string{"continue"}, words...)...)
	}
	if len(words) == 1 {
		err := c.withRepo(ctx, func(ctx context.Context, r *repo.Repo) error {
			id, err := r.Find().Resolve(ctx, c.env.Host, words[0])
			if err == nil {
				err = r.Session(c.env.Host).Use(id, c.env.Now())
			}
			return err
		})
		if err == nil {
			err = c.withRepo(ctx, c.followSession)
		}
		if err != nil {
			return err
		}
	}
	return c.turn(ctx, agent.Request{Target: agent.Target{ID: string(c.id)}, Resume: agent.ResumeOptions{Continue: true}, Input: agent.Input{None: true}, Turn: agent.TurnOptions{Queue: c.queued.messages()}})
}

// toolFlags are the flags that switch tools on, or off with a - before the name.
func toolFlags(words []string) (flags []string) {
	for _, word := range words {
		if name, off := strings.CutPrefix(word, "-"); off {
			flags = append(flags, "--no-tool", name)
		} else {
			flags = append(flags, "--tool", name)
		}
	}
	return flags
}

// listTools lists the tools of the next request, and those that it could have.
func listTools(out line, r *repo.Repo, request agent.Request, plan bool) error {
	list, err := agent.ListTools(r, request)
	for _, t := range list {
		state := "off"
		if t.On && (t.Reads || !plan) {
			state = "on"
		}
		line := fmt.Sprintf("  %-3s %s", state, safetext.Show(t.Name))
		if room := out.Width() - 32; room > 16 {
			line = fmt.Sprintf("  %-3s %-24s %s", state, safetext.Show(t.Name), safetext.Fit(safetext.Clean(t.About), room))
		}
		fmt.Fprintln(out, line)
	}
	return err
}
