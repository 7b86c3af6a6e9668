package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// text is the user's question: the piped text and the words of the command line, or the text of an editor.
// Without these it is the last request, or the one just discarded, and returns its event as well.
func (s *question) text(ctx context.Context) (text string, again *conversation.Event, err error) {
	words := strings.Join(s.run.opts.Input.Text, " ")
	piped, err := s.run.front.Read(ctx)
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
	edits := s.run.opts.Input.Edit || blank && !s.run.opts.Input.NoEdit && s.run.front.CanEdit()
	if s.discarded != nil && blank && (edits || s.run.opts.Input.NoEdit) {
		text, again = s.discarded.Body.(*conversation.ChatRequest).Content, s.discarded
	}
	if edits {
		if text, err = s.edit(ctx, text); err != nil {
			return "", nil, err
		}
	}
	if last := s.history.lastRequest(); last != nil && s.run.opts.Input.NoEdit && strings.TrimSpace(text) == "" {
		text, again = last.Body.(*conversation.ChatRequest).Content, last
	}
	if strings.TrimSpace(text) == "" {
		f := problem.Usage("there is nothing to ask.").Hint(action.Ask, "ask this")
		if s.run.front.CanEdit() {
			f.Hint(action.AskInEditor, "write it in an editor")
		}
		return "", nil, f
	}
	return text, again, nil
}

// lastRequest is the user's last request, or nil. A discarded one counts if there is no other.
func (l *history) lastRequest() *conversation.Event {
	var discarded *conversation.Event
	for _, turn := range slices.Backward(slices.Collect(conversation.Turns(l.stream.Events()))) {
		ledger := turn.Ledger()
		e := ledger.Request()
		if e != nil && !ledger.Discarded {
			return e
		}
		discarded = cmp.Or(discarded, e)
	}
	return discarded
}
