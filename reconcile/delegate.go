package reconcile

import (
	"fmt"
	"strings"

	"jp/conversation"
)

// A Delegate is the known state of a call's child conversation.
type Delegate struct {
	Child    conversation.ID
	Begun    bool                    // there is something in it
	Complete bool                    // its turn came to its end
	Left     bool                    // an incomplete one is not resumed
	State    *conversation.WorkState // its newest description of its work, or nil
}

// delegate says how far the child of a call came, for the model.
func (c Call) delegate() string {
	d := c.Delegate
	var b strings.Builder
	fmt.Fprintf(&b, "The delegate of %s, conversation %s, %s.", quote(c.Call.Request.ID), quote(string(d.Child)), d.came())
	if d.State == nil {
		b.WriteString(" It had said nothing of its state.\n")
		return b.String()
	}
	b.WriteString(" What it had said last of its state, as JSON:\n")
	fmt.Fprintf(&b, "  plan: %s\n", quote(d.State.Plan))
	for _, list := range []struct {
		name  string
		items []string
	}{
		{"open tasks", d.State.OpenTasks}, {"files touched", d.State.FilesTouched},
		{"assumptions", d.State.Assumptions}, {"errors", d.State.Errors},
	} {
		fmt.Fprintf(&b, "  %s: [%s]\n", list.name, quotes(list.items))
	}
	b.WriteString("If its result does not cover the whole task, decide whether to delegate the rest or to go on from what the files show.\n")
	return b.String()
}

// came says how far the child had come at the resume.
func (d Delegate) came() string {
	switch {
	case d.Complete:
		return "was complete"
	case d.Left && d.Begun:
		return "had been interrupted, and was not to go on"
	case d.Left:
		return "had nothing in it, as it had not begun, or was deleted, and was not to begin"
	case d.Begun:
		return "had been interrupted, and was to go on"
	}
	return "had nothing in it, as it had not begun, or was deleted, and was to begin"
}
