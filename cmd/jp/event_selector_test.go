package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// Every command refuses a time that overflows, and does nothing.
func TestTimesThatOverflow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Young").exit)
	before := p.git("for-each-ref")
	commands := map[string]func(duration string) []string{
		"rm --older":           func(d string) []string { return []string{"rm", "-y", "--older", d} },
		"rm --inactive":        func(d string) []string { return []string{"rm", "-y", "--inactive", d} },
		"archive --older":      func(d string) []string { return []string{"archive", "-y", "--older", d} },
		"archive --inactive":   func(d string) []string { return []string{"archive", "-y", "--inactive", d} },
		"unarchive --older":    func(d string) []string { return []string{"archive", "--undo", "-y", "--older", d} },
		"unarchive --inactive": func(d string) []string { return []string{"archive", "--undo", "-y", "--inactive", d} },
		"ls --since":           func(d string) []string { return []string{"ls", "--since", d} },
		"grep --since":         func(d string) []string { return []string{"grep", "Young", "--since", d} },
		"edit --expires":       func(d string) []string { return []string{"edit", "--expires", d} },
		"show @":               func(d string) []string { return []string{"show", "@" + d} },
		"fork --from":          func(d string) []string { return []string{"fork", "--from", d} },
	}
	for name, with := range commands {
		for _, long := range []string{"15251w", "20000w", "100000w", "106752d", "99999999999999999999d"} {
			out := p.jp(with(long)...)
			require.Equal(t, problem.ExitUsage, out.exit, "%s %s: %s", name, long, out.stderr)
			require.Contains(t, out.stderr, "too long", "%s %s", name, long)
		}
		if name == "edit --expires" || name == "show @" || name == "fork --from" {
			continue
		}
		for _, fits := range []string{"15250w", "100001d"} {
			out := p.jp(with(fits)...)
			require.NotEqual(t, problem.ExitUsage, out.exit, "%s %s: %s", name, fits, out.stderr)
		}
	}
	require.Equal(t, before, p.git("for-each-ref"))
}
