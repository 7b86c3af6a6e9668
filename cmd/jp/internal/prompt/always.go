package prompt

import (
	"context"
	"fmt"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/turnloop"
)

const folderColumns = 28

// alwaysItem is the answer "always" in a menu. It names the folder of a rule for edits, by its end if
// it is long.
func alwaysItem(rule turnloop.Rule) item {
	switch {
	case rule.Kind == turnloop.RuleCommand:
		return item{alwaysKey, "always", "run it, and choose which commands run without a question in this repository from now on"}
	case rule.Kind == turnloop.RuleTool:
		return item{alwaysKey, "always", "run it, and run this tool without a question in this repository from now on"}
	}
	const help = "do it, and choose the folder in which file tools work without a question in this repository from now on"
	if len(rule.Words) == 0 {
		return item{alwaysKey, "always in the whole tree", help}
	}
	folder := safetext.Show(strings.Join(rule.Words, "/"))
	for i := 1; i < len(rule.Words) && safetext.Columns(folder) > folderColumns; i++ {
		folder = "…/" + safetext.Show(strings.Join(rule.Words[i:], "/"))
	}
	return item{alwaysKey, "always below " + safetext.Bound(folder, folderColumns) + "/", help}
}

// always asks for the rule that runs calls without a question from now on, as words of a command or as
// a folder. It reports whether the person approved it, or else a note for the question. input is
// whether the command reads input from the model.
func (p *Prompter) always(ctx context.Context, s questionView, input bool) (done bool, note string, err error) {
	rule, all := *s.always, s.always.Words
	least, fewer, more := len(all), "", ""
	switch rule.Kind {
	case turnloop.RuleCommand:
		least, fewer, more = 1, "one word less", "one more"
	case turnloop.RuleEdits:
		least, fewer, more = 0, "one folder up", "one down"
	}
	for n := len(all); ; {
		rule.Words = all[:n]
		text := askAlways(rule, p.opts.Palette, p.width())
		if input {
			text += p.opts.Palette.Change("! with any input: a rule does not cover what the program reads") + "\n"
		}
		m := menu{eof: "back", esc: 'n', items: []item{{'y', "yes", "write this rule into your own configuration for this repository"}}}
		if n > least {
			m.items = append(m.items, item{'-', fewer, "allow more"})
		}
		if n < len(all) {
			m.items = append(m.items, item{'+', more, "allow less"})
		}
		m.items = append(m.items, item{'n', "back", "back to the question"})
		m.above = func(below string) string { return p.brief(s, text+below) + text }
		if p.text.marked {
			p.text.anew(m.above(p.layout(m)))
		} else {
			p.show(text)
		}
		key, err := p.choose(ctx, m)
		switch {
		case err != nil:
			return false, "", err
		case key == '-':
			n--
		case key == '+':
			n++
		case key == 'y':
			file, err := p.opts.Allow(rule)
			if err != nil {
				return false, sentence(err) + "\n", nil
			}
			p.text.erase()
			p.text.marked = false // the next text stays
			p.show(terminal.Wrap(fmt.Sprintf("From now on %s without a question in this repository: %s.", rule.Runs(), safetext.Show(file)), p.width()) + "\n")
			return true, "", nil
		default:
			return false, "", nil
		}
	}
}

// askAlways is the question about a rule, with the calls that the rule covers.
func askAlways(rule turnloop.Rule, palette terminal.Palette, width int) string {
	title, shown, note := "Always run what begins with these words, in this repository?", rule.Shown(), tooMuch(rule.Words)
	switch {
	case rule.Kind == turnloop.RuleEdits:
		title, shown, note = "Always allow edits below this folder, in this repository?", safetext.Show(strings.Join(rule.Words, "/"))+"/", stillAsked
		if len(rule.Words) == 0 {
			title, shown = "Always allow edits, in this repository?", "the whole working tree"
		}
	case rule.Kind == turnloop.RuleTool && len(rule.Words) == 1:
		title, shown, note = "Always give tasks to delegates, in this repository?", rule.Shown(), "they use tokens; jp still asks about what their tools change"
	case rule.Kind == turnloop.RuleTool:
		title, shown, note = "Always run this tool, in this repository?", rule.Shown(), "with any arguments, until its server describes it otherwise"
	}
	text := terminal.Wrap(title, width) + "\n" + palette.Bold(terminal.WrapBelow("  "+shown, 4, width)) + "\n"
	if note != "" {
		text += palette.Change(terminal.WrapBelow("! "+note, 2, width)) + "\n"
	}
	return text
}

const stillAsked = "jp still asks about files that an undo cannot bring back, names that begin with a dot, CI files, hooks and AGENTS.md"

// tooMuch warns of a rule that allows more than the command that it comes from.
func tooMuch(argv []string) string {
	if program := turnloop.BroadRule(argv); program != "" && len(argv) > 1 {
		return "that is every program that " + safetext.Show(program) + " can run"
	}
	if len(argv) == 1 {
		return "that is every command of " + safetext.Show(argv[0])
	}
	return ""
}
