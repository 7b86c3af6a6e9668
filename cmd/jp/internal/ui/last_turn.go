package ui

import (
	"strings"

	"jp/agent/resume"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// asItRan is the style of a turn from its events that looks as it did while it ran.
const asItRan = "as it ran"

// LastTurn lays out the events of the view, which are of one turn, as they looked while the turn ran. It returns at most
// so many rows, the last ones.
func (v *ScreenView) LastTurn(rows int) []string {
	laidOut := new(strings.Builder)
	t := NewTurn(v, laidOut, asItRan, false)
	for _, e := range v.View.Events {
		t.event(e)
	}
	if _, tail := conversation.SplitTail(v.View.Events); tail != nil && !tail.Empty() {
		for _, s := range resume.Unrecorded(v.View.Repo, v.View.ID, tail) {
			if s.Part != conversation.PartReasoning {
				t.Said(s.Part, strings.TrimRight(s.Text, " \n")+resume.NotRecorded)
			}
		}
		lost, _ := tail.Ledger().Lost()
		for _, call := range lost {
			t.say("  " + resume.CallWords(v.View, call, v.View.Repo.Locks.ToolAlive(v.View.ID, call.Event.Seq)))
		}
	}
	text := strings.Trim(terminal.Wrap(laidOut.String(), v.Width), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if more := len(lines) - max(rows, 2); more > 0 {
		lines = append([]string{v.Palette.Dim("  … " + conversation.Count(more+1, "row") + " above")}, lines[more+1:]...)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
