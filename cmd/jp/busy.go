package main

import (
	"context"
	"errors"

	"jp/process"
)

// take takes the conversation for this query.
func (q *query) take(ctx context.Context) error {
	if q.fresh {
		return nil
	}
	err := q.lock()
	var locked *process.LockedError
	if errors.As(err, &locked) {
		return q.locked(ctx, locked)
	}
	return err
}
