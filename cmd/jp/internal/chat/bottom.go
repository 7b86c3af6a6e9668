package chat

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
	"jp/internal/safetext"
)

// A bottomLine is the row below the line: the mode and the model of the next request, and the usage of
// the conversation.
type bottomLine struct {
	mu            sync.Mutex
	recorded      string // the model of the newest turn; "": no turn yet
	model, branch string
	used, cost    string
	effort        string // how much the model thinks, by the person's choice; "": they made none
	spent         string // the cost of the turns before this one, as a decimal number
	newest        int    // event with which the newest turn begins that the chat has shown
}

func (b *bottomLine) open(ctx context.Context, r *repo.Repo, o agent.Overview, request agent.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recorded, b.newest = "", 0
	if len(o.Last) > 0 {
		b.newest = o.Last[0].Seq
	}
	if o.Listing.Model != nil {
		b.recorded = *o.Listing.Model
	}
	b.model, b.branch, b.used = agent.NextModel(r, request, b.recorded), branchOf(r.At.GitDir), ""
	if share := agent.ContextOf(ctx, r, o.Last); share != nil {
		b.used = usedOf(*share)
	}
	b.spent = ""
	if cost := o.Listing.Usage.CostUSD; cost != nil {
		b.spent = *cost
	}
	b.cost = dollars(b.spent)
}

// chosen takes the model of the next request, which the person has changed.
func (b *bottomLine) chosen(r *repo.Repo, request agent.Request) {
	b.mu.Lock()
	b.model = agent.NextModel(r, request, b.recorded)
	b.mu.Unlock()
}

// begun takes the model and the branch of a turn, from its first event.
func (b *bottomLine) begun(e *conversation.Event) {
	start, is := e.Body.(*conversation.TurnStart)
	if !is {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recorded, b.model, b.newest = start.Model, start.Model, e.Seq
	if e.Git != nil {
		b.branch = e.Git.Branch
	}
}

// ended adds the usage of a turn.
func (b *bottomLine) ended(e agent.Ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Window > 0 && e.Tokens > 0 {
		b.used = usedOf(agent.ContextShare{Tokens: e.Tokens, Window: e.Window})
	}
	b.spent = conversation.AddDecimals(b.spent, e.Outcome.Usage.CostUSD)
	b.cost = dollars(b.spent)
}

func (b *bottomLine) newestTurn() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

func usedOf(s agent.ContextShare) string {
	return conversation.Tokens(s.Tokens) + " of " + strings.Replace(conversation.Tokens(s.Window), ".0", "", 1)
}

// asks is the model of the next request.
func (b *bottomLine) asks() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.model
}

// thinks notes how much the model thinks from now on.
func (b *bottomLine) thinks(effort string) {
	b.mu.Lock()
	b.effort = effort
	b.mu.Unlock()
}

func dollars(decimal string) string {
	if decimal == "" {
		return ""
	}
	return conversation.Dollars(decimal)
}

// parts are the mode, the model, the branch, the context used and the cost, as far as they are known.
func (b *bottomLine) parts(mode string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	model := path.Base(b.model)
	if b.model == "" {
		model = ""
	}
	if model != "" && b.effort != "" {
		model += " " + b.effort
	}
	parts := []string{mode + " ⇧⇥", safetext.OneLine(model), safetext.OneLine(b.branch), b.used, b.cost}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

func (c *chat) showBottom() {
	mode := c.settings.modeName()
	word := mode
	switch mode {
	case none:
		word = "asks"
	case config.ProfileAuto:
		word = c.env.Palette(c.env.Stdout).Red(mode)
	}
	c.console.Bottom(mode, c.bottom.parts(word), hints)
}

// branchOf is the branch of a working tree whose HEAD is a file that names it, else "".
func branchOf(gitDir string) string {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	name, found := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if err != nil || !found || name == ".invalid" {
		return ""
	}
	return name
}
