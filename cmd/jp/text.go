package main

import (
	"context"
	"strings"

	"jp/conversation"
)

// text is what the user asks: the words, behind what is piped in, or what they
// write in an editor, or again what they asked last or have just discarded, which then
// comes with it.
func (q *query) text(ctx context.Context) (text string, again *conversation.Event, err error) {
	words := strings.Join(q.opts.text, " ")
	piped, err := q.front.Read(ctx)
	if err != nil {
		return "", nil, err
	}
	text = strings.TrimRight(piped, "\n")
	switch {
	case text == "":
		text = words
	case words != "":
		text += "\n\n" + words
	}
	blank := strings.TrimSpace(text) == ""
	edits := q.opts.edit || blank && !q.opts.noEdit && q.front.CanEdit()
	if q.discarded != nil && blank && (edits || q.opts.noEdit) {
		text, again = q.discarded.Body.(*conversation.ChatRequest).Content, q.discarded
	}
	if edits {
		if text, err = q.edit(ctx, text); err != nil {
			return "", nil, err
		}
	}
	if last := q.lastRequest(); last != nil && q.opts.noEdit && strings.TrimSpace(text) == "" {
		text, again = last.Body.(*conversation.ChatRequest).Content, last
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, usage("there is nothing to ask.").hint(`jp query "…"`, "ask this").hint("jp query --edit", "write it in an editor")
	}
	return text, again, nil
}

// repeats reports whether the last request is to be asked again: there is no
// text, and no way left to give one.
func (q *query) repeats() bool { return q.opts.noEdit && !q.asks() && !q.front.Reads() }

// lastRequest is what the user asked last, nil if that is nothing.
func (q *query) lastRequest() *conversation.Event {
	var last *conversation.Event
	for turn := range conversation.Turns(q.stream.Events()) {
		ledger := turn.Ledger()
		if e := ledger.Request(); e != nil && !ledger.Discarded {
			last = e
		}
	}
	return last
}
