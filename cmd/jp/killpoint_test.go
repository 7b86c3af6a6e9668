package main

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
	crash "jp/internal/testing/crashtest/row"
	"jp/internal/testing/gitenv"
)

// The tests here kill jp at its system calls that change files or start a
// child, and go on with the turn. A point of the turn, or one of the turn and
// one of the resume, is tried alone with
//
//	JP_KILL=17 go test ./cmd/jp -run TestKillAtEachPoint -v
//	JP_KILL=17,3+ go test ./cmd/jp -run TestKillTwice -v
//
// where + kills after the call instead of before it. Which call has which
// number changes a little from run to run; the log says what it was.

// killVariable has the moments of a single trial.
const killVariable = "JP_KILL"

const (
	// workers is how many turns are killed at once.
	workers = 2
	// pairTime is how long an exhaustive test kills twice. There are more pairs
	// of points than that allows; those that are tried are spread evenly.
	pairTime = 9 * time.Minute
)

// exhaustive reports whether the tests run as many trials as possible, in place of some seconds.
func exhaustive() bool { return os.Getenv("JP_CRASH") == "full" }

// A moment is when to kill: before a point, or right after it. The zero moment
// is never.
type moment struct {
	n     int
	after bool
}

func (m moment) String() string {
	if m.after {
		return strconv.Itoa(m.n) + "+"
	}
	return strconv.Itoa(m.n)
}

func (m moment) kill() func(crashtest.Point) bool {
	if m.after {
		return crashtest.After(m.n)
	}
	return crashtest.At(m.n)
}

// chosen are the moments of JP_KILL, if there are any.
func chosen(t *testing.T) (moments []moment) {
	t.Helper()
	for word := range strings.SplitSeq(os.Getenv(killVariable), ",") {
		if word == "" {
			return nil
		}
		digits, after := strings.CutSuffix(word, "+")
		n, err := strconv.Atoi(digits)
		require.NoError(t, err, killVariable)
		moments = append(moments, moment{n, after})
	}
	return moments
}

// A tally has the sums of all trials of a test.
type tally struct {
	once, twice, unreached, tools, counters, violations atomic.Int64
	began                                               time.Time
}

func (c *tally) log(t *testing.T, name string, points int64) {
	t.Helper()
	crash.Log(t, crash.Row{Class: "b", Name: name, Points: int(points), Violations: int(c.violations.Load())})
	t.Logf("%d points killed once, %d pairs of points killed twice, %d points not reached; %d tools run, %d counters checked; %d violations (%v)",
		c.once.Load(), c.twice.Load(), c.unreached.Load(), c.tools.Load(), c.counters.Load(), c.violations.Load(),
		time.Since(c.began).Round(time.Second))
	require.Positive(t, c.tools.Load())
	require.Positive(t, c.counters.Load())
}

// TestKillAtEachPoint kills jp at the points of a turn, and goes on with it: no durable event is lost,
// and no action is done twice.
func TestKillAtEachPoint(t *testing.T) {
	t.Parallel()
	s := newScene(t, &tally{began: time.Now()})
	moments := chosen(t)
	switch whole := s.whole(); {
	case len(moments) > 0:
	case exhaustive():
		moments = allMoments(whole)
	default:
		moments = sample(whole)
	}
	s.spread(len(moments), func(s *scene, i int) {
		if s.begin(moments[i]) && s.finish() {
			s.tally.once.Add(1)
		}
	})
	s.tally.log(t, "a turn of six tools, killed once", s.tally.once.Load())
}

// TestKillTwice kills jp at a point of a turn and again at points of the
// resume, and goes on again.
func TestKillTwice(t *testing.T) {
	t.Parallel()
	if gitenv.RefsThroughGit() {
		crash.Skip(t, "b", "a turn of six tools, killed twice", "git moves the refs, and TestGitIsKilledWhileItMovesRefs kills it")
	}
	s := newScene(t, &tally{began: time.Now()})
	if moments := chosen(t); len(moments) > 1 {
		if s.begin(moments[0]) && s.resume(moments[1]) {
			s.finish()
		}
		return
	}
	firsts := refMoves(s.whole())
	if !exhaustive() {
		firsts = evenly(firsts, crash.Of(1, workers, 0))
	}
	limit := pairTime * workers / time.Duration(len(firsts))
	s.spread(len(firsts), func(s *scene, i int) { s.twice(moment{n: firsts[i]}, limit) })
	s.tally.log(t, "a turn of six tools, killed twice", s.tally.twice.Load())
}

// twice kills at a point of the turn, and then at points of the resume, each
// time from the same state: at two, or at as many as the time allows.
func (s *scene) twice(first moment, limit time.Duration) {
	began := time.Now()
	if !s.begin(first) || s.chain.id == "" {
		return
	}
	s.save()
	seconds := scattered(len(s.finishTraced()))
	if !exhaustive() {
		seconds = seconds[1:3]
	}
	for _, n := range seconds {
		if time.Since(began) > limit {
			return
		}
		s.restore()
		if s.resume(moment{n: n}) && s.finish() {
			s.tally.twice.Add(1)
		}
	}
}

// spread runs numbered jobs, from 0 on, on several scenes at once, and returns when all are done.
func (s *scene) spread(items int, do func(s *scene, i int)) {
	var next atomic.Int64
	s.t.Run("worker", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w+1), func(t *testing.T) {
				t.Parallel()
				mine := newScene(t, s.tally)
				for i := int(next.Add(1)) - 1; i < items; i = int(next.Add(1)) - 1 {
					do(mine, i)
				}
			})
		}
	})
}

// allMoments are those before all points, those after a child has started, and
// some behind the end: another run can have more points.
func allMoments(points []crashtest.Point) (moments []moment) {
	for _, p := range points {
		moments = append(moments, moment{n: p.N})
		if p.Path == "" {
			moments = append(moments, moment{p.N, true})
		}
	}
	for n := range len(points) / 20 {
		moments = append(moments, moment{n: len(points) + 1 + n})
	}
	return moments
}

// sample is one moment at some moves of the conversation's ref, right before it
// and right after it in turn, and some of the others.
func sample(points []crashtest.Point) (moments []moment) {
	for i, move := range evenly(refMoves(points), crash.Of(4, 8, 0)) {
		moments = append(moments, moment{n: move, after: i%2 == 0})
	}
	moments = append(moments, evenly(allMoments(points), crash.Of(2, 6, 0))...)
	if testing.Short() {
		return evenly(moments, 4)
	}
	return moments
}

// refMoves are the points at which the conversation's ref moves.
func refMoves(points []crashtest.Point) (at []int) {
	for _, p := range points {
		if strings.HasPrefix(p.Syscall, "rename") && strings.Contains(p.Path, "/refs/jp/conversations/") {
			at = append(at, p.N)
		}
	}
	return at
}

// evenly chooses some of all, none of them twice.
func evenly[T any](all []T, count int) (some []T) {
	for i := range min(count, len(all)) {
		some = append(some, all[(2*i+1)*len(all)/(2*min(count, len(all)))])
	}
	return some
}

// scattered is the numbers from 1 to count in an order in which each beginning is spread evenly.
func scattered(count int) (numbers []int) {
	width := bits.Len(uint(count))
	for i := range 1 << width {
		if n := int(bits.Reverse32(uint32(i)) >> (32 - width)); n < count {
			numbers = append(numbers, n+1)
		}
	}
	return numbers
}

// violate records that a promise was broken, with how to do it again.
func (s *scene) violate(err error) {
	s.t.Helper()
	s.tally.violations.Add(1)
	words, points := make([]string, len(s.moments)), make([]string, len(s.killed))
	for i, m := range s.moments {
		words[i] = m.String()
	}
	for i, p := range s.killed {
		points[i] = strings.Replace(p.String(), s.root+"/", "", 1)
	}
	s.t.Errorf("%s=%s: killed at points %s: %v", killVariable, strings.Join(words, ","), strings.Join(points, " and "), err)
}

// must is for the test's own work.
func (s *scene) must(err error) {
	s.t.Helper()
	require.NoError(s.t, err, fmt.Sprint(s.moments))
}
