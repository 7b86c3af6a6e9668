package convert

import (
	"context"
	"maps"
	"slices"
	"strings"

	"jp/gitcmd"
)

// foldsCase reports whether the repository's configuration makes names that differ in case equal: git then
// matches the patterns of attributes without case. jp's own commands follow the disk. foldsCase reads the
// configuration once.
func (c *Checker) foldsCase(ctx context.Context) bool {
	c.foldsOnce.Do(func() {
		out, _ := c.git.Run(ctx, "config", "--show-scope", "--type=bool", "--get-all", "core.ignoreCase") // it may be no boolean
		for line := range strings.Lines(string(out)) {
			scope, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if scope != "command" {
				c.folds = value == "true"
			}
		}
	})
	return c.folds
}

// inOtherCase are the filters that the repository's own matching of attributes gives to paths, if that
// differs from the disk's.
func (c *Checker) inOtherCase(ctx context.Context, now map[string]string) (map[string]string, error) {
	if len(now) == 0 || c.git.FoldsCase() || !c.foldsCase(ctx) {
		return nil, nil
	}
	paths := slices.Sorted(maps.Keys(now))
	out, err := c.git.RunWith(ctx, gitcmd.Command{
		Args:   []string{"check-attr", "-z", "--stdin", "filter"},
		Config: []string{"core.ignoreCase=true"},
		Stdin:  strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return nil, err
	}
	folded := attributesIn(out, len(paths))
	maps.DeleteFunc(folded, func(p, value string) bool { return None(value) || value == now[p] })
	return folded, nil
}
