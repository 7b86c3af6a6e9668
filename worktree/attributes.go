package worktree

import (
	"context"
	"fmt"
)

// attributes asks for the values of attributes: "set", "unset", "unspecified",
// or a text, by path and name.
func (w *Worktree) attributes(ctx context.Context, paths []string, names ...string) (map[string]map[string]string, error) {
	values, err := w.rules.Attributes(ctx, paths, names...)
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	return values, nil
}
