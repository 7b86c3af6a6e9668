package prompt

import (
	"context"
	"fmt"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/turnloop"
)

// always asks with which words the commands begin that run without a question from now on, and
// reports whether the person said so. input is whether the command reads some from the model.
func (p *Prompter) always(ctx context.Context, argv []string, input bool) (bool, error) {
	for n := len(argv); ; {
		p.show("Always run what begins with these words, in this repository?\n")
		p.show(p.opts.Palette.Bold(terminal.WrapBelow("  "+safetext.EscapeAll(argv[:n]), 4, p.width())) + "\n")
		if warning := tooMuch(argv[:n]); warning != "" {
			p.show(p.opts.Palette.Change("! "+warning) + "\n")
		}
		if input {
			p.show(p.opts.Palette.Change("! with any input: a rule does not cover what the program reads") + "\n")
		}
		m := menu{eof: "back", esc: 'n', items: []item{{'y', "yes", "write this rule into your own configuration for this repository"}}}
		if n > 1 {
			m.items = append(m.items, item{'-', "one word less", "allow more commands: those that begin with fewer words"})
		}
		if n < len(argv) {
			m.items = append(m.items, item{'+', "one more", "allow fewer commands"})
		}
		m.items = append(m.items, item{'n', "back", "back to the question"})
		key, err := p.choose(ctx, m)
		switch {
		case err != nil:
			return false, err
		case key == '-':
			n--
		case key == '+':
			n++
		case key == 'y':
			file, err := p.opts.Always(argv[:n])
			if err != nil {
				p.show(sentence(err) + "\n")
				return false, nil
			}
			p.show(terminal.Wrap(fmt.Sprintf("From now on %s runs without a question in this repository: %s.", safetext.EscapeAll(argv[:n]), safetext.Show(file)), p.width()) + "\n")
			return true, nil
		default:
			return false, nil
		}
	}
}

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
