package prompt

import (
	"context"
	"slices"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
)

// run asks whether a tool may run.
func (p *Prompter) run(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.callSheet(q)
	p.show(p.brief(s))
	for {
		key, err := p.choose(ctx, p.runMenu(q, s))
		if err != nil {
			return turnloop.Answer{}, err
		}
		switch key {
		case 'y':
			return chosen(conversation.AnswerRun), nil
		case 'a':
			return chosen(conversation.AnswerRunTurn), nil
		case 'n', terminal.KeyCtrlD:
			return chosen(conversation.AnswerSkip), nil
		case alwaysKey:
			done, err := p.always(ctx, turnloop.Allowable(q.Tool, q.Arguments), turnloop.HasInput(q.Arguments))
			if err != nil {
				return turnloop.Answer{}, err
			}
			if done {
				return chosen(conversation.AnswerRun), nil
			}
			continue
		case 'd':
			p.show(p.full(s))
			continue
		}
		answer, given, err := p.amend(ctx, key, conversation.AnswerSkip, func(ctx context.Context) ([]byte, error) {
			return p.editArguments(ctx, q)
		})
		if err != nil || given {
			return answer, err
		}
	}
}

// amend handles the keys that need a text: a no with its reason, and an answer
// that was edited. The answer is not given if the person thought better of it.
func (p *Prompter) amend(
	ctx context.Context, key terminal.Key, no string, edit func(context.Context) ([]byte, error),
) (answer turnloop.Answer, given bool, err error) {
	if key == 'w' {
		answer = chosen(no)
		answer.Reason, err = p.line(ctx, "Why? ")
		return answer, answer.Reason != "", err
	}
	answer = chosen(conversation.AnswerEdit)
	answer.Arguments, err = edit(ctx)
	return answer, len(answer.Arguments) > 0, err
}

func (p *Prompter) runMenu(q turnloop.Question, s questionView) menu {
	m := menu{lead: "Run it?", eof: "as n", items: []item{{'y', "yes", "run it, this once"}}}
	if slices.Contains(q.Inquiry.Request.Covers, "overwrite") {
		m.items[0] = item{'y', "yes, overwrite it", "run it, this once, and overwrite the file"}
	}
	if !q.Inquiry.Request.Exclusive {
		m.items = append(m.items, item{'a', "all " + s.name + " this turn", "run it, and do not ask for this tool again in this turn"})
	}
	if p.opts.Always != nil && len(turnloop.Allowable(q.Tool, q.Arguments)) > 0 {
		m.items = append(m.items, item{alwaysKey, "always", "run it, and choose which commands run without a question in this repository from now on"})
	}
	m.items = append(m.items, item{'n', "no", "do not run it; the model is told"}, item{'w', "no, say why", "do not run it, and tell the model why"})
	if p.opts.Editor != nil {
		m.items = append(m.items, item{'e', "edit", "run it with other arguments, from your editor"})
		if q.Tool != nil && q.Tool.Run == tool.Edit {
			m.byEnter = 'e' // an editor is no answer
		}
	}
	m.items = append(m.items, item{'d', "details", "show all of it"}, item{keyHelp, "help", ""})
	return m
}
