package chat

import (
	"context"
	"slices"
	"sync"

	"jp/agent"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// A history is what the person asked in this conversation. It is read when it is looked at first.
type history struct {
	mu    sync.Mutex
	read  bool
	texts []string
	at    int    // len(texts): the person's own text
	own   string // what they were typing
}

// step goes back or forward.
func (h *history) step(back bool, text string, read func() []string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.read {
		h.texts, h.read = slices.Compact(read()), true
		h.at = len(h.texts)
	}
	if h.at < len(h.texts) && text != h.texts[h.at] { // it was edited: that is a text of its own
		h.at = len(h.texts)
	}
	if h.at == len(h.texts) {
		h.own = text
	}
	to := h.at + 1
	if back {
		to = h.at - 1
	}
	if to < 0 || to > len(h.texts) {
		return "", false
	}
	if h.at = to; to == len(h.texts) {
		return h.own, true
	}
	return h.texts[to], true
}

// add notes what was entered.
func (h *history) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.read && (len(h.texts) == 0 || h.texts[len(h.texts)-1] != text) {
		h.texts = append(h.texts, text)
	}
	h.at, h.own = len(h.texts), ""
}

// forget makes the history another conversation's.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read, h.texts, h.at, h.own = false, nil, 0, ""
}

// requests reads what was asked.
func requests(ctx context.Context, env *ui.Env, id conversation.ID) []string {
	if id == "" {
		return nil
	}
	r, err := env.FindRepo(ctx)
	if err != nil {
		return nil
	}
	defer r.Close()
	texts, err := agent.Requests(ctx, r, id)
	if err != nil {
		return nil // the next turn says what is wrong with it
	}
	return texts
}
