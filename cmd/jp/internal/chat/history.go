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

// A history is the person's requests in this conversation. Its end is read at the first use, the rest
// when the person goes further back.
type history struct {
	mu    sync.Mutex
	read  bool
	from  int // the first event that is read
	texts []string
	at    int    // len(texts): the person's own text
	own   string // the text that they were typing

	searched []string // requests for Ctrl+R, the newest first; nil: they are not read
	found    int      // index of the request that was found last; -1: none yet
}

// step goes back or forward. Read returns the requests before an event, and the first event that it
// read. Before 0 it returns the last requests.
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

// forget prepares the history for another conversation.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read, h.from, h.texts, h.at, h.own = false, 0, nil, 0, ""
	h.searched = nil
}

// requests reads the requests before an event.
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
		return nil, 0 // the next turn reports the error
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
