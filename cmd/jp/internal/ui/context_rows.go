package ui

import (
	"fmt"
	"strings"

	"jp/agent"
	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// Columns of a bar: at least so many has the terminal, and at most so many the bar.
const (
	leastForBar = 44
	mostOfBar   = 60
)

func contextColours(p terminal.Palette) map[agent.ContextKind]func(string) string {
	return map[agent.ContextKind]func(string) string{
		agent.ContextSystem: p.Cyan, agent.ContextInstructions: p.Magenta, agent.ContextSkills: p.Green,
		agent.ContextMessages: p.Yellow, agent.ContextResults: p.Red, agent.ContextAttachments: p.Bold,
	}
}

// ContextRows shows the use of a model's context: a bar if there are colours and room, and below it
// the kinds with their tokens and their part of the model's window.
func ContextRows(u agent.ContextUse, width int, p terminal.Palette, draws bool) (rows []string) {
	used := u.Tokens()
	head := problem.OneLine(u.Model) + " · about " + conversation.Tokens(used) + " tokens"
	if u.Window > 0 {
		head += " · " + conversation.PartOf(used, u.Window)
	}
	rows = append(rows, strings.Split(terminal.Wrap(head, width), "\n")...)
	bar := draws && p.On() && width >= leastForBar
	all, colours := max(u.Window, used, 1), contextColours(p)
	if bar {
		rows = append(rows, "", "  "+contextBar(u, all, min(width-4, mostOfBar), colours, p), "")
	}
	row := func(mark, name string, tokens int) {
		line := fmt.Sprintf("%-17s %7s", name, conversation.Tokens(tokens))
		if u.Window > 0 {
			line += fmt.Sprintf(" %5.1f %%", float64(tokens)*100/float64(all))
		}
		rows = append(rows, "  "+mark+line)
	}
	for _, kind := range agent.ContextKinds {
		mark := ""
		if bar {
			mark = colours[kind]("█") + " "
		}
		row(mark, string(kind), u.Kinds[kind])
	}
	if u.Window > 0 {
		mark := ""
		if bar {
			mark = p.Dim("░") + " "
		}
		row(mark, "free", max(0, u.Window-used))
	}
	return rows
}

// contextBar is a bar of so many columns. Each kind that has tokens has a column.
func contextBar(u agent.ContextUse, all, columns int, colours map[agent.ContextKind]func(string) string, p terminal.Palette) string {
	var b strings.Builder
	left := columns
	for _, kind := range agent.ContextKinds {
		n := u.Kinds[kind]
		if n == 0 {
			continue
		}
		part := min(left, max(1, n*columns/all))
		left -= part
		b.WriteString(colours[kind](strings.Repeat("█", part)))
	}
	return b.String() + p.Dim(strings.Repeat("░", left))
}
