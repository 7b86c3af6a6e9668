package repo

import (
	"fmt"
	"slices"
	"strings"

	"jp/config"
	"jp/internal/action"
)

// HeldBack explains each setting that was read and has no effect.
func (r *Repo) HeldBack() []string {
	var lines []string
	for _, k := range r.Report.Inert {
		lines = append(lines, fmt.Sprintf("%v: %s = %s has no effect: %s", k.Origin, k.Key, k.Value, k.Reason))
	}
	if r.Report.Untrusted() {
		lines = append(lines, action.Trust.String()+" shows what "+config.WorkspaceFile+" asks for, and approves it.")
	}
	return lines
}

// HeldBackLine is HeldBack on one line, for commands about something else. It names up to a few settings.
func (r *Repo) HeldBackLine() []string {
	settings := r.Report.Inert
	if len(settings) == 0 {
		return nil
	}
	var what string
	if k := settings[0]; len(settings) == 1 {
		what = fmt.Sprintf("%v: %s = %s has no effect: %s.", k.Origin, k.Key, k.Value, k.Reason)
	} else {
		var names []string
		for _, k := range settings[:min(len(settings), 4)] {
			names = append(names, k.Key)
		}
		what = fmt.Sprintf("%d settings have no effect (%s", len(settings), strings.Join(names, ", "))
		if len(settings) > len(names) {
			what += ", …"
		}
		what += "): "
		if slices.ContainsFunc(settings, func(k config.InertKey) bool { return k.Reason != settings[0].Reason }) {
			what += action.ShowWhy.String() + " says why."
		} else {
			what += string(settings[0].Reason) + "."
		}
	}
	if r.Report.Untrusted() {
		what += " " + action.Trust.String() + " shows what " + config.WorkspaceFile + " asks for, and approves it."
	}
	return []string{what}
}
