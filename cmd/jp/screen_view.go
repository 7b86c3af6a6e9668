package main

import (
	"jp/cmd/jp/internal/terminal"
)

// A screenView is a conversation as a command shows it on stdout.
type screenView struct {
	*view
	env     *env
	palette terminal.Palette
	width   int // of the terminal, 0 where there is none
}

// onScreen shows a conversation.
func (e *env) onScreen(v *view) *screenView {
	d := &screenView{view: v, env: e, palette: e.palette(e.stdout)}
	if isTerminal(e.stdout) {
		d.width = e.columns(e.stdout)
	}
	return d
}
