package prompt

import (
	"context"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
)

// deliver asks whether the model may see the result of a tool.
func (p *Prompter) deliver(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.resultSheet(q)
	m := p.deliverMenu(q)
	p.show(p.brief(s, p.layout(m)))
	for {
		key, err := p.choose(ctx, m)
		if err != nil {
			return turnloop.Answer{}, err
		}
		switch key {
		case 'y':
			return chosen(conversation.AnswerDeliver), nil
		case 'n', terminal.KeyCtrlD:
			return chosen(conversation.AnswerWithhold), nil
		case 'd':
			p.details(s, m)
			continue
		}
		answer, given, err := p.amend(ctx, key, conversation.AnswerWithhold, func(ctx context.Context) ([]byte, error) {
			return p.editResult(ctx, q.Result)
		})
		if err != nil || given {
			return answer, err
		}
	}
}

func (p *Prompter) deliverMenu(q turnloop.Question) menu {
	m := menu{lead: "Give it to the model?", eof: "as n", items: []item{
		{'y', "deliver", "the model sees the result"},
		{'n', "withhold", "the model is told that it may not see the result"},
		{'w', "withhold, say why", "the same, and why"},
	}}
	if p.opts.Editor != nil {
		m.items = append(m.items, item{'e', "edit", "the model sees what you make of it in your editor"})
		if q.Tool != nil && q.Tool.Result == tool.Edit {
			m.byEnter = 'e' // an editor is no answer
		}
	}
	m.items = append(m.items, item{'d', "show", "show all of it"}, item{keyHelp, "help", ""})
	return m
}
