package chat

import (
	"context"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// A history is what the person asked in this conversation. The end of it is read when it is looked at first, the rest when the
// person goes beyond that.
type history struct {
	mu    sync.Mutex
	read  bool
	from  int // the event before which it is not read
	texts []string
	at    int    // len(texts): the person's own text
	own   string // what they were typing

	searched []string // requests for Ctrl+R, the newest first; nil: they are not read
	found    int      // index of the request that was found last; -1: none yet
}

// step goes back or forward. Read is what was asked before an event, and the first event that was read; before 0 it is what was
// asked last.
func (h *history) step(back bool, text string, read func(before int) ([]string, int)) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.read {
		h.texts, h.from = read(0)
		h.texts, h.read = slices.Compact(h.texts), true
		h.at = len(h.texts)
	}
	if back && h.at == 0 && h.from > 0 {
		had := len(h.texts)
		var earlier []string
		earlier, h.from = read(h.from)
		h.texts = slices.Compact(append(earlier, h.texts...))
		h.at = len(h.texts) - had
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

// search finds the newest request that contains some words, or the next older one. It reports whether there is one.
func (h *history) search(words string, older bool, read func() []string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.searched == nil {
		h.searched, h.found = read(), -1
	}
	if !older {
		h.found = -1
	}
	for i := h.found + 1; i < len(h.searched); i++ {
		other := h.searched[i]
		if again := h.found >= 0 && other == h.searched[h.found]; !again && strings.Contains(strings.ToLower(other), strings.ToLower(words)) {
			h.found = i
			return other, true
		}
	}
	return "", false
}

// add notes what was entered.
func (h *history) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.read && (len(h.texts) == 0 || h.texts[len(h.texts)-1] != text) {
		h.texts = append(h.texts, text)
	}
	if h.searched != nil {
		h.searched, h.found = slices.Insert(h.searched, 0, text), -1
	}
	h.at, h.own = len(h.texts), ""
}

// forget makes the history another conversation's.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read, h.from, h.texts, h.at, h.own = false, 0, nil, 0, ""
	h.searched = nil
}

// requests reads what was asked.
func requests(ctx context.Context, env *ui.Env, id conversation.ID, before int) (texts []string, from int) {
	if id == "" {
		return nil, 0
	}
	r, err := env.FindRepo(ctx)
	if err != nil {
		return nil, 0
	}
	defer r.Close()
	if before > 0 {
		texts, err = agent.EarlierRequests(ctx, r, id, before)
	} else {
		texts, from, err = agent.RecentRequests(ctx, r, id)
	}
	if err != nil {
		return nil, 0 // the next turn says what is wrong with it
	}
	return texts, from
}

// searched reads the requests for Ctrl+R.
func searched(ctx context.Context, env *ui.Env, id conversation.ID) []string {
	r, err := env.FindRepo(ctx)
	if err != nil {
		return []string{}
	}
	defer r.Close()
	return append([]string{}, agent.SearchedRequests(ctx, r, id)...)
}
