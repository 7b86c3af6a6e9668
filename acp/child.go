package acp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"jp/agent"
	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
)

// A delegated call works in a conversation of its own.
type delegated struct {
	child conversation.ID
	lines []string // results of the child's tools, the newest last
}

// mostLines is how many of them the client is shown.
const mostLines = 10

// Child implements [agent.Frontend]: it shows the client, in the parent's call, the results of a delegate's
// tools.
func (f *front) Child(id conversation.ID) agent.Output {
	return childOutput{agent.NoOutput{}, f.updates, id}
}

type childOutput struct {
	agent.NoOutput
	updates *updates
	child   conversation.ID
}

// Recorded implements [turnloop.Observer].
func (o childOutput) Recorded(events []*conversation.Event) {
	u := o.updates
	u.mu.Lock()
	defer u.mu.Unlock()
	seq, d := u.callOf(o.child)
	if d == nil {
		return
	}
	more := false
	for _, e := range events {
		if b, is := e.Body.(*conversation.ToolCallResponse); is {
			mark := "· "
			switch {
			case e.Closed() != "":
				mark = "– "
			case b.IsError:
				mark = "✗ "
			}
			d.lines, more = append(d.lines, mark+tool.Done(b.Name, e.Subject)), true
		}
	}
	if more {
		d.lines = d.lines[max(0, len(d.lines)-mostLines):]
		u.delegating(seq, d, "")
	}
}

// Working implements [turnloop.Observer]. It never holds up its caller.
func (o childOutput) Working(a turnloop.Activity) {
	u := o.updates
	text := farness(a)
	if text == "" || !u.mu.TryLock() {
		return
	}
	defer u.mu.Unlock()
	if seq, d := u.callOf(o.child); d != nil {
		u.delegating(seq, d, tool.Verb(a.Name)+": "+text)
	}
}

// farness is a tool's own progress, "" if there is nothing to show.
func farness(a turnloop.Activity) string {
	text := a.Progress
	if text == "" {
		text = a.Tail
	}
	if a.Name == "" || a.Hook != "" || a.Over || !utf8.ValidString(text) {
		return ""
	}
	return text
}

// callOf is the open call that works in a conversation, or nil. The lock is held.
func (u *updates) callOf(child conversation.ID) (seq int, d *delegated) {
	for seq, d := range u.delegated {
		if d.child == child && !u.over[seq] {
			return seq, d
		}
	}
	return 0, nil
}

// delegating sends how far a delegate is. The lock is held.
func (u *updates) delegating(seq int, d *delegated, now string) {
	lines := slices.Clone(d.lines)
	if now != "" {
		lines = append(lines, now)
	}
	u.update(toolCall{
		Kind: "tool_call_update", ToolCallID: callID(seq), Status: "in_progress", Meta: d.meta(),
		Content: []toolCallContent{words(strings.Join(append([]string{d.words()}, lines...), "\n"))},
	})
}

// words name the conversation.
func (d *delegated) words() string { return "Conversation " + string(d.child) }

// meta names it for programs.
func (d *delegated) meta() meta {
	return meta{"jp": map[string]conversation.ID{"conversation": d.child}}
}
