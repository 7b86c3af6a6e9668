package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// boolean puts a tool's yes-or-no question.
func (p *Prompter) boolean(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.questionSheet(q)
	m := booleanMenu(q, s)
	m.above = func(below string) string { return p.brief(s, below) }
	p.show(p.brief(s, p.layout(m)))
	for {
		key, err := p.choose(ctx, m)
		if err != nil {
			return turnloop.Answer{}, err
		}
		switch key {
		case 'd':
			p.details(s, m)
			continue
		case terminal.KeyCtrlD:
			return unanswered(), nil
		}
		answer := answered(asJSON(key != 'n'))
		answer.Remember = key == 'a'
		return answer, nil
	}
}

func booleanMenu(q turnloop.Question, s questionView) menu {
	m := menu{eof: "no answer: the tool's call fails", items: []item{{'y', "yes", "answer yes, this once"}, {'n', "no", "answer no"}}}
	if !q.Inquiry.Request.Exclusive {
		m.items = append(m.items, item{'a', "yes to all of these this turn", "answer yes each time the tool asks this in this turn"})
	}
	if s.hasMore() {
		m.items = append(m.items, item{'d', "details", "show all that the tool says about it"})
	}
	var yes bool
	if json.Unmarshal(q.Inquiry.Request.Question.Default, &yes) == nil {
		m.items[map[bool]int{true: 0, false: 1}[yes]].word += asDefault
	}
	return m
}

// asDefault marks the answer that a tool names as its default. Enter does not choose it.
const asDefault = " (default)"

// unanswered is the answer of a person who gives none.
func unanswered() turnloop.Answer { return turnloop.Answer{Outcome: conversation.OutcomeDeclined} }

// byDigit is the greatest number of options that are chosen by one key.
const byDigit = 9

// pick puts a tool's question that has a list of answers.
func (p *Prompter) pick(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.questionSheet(q)
	options := q.Inquiry.Request.Question.AnswerType.Options
	if len(options) > byDigit {
		p.show(p.brief(s, ""))
		return p.pickByNumber(ctx, q, options)
	}
	m := pickMenu(q, s, options)
	p.show(p.brief(s, p.layout(m)))
	for {
		key, err := p.choose(ctx, m)
		if err != nil {
			return turnloop.Answer{}, err
		}
		switch key {
		case 'd':
			p.details(s, m)
		case terminal.KeyCtrlD:
			return unanswered(), nil
		default:
			return answered(options[key-'1'].Value), nil
		}
	}
}

func pickMenu(q turnloop.Question, s questionView, options []conversation.Option) menu {
	m := menu{eof: "no answer: the tool's call fails", wideKeys: true}
	preset := defaultOption(q, options)
	for i, o := range options {
		key := terminal.Key('1' + i)
		word := optionWords(o)
		if i == preset {
			word += asDefault
		}
		m.items = append(m.items, item{key, word, word})
	}
	if s.hasMore() {
		m.items = append(m.items, item{'d', "details", "show all that the tool says about it"})
	}
	return m
}

// pickByNumber asks for the number of an option if there are more of them than digits.
func (p *Prompter) pickByNumber(ctx context.Context, q turnloop.Question, options []conversation.Option) (turnloop.Answer, error) {
	preset := defaultOption(q, options)
	for i, o := range options {
		word := optionWords(o)
		if i == preset {
			word += asDefault
		}
		p.show(fmt.Sprintf("%3d %s\n", i+1, word))
	}
	for {
		typed, err := p.tty.Line(ctx, fmt.Sprintf("Number, 1 to %d> ", len(options)))
		if err != nil {
			return p.noLine(err)
		}
		number, err := strconv.Atoi(strings.TrimSpace(typed))
		if err == nil && number >= 1 && number <= len(options) {
			return answered(options[number-1].Value), nil
		}
	}
}

// words puts a tool's question that is answered in words. The tool's default is taken by
// Tab and Enter: Enter alone answers nothing.
func (p *Prompter) words(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	s := p.questionSheet(q)
	p.show(p.brief(s, ""))
	preset := q.Inquiry.Request.Question.Default
	prompt, offered := "> ", ""
	if len(preset) > 0 {
		offered = valueWords(preset)
		prompt = "[Tab: " + offered + "] > "
	}
	for {
		typed, err := p.tty.LineOr(ctx, prompt, offered)
		switch {
		case err != nil:
			return p.noLine(err)
		case typed == "":
		case typed == offered:
			return answered(preset), nil
		default:
			return answered(asJSON(typed)), nil
		}
	}
}

// noLine is the answer for the end of a line's input.
func (p *Prompter) noLine(err error) (turnloop.Answer, error) {
	p.show("\n")
	switch {
	case errors.Is(err, io.EOF):
		return unanswered(), nil
	case errors.Is(err, terminal.ErrBack):
		err = ErrInterrupted
	}
	return turnloop.Answer{}, err
}

func defaultOption(q turnloop.Question, options []conversation.Option) int {
	for i, o := range options {
		if len(o.Value) > 0 && string(compact(o.Value)) == string(compact(q.Inquiry.Request.Question.Default)) {
			return i
		}
	}
	return -1
}

// optionWords shows an option: its value, and its meaning.
func optionWords(o conversation.Option) string {
	value := valueWords(o.Value)
	if o.Description == "" || o.Description == value {
		return value
	}
	return value + " – " + safetext.Clean(firstLine(o.Description))
}

// valueWords shows a JSON value; a string without its quotes.
func valueWords(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return safetext.Show(text)
	}
	return safetext.Clean(string(compact(value)))
}
