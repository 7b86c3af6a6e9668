package gitstore

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Collect does many writes as one: what they make goes into one pack, and the refs move when
// all of it is durable. After an error there is nothing of it, or the beginning of what is too
// large for one pack. A store that collects is for one goroutine.
func (s *Store) Collect(ctx context.Context, do func() error) error {
	if err := s.odb.Collect(); err != nil {
		return err
	}
	held := map[conversation.ID]odb.OID{}
	s.heads.held = held
	err := do()
	s.heads.held = nil
	if err != nil {
		s.odb.Discard()
		s.tips.forget()
		return err
	}
	packs, err := s.odb.Complete(ctx)
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
