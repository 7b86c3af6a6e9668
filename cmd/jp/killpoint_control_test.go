package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKillChecksNotice breaks each promise by hand: the checks of the other
// tests see it.
func TestKillChecksNotice(t *testing.T) {
	t.Parallel()
	s := newScene(t, &tally{began: time.Now()})
	points := s.whole()
	require.NotEmpty(t, points)
	s.save()
	ref := "refs/jp/conversations/" + s.chain.id
	for name, c := range map[string]struct {
		damage func()
		notice string
	}{
		"a tool ran twice":      {func() { s.write("count-1", "x\nx\n") }, "call call_1_2: count-1 is"},
		"a tool did not run":    {func() { s.write("../count-outside", "") }, "call call_3_2"},
		"an edit is lost":       {func() { s.write("README.md", s.readBegun("README.md")) }, "call call_2_1 has its response"},
		"an event is lost":      {func() { s.git("update-ref", ref, ref+"~1") }, "was there and is not any more"},
		"all events are lost":   {func() { s.git("update-ref", "-d", ref) }, "is gone"},
		"an object is lost":     {func() { s.lose(s.chain.commits[3]) }, "Could not read"},
		"a branch is new":       {func() { s.git("update-ref", "refs/heads/other", "main") }, "a branch has changed"},
		"the index has changed": {func() { s.git("add", "a.txt") }, ".git/index has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			s.restore()
			c.damage()
			require.ErrorContains(t, s.over(result{}), c.notice)
		})
	}
	s.restore()
	lost := `{"type":"turn_done","conversation":"` + s.chain.id + `","seq":99,"commit":"` + s.chain.head + `"}` + "\n"
	require.ErrorContains(t, s.over(result{stdout: lost}), "was printed and is lost")
	require.ErrorContains(t, s.over(result{exit: 1}), "exit 1")
	s.restore()
	require.NoError(t, s.over(result{}), "as it was")
}

// lose removes a loose object.
func (s *scene) lose(oid string) {
	s.must(os.Remove(filepath.Join(s.dir, ".git/objects", oid[:2], oid[2:])))
}
