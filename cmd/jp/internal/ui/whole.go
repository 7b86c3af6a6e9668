package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// IsBlock reports whether an event may have more to show than its line.
func IsBlock(e *conversation.Event) bool {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		return b.Part == conversation.PartReasoning && strings.TrimSpace(b.Text) != ""
	case *conversation.ToolCallResponse:
		return b.Name != tool.Plan && strings.TrimSpace(b.Content) != ""
	}
	return false
}

// Blocks are the blocks of the view that have more text than the screen shows, the newest first: the
// output of a tool, its changes or the planned ones, or a thought of the model.
func (v *ScreenView) Blocks() (blocks []*conversation.Event) {
	t := NewTurn(v, io.Discard, asItRan, false)
	for _, e := range slices.Backward(v.View.Events) {
		if b, ran := e.Body.(*conversation.ToolCallResponse); IsBlock(e) && (!ran || t.record.callOf(e, b).hides(e, b, v.Width)) {
			blocks = append(blocks, e)
		}
	}
	return blocks
}

// hides reports whether a tool call has more to show than its line and the rows below that.
func (c *callRecord) hides(e *conversation.Event, b *conversation.ToolCallResponse, width int) bool {
	if withoutOutput(e.Subject) {
		return c.proposed() != nil
	}
	if changes := c.changes(b); !b.IsError && changes != nil {
		brief := terminal.Brief(changes, diffRows)
		folded := slices.ContainsFunc(brief, func(c terminal.Change) bool { return c.Number < 0 }) ||
			slices.ContainsFunc(changes, func(c terminal.Change) bool { return c.Mark == ' ' })
		drawing := terminal.Drawing{Margin: marginIn(width), Width: width}
		cut := drawing.Rows(brief)
		drawing.Wraps = true
		return folded || !slices.EqualFunc(cut, drawing.Rows(brief), slices.Equal)
	}
	if !b.IsError && c.own(b) {
		return true
	}
	lines, room := safetext.Lines(safetext.Shown(b.Content)), width-marginIn(width)
	if b.IsError {
		lines, room = withoutEnding(lines), failureColumns
		if saysAll(e.Subject, lines) {
			return false
		}
	}
	return slices.ContainsFunc(ends(lines, b.IsError), func(p outputPart) bool { return p.folded > 0 || safetext.Columns(p.line) > room })
}

// proposed are the lines that a call to edit or create a file would change.
func (c *callRecord) proposed() (changes []terminal.Change) {
	var args struct {
		Content *string
		Edits   []struct{ Old, New string }
	}
	if !strings.HasPrefix(c.call.Request.Name, "fs_") || json.Unmarshal(c.call.Arguments(), &args) != nil {
		return nil
	}
	if args.Content != nil {
		return c.changes(&conversation.ToolCallResponse{Name: c.call.Request.Name})
	}
	for i, edit := range args.Edits {
		if i > 0 {
			changes = append(changes, terminal.Change{Text: "…"})
		}
		for _, side := range []struct {
			mark byte
			text string
		}{{'-', edit.Old}, {'+', edit.New}} {
			for line := range strings.Lines(side.text) {
				changes = append(changes, terminal.Change{Mark: side.mark, Text: strings.TrimSuffix(line, "\n")})
			}
		}
	}
	return changes
}

// Whole prints all of a block.
func (v *ScreenView) Whole(w io.Writer, e *conversation.Event) {
	t := NewTurn(v, w, "full", true)
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		t.event(e)
	case *conversation.ToolCallResponse:
		call := t.record.callOf(e, b)
		t.say(t.blockLine(e, b, call))
		changes := call.changes(b)
		if withoutOutput(e.Subject) {
			changes = call.proposed()
		} else if b.IsError {
			changes = nil
		}
		if changes == nil {
			t.output(e, b)
			return
		}
		drawing := terminal.Drawing{Palette: v.Palette, File: strings.TrimSpace(call.thing), Margin: 4, Width: v.Width, Wraps: true}
		for _, row := range slices.Concat(drawing.Rows(changes)...) {
			fmt.Fprintln(w, row)
		}
	}
}
