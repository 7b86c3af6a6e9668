package journaltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"jp/conversation"
)

// emptyTree is the id of the tree without files.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Memory is a journal that lives as long as the process. It encodes events at once and decodes them for every
// reader, so that each reader has its own copies.
type Memory struct {
	// Fault, if set, is called before every write. If it fails, so does the write, without effect. It must be
	// set before the journal is used.
	Fault func(events []*conversation.Event) error

	mu            sync.Mutex
	conversations map[conversation.ID]*kept
	records       map[conversation.Head]record
	blobs         map[string][]byte
}

var _ conversation.Journal = (*Memory)(nil)

// kept is the equivalent of a git ref.
type kept struct {
	head  conversation.Head
	scope conversation.Scope
}

// NewMemory returns an empty journal.
func NewMemory() *Memory {
	return &Memory{
		conversations: map[conversation.ID]*kept{},
		records:       map[conversation.Head]record{},
		blobs:         map[string][]byte{},
	}
}

// Create implements [conversation.Journal].
func (m *Memory) Create(ctx context.Context, id conversation.ID, base string, events []*conversation.Event) (conversation.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.conversations[id]; taken {
		return "", fmt.Errorf("create %s: %w", id, conversation.ErrExists)
	}
	if len(events) == 0 {
		return "", fmt.Errorf("create %s: there is no first event", id)
	}
	head, err := m.write(ctx, "", base, events)
	if err != nil {
		return "", fmt.Errorf("create %s: %w", id, err)
	}
	m.conversations[id] = &kept{head: head, scope: conversation.ScopeLive}
	return head, nil
}

// Append implements [conversation.Journal].
func (m *Memory) Append(ctx context.Context, id conversation.ID, expect conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.expect(id, expect)
	if err != nil {
		return "", err
	}
	head, err := m.write(ctx, c.head, "", events)
	if err != nil {
		return "", fmt.Errorf("append to %s: %w", id, err)
	}
	c.head = head
	return head, nil
}

// Head implements [conversation.Journal].
func (m *Memory) Head(_ context.Context, id conversation.ID) (conversation.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.find(id)
	if err != nil {
		return "", err
	}
	return c.head, nil
}

// Load implements [conversation.Journal].
func (m *Memory) Load(ctx context.Context, at conversation.Head) ([]*conversation.Event, error) {
	var events []*conversation.Event
	for e, err := range m.Backward(ctx, at) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	slices.Reverse(events)
	return events, nil
}

// Backward implements [conversation.Journal].
func (m *Memory) Backward(ctx context.Context, at conversation.Head) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		for first := true; first || at != ""; first = false {
			e, parent, err := m.read(ctx, at)
			if !yield(e, err) || err != nil {
				return
			}
			at = parent
		}
	}
}

// Info implements [conversation.Journal].
func (m *Memory) Info(ctx context.Context, id conversation.ID) (conversation.Info, error) {
	m.mu.Lock()
	c, err := m.find(id)
	if err != nil {
		m.mu.Unlock()
		return conversation.Info{}, err
	}
	head, scope := c.head, c.scope
	m.mu.Unlock()
	events, err := m.Load(ctx, head)
	if err != nil {
		return conversation.Info{}, err
	}
	return conversation.Info{
		ID: id, Ref: "refs/jp/" + string(scope) + "/" + string(id), Head: head,
		Tip: events[len(events)-1], Summary: conversation.Summarize(events),
	}, nil
}

// List implements [conversation.Journal].
func (m *Memory) List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error) {
	m.mu.Lock()
	var ids []conversation.ID
	for id, c := range m.conversations {
		if c.scope == scope {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	var infos []conversation.Info
	for _, id := range ids {
		info, err := m.Info(ctx, id)
		if errors.Is(err, conversation.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Fork implements [conversation.Journal].
func (m *Memory) Fork(ctx context.Context, from conversation.ID, at conversation.Head, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from != "" {
		source, err := m.find(from)
		if err != nil {
			return "", err
		}
		if !m.reaches(source.head, at) {
			return "", fmt.Errorf("fork %s at %s: %w", from, at, conversation.ErrNotFound)
		}
	}
	if _, taken := m.conversations[id]; taken {
		return "", fmt.Errorf("fork %s: %w", from, conversation.ErrExists)
	}
	head, err := m.write(ctx, at, "", []*conversation.Event{origin})
	if err != nil {
		return "", fmt.Errorf("fork %s: %w", from, err)
	}
	m.conversations[id] = &kept{head: head, scope: conversation.ScopeLive}
	return head, nil
}

// Archive implements [conversation.Journal].
func (m *Memory) Archive(ctx context.Context, id conversation.ID, expect conversation.Head, record *conversation.Event, archived bool) (conversation.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.expect(id, expect)
	if err != nil {
		return "", err
	}
	to := conversation.ScopeLive
	if archived {
		to = conversation.ScopeArchived
	}
	if c.scope == to {
		return "", fmt.Errorf("archive %s: %w: it is there already", id, conversation.ErrNotFound)
	}
	head, err := m.write(ctx, c.head, "", []*conversation.Event{record})
	if err != nil {
		return "", fmt.Errorf("archive %s: %w", id, err)
	}
	c.head, c.scope = head, to
	return head, nil
}

// Delete implements [conversation.Journal].
func (m *Memory) Delete(_ context.Context, id conversation.ID, expect conversation.Head) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.expect(id, expect); err != nil {
		return err
	}
	delete(m.conversations, id)
	return nil
}

// Verify implements [conversation.Journal].
func (m *Memory) Verify(ctx context.Context, id conversation.ID) (conversation.Verdict, error) {
	head, err := m.Head(ctx, id)
	if err != nil {
		return conversation.Verdict{}, err
	}
	events, err := m.Load(ctx, head)
	if err != nil {
		return conversation.Verdict{}, err
	}
	verdict := conversation.Verdict{ID: id, Events: len(events), Local: conversation.Local(events)}
	for i, e := range events {
		if e.Seq != i {
			verdict.Problems = append(verdict.Problems, conversation.Problem{Commit: e.Commit, Seq: e.Seq, Text: "a gap in seq"})
		}
	}
	return verdict, nil
}

// Payload implements [conversation.Journal].
func (m *Memory) Payload(_ context.Context, p conversation.Payload) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.blobs[p.OID]
	return slices.Clone(data), ok, nil
}

// Forget drops the content of a payload, as a user may.
func (m *Memory) Forget(p conversation.Payload) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, p.OID)
}

func (m *Memory) find(id conversation.ID) (*kept, error) {
	c := m.conversations[id]
	if c == nil {
		return nil, fmt.Errorf("%s: %w", id, conversation.ErrNotFound)
	}
	return c, nil
}

func (m *Memory) expect(id conversation.ID, head conversation.Head) (*kept, error) {
	c, err := m.find(id)
	if err == nil && c.head != head {
		err = fmt.Errorf("%s: %w", id, conversation.ErrHeadMoved)
	}
	return c, err
}

func (m *Memory) reaches(head, at conversation.Head) bool {
	for ; head != ""; head = m.records[head].parent {
		if head == at {
			return true
		}
	}
	return false
}

func hash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))[:40]
}
