package ui

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// PlainSwitches lets the help of a command name its switches without their values. It is for a command that only shows help.
func PlainSwitches(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			f.Value = plainSwitch{f.Value}
		}
	})
}

// A plainSwitch is a switch of which pflag lists the name alone.
type plainSwitch struct{ pflag.Value }

// Type implements [pflag.Value].
func (plainSwitch) Type() string { return "boolfunc" }

// widestHelp is as many columns as a line of prose has at most, so that it can be read.
const widestHelp = 100

// HelpText lays out the help of a command for a terminal. The lines of a paragraph flow. An example
// keeps its command on one line if that fits. Its comment goes above it if both do not fit.
func HelpText(text string, columns int) string {
	columns = min(columns, widestHelp)
	about, rest, found := strings.Cut("\n"+text, "\nUsage:\n")
	var b strings.Builder
	b.WriteString(paragraphs(strings.TrimPrefix(about, "\n"), columns))
	if !found {
		return b.String()
	}
	b.WriteString("\nUsage:\n")
	section, below := "Usage:", besideFlags(rest) > columns-leastBeside
	above := wideComments(rest, columns)
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n") {
		if line != "" && line[0] != ' ' {
			section = line
		}
		switch {
		case section == "Examples:" && line != section:
			b.WriteString(example(line, columns, above))
		case section == "Usage:":
			b.WriteString(terminal.WrapCommand(strings.TrimLeft(line, " "), columns, len(line)-len(strings.TrimLeft(line, " "))))
		case below && flagAt().MatchString(line):
			at := flagAt().FindString(line)
			b.WriteString(strings.TrimRight(at, " ") + "\n" + terminal.Wrap(strings.Repeat(" ", flagIndent)+line[len(at):], columns))
		default:
			b.WriteString(terminal.Wrap(line, columns))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Descriptions of flags begin in the column beside them if that leaves as many columns, else below.
const (
	leastBeside = 24
	flagIndent  = 10
)

// flagAt is a flag with the gap before its description.
var flagAt = lazy.Regexp(`^ +-\S+(?: \S+)* {2,}`)

// besideFlags is the column of the descriptions of flags, as far to the right as any.
func besideFlags(text string) int {
	column := 0
	for line := range strings.SplitSeq(text, "\n") {
		column = max(column, safetext.Columns(flagAt().FindString(line)))
	}
	return column
}

// broken is the least length of a source line that was broken for want of room.
const broken = 66

const exitCodes = "Exit codes: "

// codeAt matches the beginning of an exit code in a list.
var codeAt = lazy.Regexp(`^[0-9]+(?:, [0-9]+)* ?`)

// paragraphs lets lines flow that were broken for want of room.
func paragraphs(text string, columns int) string {
	var b strings.Builder
	before := "" // the source line that the last one on b is or goes on with
	open := false
	flush := func(line string) {
		switch list, found := strings.CutPrefix(line, exitCodes); {
		case !open:
		case found && safetext.Columns(line) > columns:
			b.WriteString(strings.TrimRight(exitCodes, " ") + "\n")
			for code := range strings.SplitSeq(list, " · ") {
				number := codeAt().FindString(code)
				b.WriteString(terminal.Wrap("  "+strings.TrimSpace(number)+"  "+code[len(number):], columns) + "\n")
			}
		default:
			b.WriteString(terminal.Wrap(line, columns) + "\n")
		}
		open = false
	}
	paragraph := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		word, _, _ := strings.Cut(line, " ")
		if open && line != "" && line[0] != ' ' && before[0] != ' ' && safetext.Columns(before)+1+safetext.Columns(word) > broken || open && strings.HasSuffix(before, " ·") {
			paragraph, before = paragraph+" "+line, line
			continue
		}
		flush(paragraph)
		if line == "" {
			b.WriteByte('\n')
			continue
		}
		paragraph, before, open = line, line, true
	}
	flush(paragraph)
	return b.String()
}

// wideComments reports whether the comment of an example is too wide to stand behind it.
func wideComments(text string, columns int) bool {
	_, examples, _ := strings.Cut(text, "\nExamples:\n")
	examples, _, _ = strings.Cut(examples, "\n\n")
	for line := range strings.SplitSeq(examples, "\n") {
		if _, comment := commented(line); comment != "" && safetext.Columns(line) > columns {
			return true
		}
	}
	return false
}

// commented is an example without the comment behind it, and the comment.
func commented(line string) (command, comment string) {
	if at := strings.LastIndex(line, "  #"); at > 0 && strings.TrimSpace(line[:at]) != "" {
		return strings.TrimRight(line[:at], " "), strings.TrimSpace(line[at:])
	}
	return line, ""
}

// example is a command, and its comment behind or above it.
func example(line string, columns int, above bool) string {
	if !above && safetext.Columns(line) <= columns {
		return line
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	command, comment := commented(line)
	text := terminal.WrapCommand(strings.TrimLeft(command, " "), columns, indent)
	if comment == "" {
		return text
	}
	return terminal.WrapBelow(strings.Repeat(" ", indent)+comment, indent+2, columns) + "\n" + text
}
