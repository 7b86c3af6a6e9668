package ui

import (
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/terminal/highlight"
)

// A ScreenView is a conversation as a command shows it on stdout.
type ScreenView struct {
	View    *repo.View
	Env     *Env
	Palette terminal.Palette
	Width   int // of the terminal, 0 where there is none
	time    *highlight.Time
}

// OnScreen shows a conversation.
func (e *Env) OnScreen(v *repo.View) *ScreenView {
	d := &ScreenView{View: v, Env: e, Palette: e.Palette(e.Stdout), time: highlight.NewTime()}
	if IsTerminal(e.Stdout) {
		d.Width = e.Columns(e.Stdout)
	}
	return d
}
