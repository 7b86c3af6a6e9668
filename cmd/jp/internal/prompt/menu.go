package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
)

// A menu is a choice by one key.
type menu struct {
	lead     string // the question before the keys
	items    []item
	byEnter  terminal.Key // chosen by Enter; 0: none
	eof      string       // the meaning of Ctrl+D, for the help
	esc      terminal.Key // chosen by Esc; 0: it leaves the question open, as Ctrl+C does
	wideKeys bool         // the items have lines of their own

	above func(below string) string // the question above it, with room for a text below; nil: it stays as it is
}

type item struct {
	key  terminal.Key
	word string
	help string // longer, for ?
}

const (
	keyHelp    terminal.Key = '?'
	alwaysKey  terminal.Key = 'A'
	allKey     terminal.Key = 'Y'
	networkKey terminal.Key = 'N'
)

// notOffered explains the keys that never mean the same as those in lower case.
var notOffered = map[terminal.Key]string{
	alwaysKey:  "A (always) adds a rule, and this question can have none: here it does nothing.\n",
	allKey:     "Y (yes to all) is for commands that ask together: here it does nothing.\n",
	networkKey: "N (yes, with network) is for a program that the sandbox keeps offline: here it does nothing.\n",
}

// choose shows a menu until the person chooses something other than help, and
// returns the key of an item or [terminal.KeyCtrlD]. A letter means the item with this letter, else
// the one with it in lower case, but for A, N and Y. The choice is shown.
func (p *Prompter) choose(ctx context.Context, m menu) (terminal.Key, error) {
	explain := func(text string) {
		if p.text.marked && m.above != nil {
			p.text.anew(m.above(text + p.layout(m)))
		}
		p.show(text)
		p.tty.Repeat()
	}
	for {
		key, err := p.tty.Choose(ctx, p.layout(m)+"> ", m.takes)
		if err != nil {
			p.show("\n")
			return 0, err
		}
		if key == terminal.KeyEsc && m.esc != 0 {
			key = m.esc
		}
		if hint := notOffered[key]; hint != "" && !m.has(key) && m.has(key.Lower()) {
			p.show(string(rune(key)) + "\n")
			explain(hint)
			continue
		}
		if !m.has(key) {
			key = key.Lower()
		}
		switch key {
		case terminal.KeyCtrlC:
			p.show("^C\n")
			return 0, ErrInterrupted
		case terminal.KeyEsc:
			p.show("Esc\n")
			return 0, ErrInterrupted
		case terminal.KeyCtrlD:
			p.show("^D\n")
			return key, nil
		case terminal.KeyEnter:
			key = m.byEnter
		}
		p.show(string(rune(key)) + "\n")
		if key != keyHelp {
			return key, nil
		}
		explain(m.explain())
	}
}

func (m menu) takes(key terminal.Key) bool {
	if key == terminal.KeyEnter {
		return m.byEnter != 0
	}
	return key == keyHelp || key == terminal.KeyEsc || m.has(key) || m.has(key.Lower())
}

func (m menu) has(key terminal.Key) bool {
	return slices.ContainsFunc(m.items, func(i item) bool { return i.key == key })
}

// layout is the question and its keys, broken between keys to fit the width.
func (p *Prompter) layout(m menu) string {
	choices := make([]string, len(m.items))
	for i, it := range m.items {
		choices[i] = p.opts.Palette.Bold(m.name(it)) + " " + it.word
	}
	if !m.wideKeys {
		return terminal.Choices(p.width(), 0, m.lead, choices...) + "\n"
	}
	var b strings.Builder
	for _, choice := range choices {
		b.WriteString(terminal.WrapBelow(choice, 2, p.width()) + "\n")
	}
	return b.String()
}

// name is how a key is shown: as a capital if Enter chooses it too.
func (m menu) name(it item) string {
	if it.key == m.byEnter {
		return strings.ToUpper(string(rune(it.key)))
	}
	return string(rune(it.key))
}

func (m menu) explain() string {
	var b strings.Builder
	for _, it := range m.items {
		if it.help != "" {
			fmt.Fprintf(&b, "  %-6s  %s\n", m.name(it), it.help)
		}
	}
	if m.byEnter != 0 {
		fmt.Fprintf(&b, "  Enter   as %s\n", strings.ToUpper(string(rune(m.byEnter))))
	} else {
		b.WriteString("  Enter   nothing\n")
	}
	fmt.Fprintf(&b, "  Ctrl+D  %s\n  Ctrl+C  interrupt: the question stays open; so does Esc\n", m.eof)
	return b.String()
}
