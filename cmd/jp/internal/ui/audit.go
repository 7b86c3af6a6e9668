package ui

import (
	"fmt"
	"io"
	"strings"

	"jp/blame"
	"jp/internal/safetext"
)

// Columns of a list of decisions: who decided, and the least that has the call on the same line.
const (
	mostWho      = 30
	auditOneLine = 100
)

// ShowAudit writes who allowed what.
func ShowAudit(all []*blame.Decision, e *Env) error {
	if e.Format.Structured() {
		return WriteJSON(e.Results(), all)
	}
	if len(all) == 0 {
		e.Note("There are no decisions about tool calls.")
		return nil
	}
	return e.Paged(func(w io.Writer) error {
		p, width := e.Palette(e.Stdout), 0
		if IsTerminal(e.Stdout) {
			width = e.Columns(e.Stdout)
		}
		at, by := 0, 0
		for _, d := range all {
			at, by = max(at, len(auditRef(d))), max(by, safetext.Columns(auditWho(d)))
		}
		by = min(by, mostWho)
		for _, d := range all {
			head := fmt.Sprintf("%s  %s  %-9s", p.Dim(d.Time.In(e.Now().Location()).Format("2006-01-02 15:04")), p.Yellow(fmt.Sprintf("%-*s", at, auditRef(d))), d.Outcome)
			call, who := strings.TrimSpace(safetext.Show(d.Tool)+" "+safetext.OneLine(d.Argument)), auditWho(d)
			line := head + "\n  " + safetext.Fit(call, width-2) + "\n  " + safetext.Fit(who, width-2)
			switch {
			case width == 0:
				line = head + "  " + pad(who, by) + "  " + call
			case width >= auditOneLine:
				line = head + "  " + pad(safetext.Fit(who, by), by) + "  " + safetext.Fit(call, max(12, width-16-at-9-by-8))
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	})
}

func auditRef(d *blame.Decision) string {
	return fmt.Sprintf("%s@%d", blame.Short(d.Conversation), d.Seq)
}

// auditWho is who decided, in words.
func auditWho(d *blame.Decision) string {
	words := safetext.OneLine(strings.TrimPrefix(d.Text, "not asked: ")) // the outcome says so
	if d.Who == "rule" {
		words = "rule " + safetext.OneLine(d.Rule)
	}
	if !d.Signed && d.Who != "record" {
		words += " (unsigned)"
	}
	return words
}
