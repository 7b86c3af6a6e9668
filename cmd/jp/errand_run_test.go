package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	crash "jp/internal/testing/crashtest/row"
)

// The tests here do each command that writes something, kill it at its system
// calls or let these fail, in it and in all that it starts, check the
// result, and do it again. One trial is done alone with
//
//	JP_TRIAL=grep/17/ENOSPC/on go test ./cmd/jp -run OfCommands -v
//
// which is call 17 and all after it in jp grep on a full disk. Which call has
// which number changes a little from run to run; the log says what it was.

// errandTime is how long an exhaustive test goes on, at most. Two idle cores need
// a third of it.
const errandTime = 16 * time.Minute

// TestKillsOfCommands kills jp at the points of each command.
func TestKillsOfCommands(t *testing.T) {
	t.Parallel()
	var trials trials
	trials.run(t, (*stage).kills, crash.Of(usualKills, nil, nil), crash.Of(2, 3, 100))
	trials.log(t, crash.Row{Class: "b", Name: "each command, killed at its file system calls"})
}

// TestFaultsOfCommands lets the file system calls of each command fail, and those
// of git.
func TestFaultsOfCommands(t *testing.T) {
	t.Parallel()
	var trials trials
	trials.run(t, (*stage).faults, crash.Of(usualFaults, nil, nil), crash.Of(2, 6, 110))
	trials.log(t, crash.Row{Class: "a", Name: "each command, its and git's file system calls fail"})
}

// The trials of a usual run of the tests; other runs try all errands.
var (
	usualKills  = []string{"hooks", "fork until", "config set"}
	usualFaults = []string{"rm", "undo", "grep"}
)

// trials counts the outcomes of trials.
type trials struct {
	done, unreached, violations atomic.Int64

	lock sync.Mutex
	left map[string]int // files that stayed, by kind
}

// run runs some of the trials of some errands, or of all, on several theatres at once.
func (tr *trials) run(t *testing.T, of func(*stage) []trial, names []string, some int) {
	t.Helper()
	tr.left = map[string]int{}
	alone, only := chosenTrial(t)
	if only {
		names = []string{alone.errand}
		of = func(*stage) []trial { return []trial{alone} }
	}
	chosen := slices.DeleteFunc(slices.Clone(errands), func(e crashScenario) bool {
		return names != nil && !slices.Contains(names, e.name)
	})
	require.NotEmpty(t, chosen, "%v", names)
	until := time.Now().Add(errandTime)
	var next atomic.Int64
	t.Run("worker", func(t *testing.T) {
		for w := range crash.Of(1, workers, workers) {
			t.Run(strconv.Itoa(w+1), func(t *testing.T) {
				t.Parallel()
				th := newTheatre(t)
				for i := int(next.Add(1)) - 1; i < len(chosen); i = int(next.Add(1)) - 1 {
					share := time.Until(until) * workers / time.Duration(len(chosen)-i)
					t.Run(chosen[i].name, func(t *testing.T) { tr.act(th.stage(t, chosen[i]), of, some, share) })
				}
			})
		}
	})
}

// act runs some of the trials of an errand, as many as its share of the time allows, spread evenly.
func (tr *trials) act(s *stage, of func(*stage) []trial, some int, share time.Duration) {
	chosen := evenly(of(s), some)
	until := time.Now().Add(share)
	for _, n := range scattered(len(chosen)) {
		if time.Now().Before(until) {
			tr.try(s, chosen[n-1])
		}
	}
}

func (tr *trials) try(s *stage, one trial) {
	reached, err := s.try(one)
	switch {
	case !reached:
		tr.unreached.Add(1)
		return
	case err != nil:
		tr.violations.Add(1)
		s.t.Error(err)
	}
	tr.done.Add(1)
	tr.lock.Lock()
	defer tr.lock.Unlock()
	for _, name := range s.now.left(s.after) {
		tr.left[name]++
	}
}

func (tr *trials) log(t *testing.T, r crash.Row) {
	t.Helper()
	var left []string
	for _, name := range slices.Sorted(maps.Keys(tr.left)) {
		left = append(left, fmt.Sprint(name, " ", tr.left[name]))
	}
	if len(left) > 0 {
		t.Logf("left behind: %s", strings.Join(left, "; "))
	}
	if tr.done.Load() == 0 {
		if n := tr.unreached.Load(); n > 0 {
			t.Fatalf("none of the %d chosen points was reached", n)
		}
		// If tracing is forbidden, no call can be made to fail.
		crash.Skip(t, r.Class, r.Name, "nothing could be traced")
	}
	r.Points, r.Violations = int(tr.done.Load()), int(tr.violations.Load())
	r.Note = fmt.Sprintf("%d commands, %d points not reached", len(errands), tr.unreached.Load())
	crash.Log(t, r)
}
