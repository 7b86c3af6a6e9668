package powercut_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/proof/powercut"
)

// powerCuts are the file systems on which power is cut, with how often in a usual
// run of the tests, in a sample and in full.
var powerCuts = []struct {
	target
	cuts [3]int
}{
	{target{fs: powercut.Ext4, path: odb.PathOrdered}, [3]int{5, 20, 100}},
	{target{fs: powercut.XFS, path: odb.PathOrdered}, [3]int{4, 20, 100}},
	{target{fs: powercut.Btrfs, path: odb.PathStepwise}, [3]int{4, 20, 100}},
	{target{fs: powercut.Ext4Writeback, path: odb.PathOrdered}, [3]int{0, 8, 40}},
	// Linux 6.18 does not mount some images of it in which anybody has flushed files, even if jp has
	// written nothing; so jp is alone there.
	{target{fs: powercut.Ext4FastCommit, path: odb.PathOrdered, alone: true}, [3]int{0, 8, 40}},
}

func TestPowerCut(t *testing.T) {
	var o *oracle
	for _, c := range powerCuts {
		cuts := row.Of(c.cuts[0], c.cuts[1], c.cuts[2])
		if cuts == 0 {
			continue
		}
		name := fmt.Sprintf("%v, power cut", c.target)
		why := lacks(t, c.fs)
		if o == nil && why == "" {
			o = newOracle(t, row.Of(25, 50, 150))
		}
		t.Run(c.fs.Name, func(t *testing.T) {
			if why != "" {
				// A disk that forgets needs FUSE, loop devices and root.
				row.Skip(t, "c", name, why)
			}
			r := newFixture(t, c.target, o)
			result := row.Row{Class: "c", Name: name, Points: cuts}
			result.Violations = r.cut(careful, cuts, t.Errorf)
			result.Note = r.controls(row.Of(4, 4, 12))
			row.Log(t, result)
		})
	}
}

// controls are workers of less care, whose events power cuts must be seen to
// break.
func (r *fixture) controls(n int) (note string) {
	r.Helper()
	note = "controls:"
	for _, c := range []care{waitless, undurable} {
		example := ""
		broken := r.cut(c, n, func(format string, args ...any) { example = fmt.Sprintf(format, args...) })
		require.Positive(r, broken, "%d cuts of a worker %s broke nothing: this fixture sees nothing", n, c)
		r.Logf("%s, for example %.300s", c, example)
		note += fmt.Sprintf(" %d of %d broken %s,", broken, n, c)
	}
	return note[:len(note)-1] + ", as must be"
}

// cut records a worker and cuts its power n times. It reports each cut that
// leaves something broken, and counts them.
func (r *fixture) cut(c care, n int, report func(format string, args ...any)) (broken int) {
	r.Helper()
	before, log := r.record(c)
	writes, flushes, bytes := log.Counts()
	r.Logf("%s: %d steps in %d writes of %d KiB and %d flushes", c, r.oracle.steps, writes, bytes>>10, flushes)
	replay := powercut.NewReplay(before, log)
	for _, cut := range cutsOf(log, n, r.fs) {
		if problems := r.look(replay.Image(cut), acknowledged(log, cut.At)); len(problems) > 0 {
			broken++
			report("%v, %d steps acknowledged: %q", cut, acknowledged(log, cut.At), problems)
		}
	}
	return broken
}

// cutsOf chooses n cuts, in order: a third right behind an acknowledgement, the
// others anywhere before the last one.
func cutsOf(log *powercut.Log, n int, fs powercut.FileSystem) []powercut.Cut {
	rng := rand.New(rand.NewPCG(uint64(log.Len()), uint64(n)))
	marks := log.Marks()
	var cuts []powercut.Cut
	for i := range n {
		at := rng.IntN(marks[len(marks)-1].At + 1)
		if i%3 == 0 {
			at = marks[rng.IntN(len(marks))].At
		}
		cuts = append(cuts, powercut.Cut{At: at, Kept: powercut.KeptOf(i), Seed: rng.Uint64(), Unit: fs.Unit})
	}
	slices.SortStableFunc(cuts, func(a, b powercut.Cut) int { return cmp.Compare(a.At, b.At) })
	return cuts
}

// acknowledged is how many steps were, at a position.
func acknowledged(log *powercut.Log, at int) (n int) {
	for _, m := range log.Marks() {
		if m.At <= at {
			n++
		}
	}
	return n
}
