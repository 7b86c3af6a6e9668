package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// run asks whether a tool may run.
func (p *Prompter) run(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.callSheet(q)
	s.before, s.also = approvedRows(q.Approved, p.opts.Palette, p.width()), p.listed(q)
	if p.opts.Standing != nil {
		if rule, ok := p.opts.Standing(ctx, q); ok {
			s.always = &rule
		}
	}
	m := p.runMenu(q, s)
	m.above = func(below string) string { return p.brief(s, below) }
	p.show(p.brief(s, p.layout(m)))
	for {
		key, err := p.choose(ctx, m)
		if err != nil {
			return turnloop.Answer{}, err
		}
		switch key {
		case 'y':
			return chosen(conversation.AnswerRun), nil
		case allKey:
			answer := chosen(conversation.AnswerRun)
			answer.Also = s.also
			return answer, nil
		case networkKey:
			return chosen(conversation.AnswerRunNetwork), nil
		case 'a':
			return chosen(conversation.AnswerRunTurn), nil
		case 'n', terminal.KeyCtrlD:
			return chosen(conversation.AnswerSkip), nil
		case alwaysKey:
			done, note, err := p.always(ctx, s, s.always.Kind == turnloop.RuleCommand && turnloop.HasInput(q.Arguments))
			if err != nil {
				return turnloop.Answer{}, err
			}
			if done {
				return chosen(conversation.AnswerRun), nil
			}
			if p.text.marked {
				p.text.anew(m.above(note + p.layout(m)))
			}
			p.show(note)
			continue
		case 'd':
			p.details(s, m)
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

// listed are the further calls that fit the screen below a question, one row each.
func (p *Prompter) listed(q turnloop.Question) []*conversation.ToolCall {
	for i, call := range q.Also {
		if i == mostListed || safetext.Columns(alsoLine(call)) > p.width() {
			return q.Also[:i]
		}
	}
	return q.Also
}

const mostListed = 8

// alsoLine is a further call, word for word.
func alsoLine(call *conversation.ToolCall) string {
	var args struct {
		Argv []string `json:"argv"`
	}
	_ = json.Unmarshal(call.Arguments(), &args) // it has passed the schema
	return margin + "+ " + safetext.EscapeAll(args.Argv)
}

// amend handles the keys that need a text: a no with its reason, and an edited answer. It gives no
// answer if the person leaves the text.
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
	m := menu{lead: whether(s.name), eof: "as n", items: []item{{'y', "yes", "run it, this once"}}}
	if slices.Contains(q.Inquiry.Request.Covers, "overwrite") {
		m.items[0] = item{'y', "yes, overwrite it", "run it, this once, and overwrite the file"}
	}
	if n := len(s.also); n > 0 {
		m.items = append(m.items, item{allKey, fmt.Sprintf("yes to all %d", n+1), "run it, and the commands that are listed"})
	}
	if slices.ContainsFunc(q.Inquiry.Request.Question.AnswerType.Options, func(o conversation.Option) bool {
		return string(o.Value) == strconv.Quote(conversation.AnswerRunNetwork)
	}) {
		m.items = append(m.items, item{networkKey, "yes, with network", "run it, this once with the network"})
	}
	if !q.Inquiry.Request.Exclusive {
		m.items = append(m.items, item{'a', tool.Every(s.name) + " this turn", "run it, and do not ask for this tool again in this turn"})
	}
	if s.always != nil {
		m.items = append(m.items, alwaysItem(*s.always))
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
