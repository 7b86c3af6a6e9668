package live

import (
	"context"
	"fmt"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
	"jp/process/attach"
	"jp/tool"
)

const (
	// answersIn limits the time for a process's report of its activity.
	answersIn = time.Second
	// holderGap is the interval of attempts to reach a process.
	holderGap = time.Second
)

// A Holder is the process that holds the awaited conversation, at the time of the last look.
type Holder struct {
	repo    *repo.Repo
	id      conversation.ID
	Process process.Holder
	Peer    *attach.Client // nil if it could not be reached
	status  attach.Status
	Inquiry *attach.Inquiry // its waiting question, or nil
}

// LookAtHolder asks the process for its activity. The caller closes the Holder.
func LookAtHolder(ctx context.Context, r *repo.Repo, id conversation.ID, holder process.Holder) *Holder {
	h := &Holder{repo: r, id: id, Process: holder}
	if now, held := r.Locks.Held(id); held {
		h.Process = now
	}
	registry, ok := r.States().ToldRegistry()
	if !ok {
		return h
	}
	ctx, cancel := context.WithTimeout(ctx, answersIn)
	defer cancel()
	peer, err := repo.Dial(ctx, registry, id)
	if err == nil {
		h.status, h.Inquiry, err = DoesNow(ctx, peer)
	}
	if err == nil {
		h.Peer = peer
	} else if peer != nil {
		peer.Close()
	}
	return h
}

// Close lets go of it.
func (h *Holder) Close() {
	if h.Peer != nil {
		h.Peer.Close()
	}
}

// Changes waits until a question begins or ceases to wait, or until another process can be reached. It is
// false if ctx ends first.
func (h *Holder) Changes(ctx context.Context) bool {
	if h.Peer != nil && h.asks(ctx) {
		return true
	}
	again := time.NewTicker(holderGap)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
		next := LookAtHolder(ctx, h.repo, h.id, h.Process)
		next.Close()
		if next.Peer != nil {
			return true
		}
	}
}

// asks waits until a question begins or ceases to wait. It is false if the process or ctx ends first.
func (h *Holder) asks(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() { h.Peer.Close() })
	defer stop()
	for {
		m, err := h.Peer.Next()
		if err != nil {
			return false
		}
		switch m.(type) {
		case *attach.Inquiry, *attach.Answered:
			return true
		}
	}
}

// Words describe the process and its activity.
func (h *Holder) Words(now time.Time) string {
	who := h.Process.Name()
	if h.Process.Detached {
		who += " in the background"
	}
	since := conversation.Ago(time.Duration(h.status.SinceMS) * time.Millisecond)
	title := safetext.Show(conversation.Shorten(tool.Line(h.status.Tool, h.status.Subject), 60))
	switch {
	case h.Inquiry != nil:
		return who
	case h.status.Waits:
		return fmt.Sprintf("%s, %s waits for another jp that changes files here, %s by now", who, title, since)
	case h.status.Tool != "":
		return fmt.Sprintf("%s, %s for %s", who, title, since)
	case h.status.Doing:
		return who + ", the model is answering"
	case !h.Process.Started.IsZero():
		return who + ", for " + conversation.Ago(max(now.Sub(h.Process.Started), time.Second))
	}
	return who
}
