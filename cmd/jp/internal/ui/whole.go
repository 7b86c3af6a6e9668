package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/tool"
)

// IsBlock reports whether an event has more than a line to show: the output of a tool, what it changed, or a thought of
// the model.
func IsBlock(e *conversation.Event) bool {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		return b.Part == conversation.PartReasoning && strings.TrimSpace(b.Text) != ""
	case *conversation.ToolCallResponse:
		switch {
		case b.Name == tool.Plan, withoutOutput(e.Subject), strings.TrimSpace(b.Content) == "":
			return false
		case b.IsError, b.Name == "shell_run", b.Name == "fs_create_file":
			return true
		}
		return tool.Verb(b.Name) == b.Name || terminal.Changes(b.Content) != nil
	}
	return false
}

// Whole prints all of a block.
func (v *ScreenView) Whole(w io.Writer, e *conversation.Event) {
	t := NewTurn(v, w, "full", true)
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		t.event(e)
	case *conversation.ToolCallResponse:
		call := t.record.callOf(b)
		t.say(t.blockLine(e, b, call))
		changes := call.changes(b)
		if b.IsError || changes == nil {
			t.output(e, b)
			return
		}
		drawing := terminal.Drawing{Palette: v.Palette, File: strings.TrimSpace(call.thing), Margin: 4, Width: v.Width, Wraps: true}
		for _, row := range slices.Concat(drawing.Rows(changes)...) {
			fmt.Fprintln(w, row)
		}
	}
}
