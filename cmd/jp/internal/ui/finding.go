package ui

import (
	"fmt"
	"io"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/doctor"
	"jp/internal/safetext"
)

// FindingLines write findings, each on a line of its own, or on several if the width of a terminal is
// known.
type FindingLines struct {
	To      io.Writer
	Palette terminal.Palette
	Width   int // 0: no terminal
}

// findingIndent is the column of the text behind the level.
const findingIndent = 6

// Write writes a finding.
func (l FindingLines) Write(f doctor.Finding) {
	text := f.Topic + ": " + safetext.OneLine(f.Text)
	if f.Advice != "" {
		text += " → " + safetext.OneLine(f.Advice)
	}
	lines := []string{text}
	if l.Width > 0 {
		lines = wrapWords(text, max(l.Width-findingIndent, 20))
	}
	fmt.Fprintf(l.To, "%s%s%s\n", l.level(f.Level), strings.Repeat(" ", findingIndent-len(f.Level)), strings.Join(lines, "\n"+strings.Repeat(" ", findingIndent)))
}

// Sum writes the last line.
func (l FindingLines) Sum(text string) error {
	lines := []string{text}
	if l.Width > 0 {
		lines = wrapWords(text, l.Width)
	}
	_, err := fmt.Fprintln(l.To, strings.Join(lines, "\n"))
	return err
}

func (l FindingLines) level(level doctor.Level) string {
	switch word := string(level); level {
	case doctor.OK:
		return l.Palette.Green(word)
	case doctor.Warn:
		return l.Palette.Yellow(word)
	case doctor.Fail:
		return l.Palette.Red(word)
	default:
		return l.Palette.Cyan(word)
	}
}

// wrapWords breaks a line between words, and within those that are wider than a
// line.
func wrapWords(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for safetext.Columns(word) > width {
			head := headOf(word, width)
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case safetext.Columns(line)+1+safetext.Columns(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line == "" && len(lines) > 0 {
		return lines
	}
	return append(lines, line)
}

// headOf is as much of a word as fits into some columns, at least one character.
func headOf(word string, width int) string {
	end := 0
	for i, r := range word {
		next := i + len(string(r))
		if end > 0 && safetext.Columns(word[:next]) > width {
			break
		}
		end = next
	}
	return word[:end]
}
