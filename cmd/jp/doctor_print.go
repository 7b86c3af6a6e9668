package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/doctor"
	"jp/internal/safetext"
)

// A checkupJSON is what jp doctor found.
type checkupJSON struct {
	OK       bool                 `json:"ok"`
	Counts   doctor.Tally         `json:"counts"`
	Findings []doctor.Finding     `json:"findings"`
	Removed  []doctor.RemovedJSON `json:"removed"`
}

// printCheckup writes a line for each finding, what was removed, and the sum.
func printCheckup(e *ui.Env, found doctor.Report) error {
	findings := found.Findings
	w, tally := e.Results(), doctor.Count(findings)
	if e.Format.Structured() {
		removed := append([]doctor.RemovedJSON{}, found.Removed...)
		return ui.WriteJSON(w, checkupJSON{OK: tally.Fail == 0, Counts: tally, Findings: findings, Removed: removed})
	}
	lines := findingLines{w: w, palette: e.Palette(e.Stdout)}
	if ui.IsTerminal(e.Stdout) {
		lines.width = e.Columns(e.Stdout)
	}
	for _, f := range findings {
		lines.write(f)
	}
	for _, r := range found.Removed {
		lines.write(doctor.Finding{Level: doctor.OK, Topic: "removed", Text: fmt.Sprintf("%s, %s old", r.Path, conversation.Ago(time.Duration(r.Age*float64(time.Second))))})
	}
	sum := []string{tally.String()}
	if lines.width > 0 {
		sum = wrapWords(sum[0], lines.width)
	}
	_, err := fmt.Fprintln(w, strings.Join(sum, "\n"))
	return err
}

// findingLines write findings, each on a line of its own, or on several where the
// width of a terminal is known.
type findingLines struct {
	w       io.Writer
	palette terminal.Palette
	width   int // 0: no terminal
}

// indent is where text begins, behind the level.
const indent = 6

func (l findingLines) write(f doctor.Finding) {
	text := f.Topic + ": " + safetext.OneLine(f.Text)
	if f.Advice != "" {
		text += " → " + safetext.OneLine(f.Advice)
	}
	lines := []string{text}
	if l.width > 0 {
		lines = wrapWords(text, max(l.width-indent, 20))
	}
	fmt.Fprintf(l.w, "%s%s%s\n", l.level(f.Level), strings.Repeat(" ", indent-len(f.Level)), strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

// level colours a level's word.
func (l findingLines) level(level doctor.Level) string {
	switch word := string(level); level {
	case doctor.OK:
		return l.palette.Green(word)
	case doctor.Warn:
		return l.palette.Yellow(word)
	case doctor.Fail:
		return l.palette.Red(word)
	default:
		return l.palette.Cyan(word)
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
