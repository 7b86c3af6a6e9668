package agent

import (
	"context"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
)

// text is what the user asks: the words, behind what is piped in, or what they
// write in an editor, or again what they asked last or have just discarded, which then
// comes with it.
func (q *query) text(ctx context.Context) (text string, again *conversation.Event, err error) {
	words := strings.Join(q.opts.Text, " ")
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
	edits := q.opts.Edit || blank && !q.opts.NoEdit && q.front.CanEdit()
	if q.discarded != nil && blank && (edits || q.opts.NoEdit) {
		text, again = q.discarded.Body.(*conversation.ChatRequest).Content, q.discarded
	}
	if edits {
		if text, err = q.edit(ctx, text); err != nil {
			return "", nil, err
		}
	}
	if last := q.lastRequest(); last != nil && q.opts.NoEdit && strings.TrimSpace(text) == "" {
		text, again = last.Body.(*conversation.ChatRequest).Content, last
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, problem.Usage("there is nothing to ask.").Hint(`jp query "…"`, "ask this").Hint("jp query --edit", "write it in an editor")
	}
	return text, again, nil
}

// repeats reports whether the last request is to be asked again: there is no
// text, and no way left to give one.
func (q *query) repeats() bool { return q.opts.NoEdit && !q.asks() && !q.front.Reads() }

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
