package interleave

import (
	"math/bits"
	"slices"
)

// Explore tries all orders, with all kills, until something is wrong: the error
// is then a [*Violation].
func Explore(o Options) (Report, error) {
	e := &explorer{opts: o, states: map[state]bool{}}
	e.report.Complete = true
	limits := make([]int, len(o.New().Tasks))
	for i := range limits {
		limits[i] = -1
	}
	_, err := e.withKills(limits, 0, o.Kills)
	e.report.States = len(e.states)
	return e.report, err
}

// explorer is an exploration under way.
type explorer struct {
	opts   Options
	report Report
	states map[state]bool
	limits []int // number of operations after which each task is killed; -1 for never
	felt   tasks // those that a limit has kept from going on
	path   []*node
}

// state is one of a system, with how far each task is.
type state struct {
	system uint64
	at     string
}

// tasks is a set of them.
type tasks uint32

func (s tasks) has(task int) bool { return s&(1<<task) != 0 }
func (s *tasks) add(task int)     { *s |= 1 << task }
func (s tasks) first() int        { return bits.TrailingZeros32(uint32(s)) }

// node is a state on the way of the present execution, and its exploration so far.
type node struct {
	waiting tasks // that could go on
	tried   tasks // whose choice is explored
	due     tasks // whose choice has to be, in the end
	asleep  tasks // whose choice leads to results that were explored elsewhere
	chosen  int
	op      *operation
	clock   []int // for each task the newest step that this one comes behind, from 1
}

// withKills explores with the kills so far, and with further ones of the tasks
// from first on. It says which kills were felt.
func (e *explorer) withKills(limits []int, first, kills int) (tasks, error) {
	before := e.report
	if err := e.allOrders(limits); err != nil {
		return 0, err
	}
	felt := e.felt
	for task, limit := range limits {
		if limit >= 0 && !felt.has(task) {
			e.report = before // it ends before the kill: a known result
			return felt, nil
		}
	}
	e.report.Points++
	for task := first; kills > 0 && task < len(limits); task++ {
		for k := 0; !e.full(); k++ {
			further := slices.Clone(limits)
			further[task] = k
			sub, err := e.withKills(further, task+1, kills-1)
			if err != nil {
				return felt, err
			}
			if !sub.has(task) {
				break
			}
		}
	}
	return felt, nil
}

// full reports whether the limit is reached.
func (e *explorer) full() bool {
	if e.opts.Limit == 0 || e.report.Orders < e.opts.Limit {
		return false
	}
	e.report.Complete = false
	return true
}

// allOrders tries the orders of a system whose tasks are killed at limits.
func (e *explorer) allOrders(limits []int) error {
	e.limits, e.felt, e.path = limits, 0, nil
	for more := true; more && !e.full(); more = e.turnBack() {
		if err := e.execute(); err != nil {
			return err
		}
	}
	return nil
}

// turnBack goes to the last state with another due choice.
func (e *explorer) turnBack() bool {
	for len(e.path) > 0 {
		n := e.path[len(e.path)-1]
		n.tried.add(n.chosen)
		if rest := n.due &^ n.tried &^ n.asleep; rest != 0 {
			n.chosen = rest.first()
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}
