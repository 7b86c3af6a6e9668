package gitstore

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A Collection does many writes of a Store as one.
type Collection struct{ Store *Store }

// Do lets a function write. What it makes goes into one pack, and the refs move when all of it
// is durable. After an error there is nothing of it, or the beginning of what is too large for
// one pack. A store that collects is for one goroutine.
func (c Collection) Do(ctx context.Context, write func() error) error {
	s := c.Store
	objects := &odb.Collection{Store: s.odb}
	if err := objects.Begin(); err != nil {
		return err
	}
	held := map[conversation.ID]odb.OID{}
	s.heads.held = held
	err := write()
	s.heads.held = nil
	if err != nil {
		objects.Discard()
		s.tips.forget()
		return err
	}
	packs, err := objects.Complete(ctx)
	if err != nil {
		s.tips.forget()
		return fmt.Errorf("record what was collected: %w", storeError(err))
	}
	for id, head := range held {
		s.heads.saw(id, head)
	}
	if err := s.Packer().Made(packs); err != nil && s.heads.log != nil {
		s.heads.log.Warn("jp cannot note a pack as its own; it will not be merged with others", "error", err)
	}
	return nil
}
