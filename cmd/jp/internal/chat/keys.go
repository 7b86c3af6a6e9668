package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
	"jp/turnloop"
)

// Enter implements [console.Handler].
func (c *chat) Enter(e console.Entry) bool {
	if strings.TrimSpace(e.Text) == "" {
		return false
	}
	if text, moved := c.complete.chosen(e.Text); moved {
		if o, _, is := c.offers.command(text); !is || o.args != "" { // more words follow
			c.console.SetText(closed(text))
			c.Changed(closed(text))
			return false
		}
		e.Text = text
	}
	busy := c.work.running() != nil
	_, _, own := ownCommand(e)
	if o, _, is := c.offers.command(e.Text); own && busy {
		c.console.Below(c.dim("A command waits until the turn has ended."))
		return false
	} else if is && !e.Pasted(0) {
		switch {
		case o.name == "":
			says := "There is no command " + safetext.Show(strings.Fields(e.Text)[0]) + ". /help lists them."
			if c.plain == nil {
				says += " Ctrl+Y brings the text back."
			}
			c.console.Below(c.dim(says))
			c.console.Kill()
			c.draft.entered(e.Text)
			return false
		case busy:
			c.console.Below(c.dim("A command waits until the turn has ended."))
			return false
		}
	} else if busy && len(c.pictures.in(e.Text)) > 0 {
		c.console.Below(c.dim("A picture waits until the turn has ended."))
		return false
	} else if is, err := c.others.tell(e.Text); busy && is {
		if err != nil {
			c.console.Below(c.dim("The turn did not take the message: " + problem.OneLine(err.Error())))
			return false
		}
		c.draft.entered(e.Text)
		return true
	} else if busy && !own {
		if err := c.queued.messages().Add(e.Text); err != nil {
			c.console.Below(c.dim("jp could not keep the message: " + problem.OneLine(err.Error())))
			return false
		}
		c.draft.entered(e.Text)
		c.queued.show(c.console, c.dim)
		return true
	}
	if o, _, is := c.offers.command(e.Text); own || is && !e.Pasted(0) && !o.asks() {
		c.back.end()
	}
	select {
	case c.entries <- e:
		if c.console.Below(); !busy {
			c.history.add(e.Text)
		}
		return true
	default:
		return false
	}
}

// Changed implements [console.Handler].
func (c *chat) Changed(text string) {
	c.draft.change(text)
	c.double.forget()
	if c.back.chosen() != nil {
		c.console.Below(c.back.rows(c.console.Width(), text, c.dim)...)
		return
	}
	c.complete.suggest(text)
}

// Stop implements [console.Handler].
func (c *chat) Stop(ctrlC bool) {
	if !ctrlC && c.complete.hide() {
		if c.console.Text() == keysMark {
			c.replaceLine("")
		}
		return
	}
	if c.back.end() != nil {
		c.console.Kill()
		c.Changed("")
		return
	}
	if run := c.work.running(); run != nil {
		c.double.press(false, false)
		if !c.env.Interrupted(run, !ctrlC) && ctrlC {
			c.env.Abort("SIGINT")
		}
		return
	}
	switch second := c.double.press(ctrlC, c.console.Text() == ""); {
	case ctrlC && second:
		c.Leave()
	case second:
		c.later(taskGoBack)
	case ctrlC:
		c.console.Below(c.dim("Ctrl+C again leaves."))
		time.AfterFunc(twice, func() {
			if c.double.forget() {
				c.console.Below()
			}
		})
	}
}

// A task is an action of a key that takes the terminal.
type task int

const (
	taskEdit   task = iota // write the line in an editor
	taskGoBack             // go back to before a request
	taskOpen               // show a block whole
	taskFollow             // show the turn that runs in the background
)

// later does a task as the next thing, if no other waits.
func (c *chat) later(t task) {
	select {
	case c.tasks <- t:
	default:
	}
}

// Edit implements [console.Handler].
func (c *chat) Edit() {
	if c.work.running() != nil {
		c.console.Below(c.dim("The editor waits until the turn has ended."))
		return
	}
	c.later(taskEdit)
}

// Open implements [console.Handler]. While a turn runs it goes on beside the pager.
func (c *chat) Open() {
	run := c.work.running()
	if run == nil {
		c.later(taskOpen)
		return
	}
	go func() { // the goroutine that reads keys ends meanwhile
		if err := c.openBlock(context.WithoutCancel(run)); err != nil {
			c.console.Below(c.dim(problem.OneLine(err.Error())))
		}
	}()
}

func (c *chat) openBlock(ctx context.Context) error {
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	c.console.Below()
	said, err := c.opener.show(ctx, ui.Self{Env: c.env}, id)
	if said != "" {
		c.console.Below(c.dim(said))
	}
	return err
}

// Picture implements [console.Handler].
func (c *chat) Picture() {
	go func() { // another program may take its time
		chip, err := c.pictures.paste(context.Background(), c.env)
		if err != nil {
			c.console.Below(c.dim(problem.OneLine(err.Error())))
			return
		}
		c.console.Chip(chip)
	}()
}

// Pasted implements [console.Handler]. The path of a picture's file stands for the picture.
func (c *chat) Pasted(text string) (chip string, ok bool) {
	path, is := dropped(text, c.env.Get("HOME"))
	if !is {
		return "", false
	}
	data, err := contextfiles.ReadPicture(path)
	if err != nil {
		return "", false
	}
	chip, err = c.pictures.add(data)
	return chip, err == nil
}

// Complete implements [console.Handler].
func (c *chat) Complete(e console.Entry, at int) (from int, word string, ok bool) {
	return c.complete.complete(e, at)
}

// Search implements [console.Handler].
func (c *chat) Search(words string, older bool) (string, bool) {
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	found, ok := c.history.search(words, older, func() []string { return searched(context.Background(), c.env, id) })
	says, width := strings.TrimSpace("search: "+safetext.Clean(words)), c.console.Width()-1
	if !ok {
		says = "no older request has: " + safetext.Clean(words)
	}
	rows := strings.Split(terminal.Choices(width, 2, safetext.Fit(says, width-2), "Ctrl+R an older one", "Enter ask", "Esc back"), "\n")
	for i, row := range rows {
		rows[i] = c.dim(row)
	}
	c.console.Below(rows...)
	return found, ok
}

// Leave implements [console.Handler].
func (c *chat) Leave() {
	if run := c.work.running(); run != nil && c.env.Interrupted(run, false) {
		return
	}
	c.leave.Do(func() { close(c.left) })
}

// Suspend implements [console.Handler].
func (c *chat) Suspend() {
	c.draft.flush()
	go c.env.Suspend() // the goroutine that reads keys ends meanwhile
}

// Mode implements [console.Handler]. It goes from mode to mode.
func (c *chat) Mode() {
	from := c.settings.cycle()
	c.showBottom()
	if c.work.running() != nil { // the prompt may be away
		c.console.Below(c.dim("Mode of " + from + ": " + c.settings.modeName()))
	}
}

// History implements [console.Handler]. It goes through the words below the line, if there are any. While a turn runs, the
// newest queued message comes back first.
func (c *chat) History(back bool, text string) (string, bool) {
	if c.complete.move(back, text) {
		return "", false
	}
	if c.back.chosen() != nil {
		other, moved := c.back.move(back, text)
		if moved {
			c.Changed(other)
		}
		return other, moved
	}
	if back && text == "" && c.work.running() != nil {
		if last := c.queued.messages().Last(); last != "" {
			c.queued.show(c.console, c.dim)
			return last, true
		}
	}
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	return c.history.step(back, text, func(before int) ([]string, int) {
		return requests(context.Background(), c.env, id, before)
	})
}

// read asks for a text until the person enters one that the chat takes, or leaves. A \ at the end of
// a line goes on in the next one.
func (p *plainLine) read(ctx context.Context, c *chat) error {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return err
	}
	defer tty.Close()
	for text := ""; ; {
		prompt := p.prompt
		switch {
		case text != "":
			prompt = "… "
		case p.draft != "":
			fmt.Fprintf(p, "You typed before: %s\nTab takes it.\n", strings.ReplaceAll(p.draft, "\n", " "))
		}
		typed, err := tty.LineOr(ctx, prompt, strings.ReplaceAll(p.draft, "\n", " "))
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(p) // below the prompt
			c.Leave()
			return nil
		case errors.Is(err, terminal.ErrHangup):
			return repo.Interrupted(&turnloop.Interrupt{Signal: "SIGHUP"})
		case errors.Is(err, terminal.ErrBack), errors.Is(err, terminal.ErrInterrupted):
			fmt.Fprintln(p) // below the typed text
			empty := text+typed == "" && errors.Is(err, terminal.ErrInterrupted)
			if text = ""; !empty {
				continue
			}
			c.Stop(true)
			select {
			case <-c.left:
				return nil
			default:
				continue
			}
		case err != nil:
			return err
		}
		more, goes := strings.CutSuffix(typed, "\\")
		if text += more; goes {
			text += "\n"
			continue
		}
		if c.Enter(console.Entry{Text: text, Pasted: func(int) bool { return false }}) {
			p.draft = ""
			return nil
		}
		text = ""
	}
}
