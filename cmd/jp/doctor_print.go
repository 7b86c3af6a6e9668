package main

import (
	"fmt"
	"time"

	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/doctor"
)

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
	lines := ui.FindingLines{To: w, Palette: e.Palette(e.Stdout)}
	if ui.IsTerminal(e.Stdout) {
		lines.Width = e.Columns(e.Stdout)
	}
	for _, f := range findings {
		lines.Write(f)
	}
	for _, r := range found.Removed {
		lines.Write(doctor.Finding{Level: doctor.OK, Topic: "removed", Text: fmt.Sprintf("%s, %s old", r.Path, conversation.Ago(time.Duration(r.Age*float64(time.Second))))})
	}
	return lines.Sum(tally.String())
}
