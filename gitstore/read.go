package gitstore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Head is the id of a conversation's newest event, live or archived.
func (s *Store) Head(_ context.Context, id conversation.ID) (conversation.Head, error) {
	_, head, err := s.refs.find(id)
	return conversation.Head(head), err
}

// parseHead checks that a head is the id of an object that is there.
func (s *Store) parseHead(at conversation.Head) (odb.OID, error) {
	head := odb.OID(at)
	if !s.repo.ObjectFormat.IsName(string(at)) {
		return "", fmt.Errorf("%w: head %q", conversation.ErrNotFound, at)
	}
	if s.tips.known(head) != nil {
		return head, nil
	}
	there, err := s.odb.Has(head)
	switch {
	case err != nil:
		return "", storeError(err)
	case there:
		return head, nil
	}
	switch ref := s.refs.headOf(head); {
	case ref != "" && s.refs.writtenAgain(ref, head, s.restoring):
		return head, nil
	case ref != "":
		return "", &DamageError{Commit: string(head), Seq: -1, Err: fmt.Errorf("%w: the newest event's commit is missing", conversation.ErrDamaged)}
	}
	return "", fmt.Errorf("%w: there is no object %.10s", conversation.ErrNotFound, at)
}

// How long an event that a prune took is waited for, and how often it is looked for.
const (
	restoring   = 500 * time.Millisecond
	restorePoll = 20 * time.Millisecond
)

// writtenAgain waits for a missing head that was written a short while ago: if a prune took it, its writer
// writes it again.
func (r *refs) writtenAgain(ref string, head odb.OID, within time.Duration) bool {
	if !r.odb.RefsChangedSince(ref) {
		return false
	}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(restorePoll) {
		if there, err := r.odb.Has(head); err == nil && there {
			return true
		}
	}
	return false
}

// Load reads the events up to a head, oldest first. If there is damage on the
// way, the events before it are returned with the error.
func (s *Store) Load(ctx context.Context, at conversation.Head) ([]*conversation.Event, error) {
	head, err := s.parseHead(at)
	if err != nil {
		return nil, err
	}
	return s.commits.walk(head).events(ctx)
}

// LoadOutline is Load with only the beginning of answers and results, so that a conversation of a million
// events fits in memory.
func (s *Store) LoadOutline(ctx context.Context, at conversation.Head) ([]*conversation.Event, error) {
	head, err := s.parseHead(at)
	if err != nil {
		return nil, err
	}
	w := s.commits.walk(head)
	w.outline, w.bare = true, true
	return w.events(ctx)
}

// backAlone is the number of events after which Back reads ahead: a caller that takes so many takes more.
const backAlone = 16

// Backward yields events from a head backwards, and stops at the first error.
func (s *Store) Backward(ctx context.Context, at conversation.Head) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		head, err := s.parseHead(at)
		if err != nil {
			yield(nil, err)
			return
		}
		s.commits.walk(head).backward(ctx, yield)
	}
}

// backward yields events down to the first one.
func (w *walk) backward(ctx context.Context, yield func(*conversation.Event, error) bool) {
	defer w.stop()
	for steps := 0; !w.done; steps++ {
		if steps == backAlone {
			w.goAhead()
		}
		l, err := w.step(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(l.event, nil) {
			return
		}
	}
}

// Info reads the summary of a conversation from its newest event.
func (s *Store) Info(ctx context.Context, id conversation.ID) (conversation.Info, error) {
	ref, head, err := s.refs.find(id)
	if err != nil {
		return conversation.Info{}, err
	}
	info := named(ref)
	info.Head = conversation.Head(head)
	info = s.info(ctx, info)
	return info, info.Err
}

// info completes the Info of a known head from its newest event. Of a long text it has only the part in the
// message.
func (s *Store) info(ctx context.Context, info conversation.Info) conversation.Info {
	t, err := s.sidecars.readTip(ctx, info, odb.OID(info.Head))
	if err != nil {
		info.Err = err
		return info
	}
	return t.of(info)
}

// Heads reads the refs of a scope's conversations without their commits: each Info has
// the name, the head, and the error of an unreadable ref. It leaves out refs without an
// id, and refs whose conversation is at another ref of the live or archived scope.
func (s *Store) Heads(scope conversation.Scope) ([]conversation.Info, error) {
	return s.refs.heads(scope, nil)
}

// IDs are the conversations that have a ref of a scope, sorted. It reads names alone: the conversation of a ref may be at its
// other ref, or unreadable.
func (s *Store) IDs(scope conversation.Scope) (ids []conversation.ID, err error) {
	refs, err := s.odb.RefNames(refRoot + string(scope) + "/")
	for _, ref := range refs {
		if names(ref, scope) {
			ids = append(ids, named(ref).ID)
		}
	}
	return ids, storeError(err)
}

// List reads the newest events of a scope's conversations, several at a time.
func (s *Store) List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error) {
	return s.ListBeside(ctx, scope, nil, nil)
}

// ListBeside is List for a caller that knows some conversations. It neither reads nor returns the unchanged
// ones. It also leaves out those for which done reports true. It calls done several times at once. Both may
// be nil.
func (s *Store) ListBeside(ctx context.Context, scope conversation.Scope, known *KnownList, done func(conversation.Info) bool) ([]conversation.Info, error) {
	infos, err := s.refs.heads(scope, known)
	if err != nil {
		return nil, err
	}
	forEach(ctx, infos, func(i int) {
		if infos[i].Err == nil {
			infos[i] = s.info(ctx, infos[i])
		}
		if done != nil && done(infos[i]) {
			infos[i] = conversation.Info{}
		}
	})
	return slices.DeleteFunc(infos, func(i conversation.Info) bool { return i.Ref == "" }), ctx.Err()
}

// forEach does something for all conversations, several at a time.
func forEach(ctx context.Context, infos []conversation.Info, do func(i int)) {
	const readers = 4
	var wg sync.WaitGroup
	for first := range readers {
		wg.Go(func() {
			for i := first; i < len(infos) && ctx.Err() == nil; i += readers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// Payload reads the content of a payload; ok is false if it is absent. Content that does not match the
// event is damage.
func (s *Store) Payload(_ context.Context, p conversation.Payload) (data []byte, ok bool, err error) {
	return s.commits.payload(p)
}

// Payloads is the ref that keeps a conversation's payload, and its value; "" if the conversation has none.
func (s *Store) Payloads(id conversation.ID) (ref, head string, err error) {
	oid, err := s.refs.payloadHead(id)
	if err != nil || oid == "" {
		return "", "", err
	}
	return refPayloads + string(id), string(oid), nil
}
