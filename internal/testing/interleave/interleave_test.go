package interleave_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/interleave"
)

// instruction is one operation of a small machine with shared cells.
type instruction struct {
	cell string
	mode interleave.Mode
	n    int
}

// machine is shared cells, and each task's readings.
type machine struct {
	cells map[string]int
	read  []int
}

// load makes a system of programs; it counts the ends by their results.
func load(programs [][]instruction, ends map[string]int) func() interleave.System {
	return func() interleave.System {
		m := &machine{cells: map[string]int{}, read: make([]int, len(programs))}
		s := interleave.System{End: func() error { ends[fmt.Sprint(m.cells, m.read)]++; return nil }}
		for id, program := range programs {
			s.Tasks = append(s.Tasks, func(t *interleave.Task) {
				for _, i := range program {
					if !t.Do(fmt.Sprint(i), []interleave.Access{{Of: i.cell, Mode: i.mode}}, func() { m.do(id, i) }) {
						return
					}
				}
			})
		}
		return s
	}
}

func (m *machine) do(task int, i instruction) {
	switch i.mode {
	case interleave.Reads:
		m.read[task] = m.read[task]*7 + m.cells[i.cell]
	case interleave.Adds:
		m.cells[i.cell] += i.n
	case interleave.Writes:
		m.cells[i.cell] = m.read[task]*5 + i.n
	}
}

func explore(t require.TestingT, programs [][]instruction, kills int, unreduced bool) (interleave.Report, map[string]int) {
	ends := map[string]int{}
	r, err := interleave.Explore(interleave.Options{New: load(programs, ends), Kills: kills, Unreduced: unreduced})
	require.NoError(t, err)
	require.True(t, r.Complete)
	return r, ends
}

func TestHowManyOrders(t *testing.T) {
	w := func(cell string, n int) instruction { return instruction{cell, interleave.Writes, n} }
	a := func(cell string, n int) instruction { return instruction{cell, interleave.Adds, n} }
	tests := []struct {
		name               string
		programs           [][]instruction
		all, reduced, ends int
	}{
		{"one task", [][]instruction{{w("x", 1), w("x", 2)}}, 1, 1, 1},
		{"apart", [][]instruction{{w("x", 1), w("x", 2)}, {w("y", 1), w("y", 2)}}, 6, 1, 1},
		{"additions", [][]instruction{{a("x", 1), a("x", 2)}, {a("x", 3), a("x", 4)}}, 6, 1, 1},
		{"one cell", [][]instruction{{w("x", 1)}, {w("x", 2)}, {w("x", 3)}}, 6, 6, 3},
		{"one cell, two steps", [][]instruction{{w("x", 1), w("x", 2)}, {w("x", 3), w("x", 4)}}, 6, 6, 2},
		{"one conflict", [][]instruction{{w("a", 1), w("x", 2), w("b", 1)}, {w("c", 1), w("x", 3), w("d", 1)}}, 20, 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, ends := explore(t, tt.programs, 0, true)
			require.Equal(t, tt.all, all.Orders)
			require.Len(t, ends, tt.ends)
			reduced, sameEnds := explore(t, tt.programs, 0, false)
			require.Equal(t, tt.reduced, reduced.Orders)
			require.Len(t, sameEnds, tt.ends)
		})
	}
}

// With any programs, the reduction reaches every possible end.
func TestNoEndIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) instruction {
			return instruction{
				cell: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "cell"),
				mode: rapid.SampledFrom([]interleave.Mode{interleave.Reads, interleave.Adds, interleave.Writes}).Draw(t, "mode"),
				n:    rapid.IntRange(1, 3).Draw(t, "n"),
			}
		})
		programs := rapid.SliceOfN(rapid.SliceOfN(one, 0, 3), 1, 3).Draw(t, "programs")
		kills := rapid.IntRange(0, 1).Draw(t, "kills")
		all, want := explore(t, programs, kills, true)
		reduced, got := explore(t, programs, kills, false)
		for end := range want {
			require.Contains(t, got, end)
		}
		require.Len(t, got, len(want))
		require.LessOrEqual(t, reduced.Orders, all.Orders)
		require.Equal(t, all.Points, reduced.Points)
	})
}

// The same for programs that are long enough to need every rule of the reduction.
func TestNoEndOfLongerProgramsIsMissed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range row.Of(60, 400, 4000) {
		var programs [][]instruction
		for range 3 {
			var p []instruction
			for range 2 + rng.IntN(2) {
				p = append(p, instruction{string(rune('w' + rng.IntN(4))), interleave.Mode(rng.IntN(3)), 1 + rng.IntN(3)})
			}
			programs = append(programs, p)
		}
		_, want := explore(t, programs, 0, true)
		_, got := explore(t, programs, 0, false)
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "%v", programs)
	}
}

func TestKills(t *testing.T) {
	programs := [][]instruction{{{"x", interleave.Writes, 1}, {"y", interleave.Writes, 1}}, {{"x", interleave.Writes, 2}}}
	tests := []struct{ kills, points int }{{0, 1}, {1, 1 + 2 + 1}, {2, 1 + 2 + 1 + 2}}
	for _, tt := range tests {
		r, ends := explore(t, programs, tt.kills, false)
		require.Equal(t, tt.points, r.Points, "%d kills", tt.kills)
		require.Equal(t, tt.kills == 2, ends["map[] [0 0]"] > 0, "both are killed before they begin")
	}
}

var errLost = errors.New("an increment is lost")

// counter adds one, in two steps, in each of n tasks.
func counter(n int) func() interleave.System {
	return func() interleave.System {
		x := 0
		var s interleave.System
		for range n {
			s.Tasks = append(s.Tasks, func(t *interleave.Task) {
				var seen int
				t.Do("read", []interleave.Access{{Of: "x", Mode: interleave.Reads}}, func() { seen = x })
				t.Do("write", []interleave.Access{{Of: "x", Mode: interleave.Writes}}, func() { x = seen + 1 })
			})
		}
		s.End = func() error {
			if x != n {
				return errLost
			}
			return nil
		}
		return s
	}
}

func TestAViolationTellsItsOrder(t *testing.T) {
	_, err := interleave.Explore(interleave.Options{New: counter(1)})
	require.NoError(t, err)
	_, err = interleave.Explore(interleave.Options{New: counter(2)})
	require.ErrorIs(t, err, errLost)
	var found *interleave.Violation
	require.ErrorAs(t, err, &found)
	require.Equal(t, []int{-1, -1}, found.Kills)
	require.Len(t, found.Order, 4)
	require.Contains(t, []string{"0 read", "1 read"}, found.Order[0])
	require.Contains(t, []string{"0 read", "1 read"}, found.Order[1])
}

func TestEachStateIsAsked(t *testing.T) {
	asked, sum := 0, 0
	r, err := interleave.Explore(interleave.Options{New: func() interleave.System {
		sum = 0
		add := func(t *interleave.Task) {
			for range 2 {
				t.Do("add", []interleave.Access{{Of: "x", Mode: interleave.Writes}}, func() { sum++ })
			}
		}
		return interleave.System{
			Tasks: []func(*interleave.Task){add, add},
			Each:  func() error { asked++; return nil },
			State: func() uint64 { return uint64(sum) },
		}
	}})
	require.NoError(t, err)
	require.Equal(t, 6, r.Orders)
	require.Equal(t, 8, r.States, "all places on a grid of three by three but the first")
	require.GreaterOrEqual(t, asked, 8)
}

func TestALimitIsSaid(t *testing.T) {
	programs := [][]instruction{{{"x", interleave.Writes, 1}}, {{"x", interleave.Writes, 2}}, {{"x", interleave.Writes, 3}}}
	r, err := interleave.Explore(interleave.Options{New: load(programs, map[string]int{}), Limit: 4})
	require.NoError(t, err)
	require.Equal(t, 4, r.Orders)
	require.False(t, r.Complete)
	require.Contains(t, r.String(), "not all")
}

func TestASystemThatChangesItsMind(t *testing.T) {
	began := 0
	_, err := interleave.Explore(interleave.Options{New: func() interleave.System {
		began++
		steps := 1 + began%2
		task := func(t *interleave.Task) {
			for range steps {
				t.Do("write", []interleave.Access{{Of: "x", Mode: interleave.Writes}}, func() {})
			}
		}
		return interleave.System{Tasks: []func(*interleave.Task){task, task}}
	}})
	require.ErrorIs(t, err, interleave.ErrNondeterministic)
}
