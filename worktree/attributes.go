package worktree

import (
	"context"
	"fmt"
	"strings"

	"jp/gitcmd"
)

// attributes asks for the values of attributes: "set", "unset", "unspecified",
// or a text, by path and name.
func (w *Worktree) attributes(ctx context.Context, paths []string, names ...string) (map[string]map[string]string, error) {
	out, err := w.git.RunWith(ctx, gitcmd.Command{
		Args:  append([]string{"check-attr", "-z", "--stdin"}, names...),
		Stdin: strings.NewReader(joinNUL(paths)),
	})
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	fields := splitNUL(out)
	values := make(map[string]map[string]string, len(paths))
	for i := 0; i+2 < len(fields); i += 3 {
		path := fields[i]
		if values[path] == nil {
			values[path] = map[string]string{}
		}
		values[path][fields[i+1]] = fields[i+2]
	}
	return values, nil
}
