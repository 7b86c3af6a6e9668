package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrandChecksNotice breaks each promise by hand: the checks of the trials
// see it.
func TestErrandChecksNotice(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(errands, func(e crashScenario) bool { return e.name == "edit" })
	s := newTheatre(t).stage(t, errands[i])
	ref := "refs/jp/conversations/" + s.id
	fault := trial{what: "EIO"}
	for name, c := range map[string]struct {
		damage func()
		out    result
		notice string
	}{
		"an event is lost":        {func() { s.git("update-ref", ref, ref+"~1") }, result{}, "was there and is not any more"},
		"a conversation is lost":  {func() { s.git("update-ref", "-d", ref) }, result{}, "is gone"},
		"an object is lost":       {func() { s.lose(s.begunChains[s.id].commits[3]) }, result{}, "git fsck"},
		"somebody's ref moves":    {func() { s.git("update-ref", "refs/heads/main", ref) }, result{}, "refs/heads/main was"},
		"somebody's ref is new":   {func() { s.git("update-ref", "refs/heads/other", "HEAD") }, result{}, "refs/heads/other is new"},
		"the index changes":       {func() { s.git("rm", "-q", "--cached", "README.md") }, result{}, ".git/index was"},
		"a file changes":          {func() { s.write("README.md", "half") }, result{}, "README.md was"},
		"it claims success":       {func() {}, result{}, "claims success: the title"},
		"the error names nothing": {func() {}, result{exit: 1, stderr: "it failed"}, "names nothing"},
		"it crashes":              {func() {}, result{exit: 2, stderr: "panic\ngoroutine 1"}, "it crashed"},
		"a signal ends it":        {func() {}, result{exit: -1}, "a signal ended it"},
		"what it said is lost": {func() {}, result{stdout: `{"conversation":"` + s.id + `","seq":99,"commit":"` + s.begunChains[s.id].head + `"}` + "\n"},
			"was printed and is lost"},
		"it cannot go on": {func() { s.must(os.WriteFile(filepath.Join(s.dir, ".git", ref+".lock"), nil, 0o666)) },
			result{exit: 1, stderr: "input/output error"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.reset()
			s.known = s.begunChains
			c.damage()
			err := s.follow(fault, c.out)
			if c.notice == "" {
				require.NoError(t, err, "a stale lock is taken over")
				return
			}
			require.ErrorContains(t, err, c.notice)
		})
	}
}
