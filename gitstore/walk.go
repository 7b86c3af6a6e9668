package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// maxForeign is how many foreign commits a walk passes in search of events below them, so that a ref to the
// user's own history ends it soon.
const maxForeign = 100

// A walk goes from a head to the first event. Behind damage it goes on with the commits below.
type walk struct {
	commits *commitReader
	next    odb.OID
	last    odb.OID // the commit above next
	expect  int     // seq that the next event must have, -1 for any
	foreign int     // commits passed since the last event
	done    bool
	bare    bool              // payload is left unread
	outline bool              // of answers and results only the beginning is kept
	brief   bool              // events' summaries are left out, and with them the memory of their objects
	ahead   *prefetch[linked] // nil for a walk without reading ahead
}

// A linked is a stored object with its parsed value.
type linked struct {
	*parsedCommit
	err error
}

func (r *commitReader) walk(head odb.OID) *walk {
	return &walk{commits: r, next: head, expect: -1}
}

// events are all up to the head, oldest first.
func (w *walk) events(ctx context.Context) ([]*conversation.Event, error) {
	w.brief = true
	links, err := w.commits.load(ctx, w)
	events := make([]*conversation.Event, len(links))
	for i, l := range links {
		events[i] = l.event
	}
	return events, err
}

// mostOutlined is how many bytes of an answer or a result an outline has.
const mostOutlined = 64

// outlined is a body with the beginning of its text, if that is an answer or a result.
func outlined(body conversation.Body) conversation.Body {
	beginning := func(text string) string {
		if len(text) <= mostOutlined {
			return text
		}
		return strings.Clone(strings.ToValidUTF8(text[:mostOutlined], ""))
	}
	switch b := body.(type) {
	case *conversation.ChatResponse:
		if b.Part != conversation.PartData { // whose text is JSON
			b.Text = beginning(b.Text)
		}
	case *conversation.ToolCallResponse:
		b.Content = beginning(b.Content)
	}
	return body
}

// step reads the next older event.
func (w *walk) step(ctx context.Context) (*parsedCommit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := w.read()
	switch {
	case errors.Is(err, odb.ErrObjectMissing) && w.commits.isShallow(w.last):
		w.done = true
		return nil, ErrShallow
	case err != nil:
		w.skip(l)
		return nil, err
	case w.expect >= 0 && l.seq != w.expect:
		above := &DamageError{Commit: string(w.last), Seq: w.expect + 1, Err: fmt.Errorf("%w: event %d stands on event %d", conversation.ErrDamaged, w.expect+1, l.seq)}
		w.expect = -1 // read it again, as the newest whole event
		return nil, above
	}
	if !w.bare {
		if err := w.commits.fill(l.event); err != nil {
			w.skip(l)
			return nil, damageOr(err, l)
		}
	}
	return l, w.advance(l)
}

// read reads the next commit, from the prefetch if it is there.
func (w *walk) read() (*parsedCommit, error) {
	if w.ahead == nil {
		return w.commits.read(w.next)
	}
	l, ok := w.ahead.next(w.next)
	if !ok {
		w.stop()
		return w.commits.read(w.next)
	}
	return l.parsedCommit, l.err
}

// goAhead reads on beside the goroutine that takes the steps.
func (w *walk) goAhead() {
	w.ahead = readAhead(w.commits, w.next, func(o stored) linked {
		l, err := w.commits.parse(w.commits.checkName(o))
		if l != nil && w.brief {
			l.state = nil
		}
		if l != nil && l.event != nil && w.outline {
			l.event.Body = outlined(l.event.Body)
		}
		return linked{l, err}
	})
}

// stop ends the reading ahead.
func (w *walk) stop() {
	if w.ahead != nil {
		w.ahead.stop()
		w.ahead = nil
	}
}

// advance goes on below an event.
func (w *walk) advance(l *parsedCommit) error {
	w.last, w.next, w.expect, w.foreign = l.oid, l.parent, l.seq-1, 0
	w.done = l.seq == 0 || l.parent == ""
	if w.done && l.seq > 0 {
		return damageOr(fmt.Errorf("%w: the chain ends before event 0", conversation.ErrDamaged), l)
	}
	return nil
}

// skip goes on below a commit that is not an event, if there can be events.
func (w *walk) skip(l *parsedCommit) {
	if l == nil || l.parent == "" || l.seq == 0 {
		w.done = true
		return
	}
	if l.plain {
		w.foreign++
		w.done = w.foreign > maxForeign
	} else {
		w.done = w.expect == 0 // it was the first one
		w.expect = max(w.expect-1, l.seq-1, -1)
	}
	w.last, w.next = l.oid, l.parent
}

// damageOr names the commit of a link if an error says that it is damaged.
func damageOr(err error, l *parsedCommit) error {
	if !errors.Is(err, conversation.ErrDamaged) {
		return err
	}
	return &DamageError{Commit: string(l.oid), Seq: l.seq, Err: err}
}
