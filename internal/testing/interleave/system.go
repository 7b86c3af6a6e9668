package interleave

import (
	"errors"
	"fmt"
	"strings"
)

// A System is the system to explore, in its first state.
type System struct {
	Tasks []func(*Task)
	// Each, if set, checks the state after every operation.
	Each func() error
	// End, if set, checks the state when all tasks have ended.
	End func() error
	// State, if set, tells states apart, so that they can be counted.
	State func() uint64
}

// Options bound the exploration.
type Options struct {
	// New makes a system. It is called for every order that is tried.
	New func() System
	// Kills is how many of the tasks are killed, each before every one of its
	// operations in turn; with fewer, too.
	Kills int
	// Limit is the most orders that are tried; 0 is all.
	Limit int
	// Unreduced tries orders that come to the same, too.
	Unreduced bool
}

// A Report counts the executions.
type Report struct {
	// Orders are the executions that came to their end.
	Orders int
	// Points are the places of the kills, those that leave all tasks alive being
	// one.
	Points int
	// Cut are the executions that were ended early because they repeat earlier ones.
	Cut int
	// States are the distinct ones, of those systems that tell.
	States int
	// Complete reports that the exploration is exhaustive.
	Complete bool
}

func (r Report) String() string {
	kind := "all"
	if !r.Complete {
		kind = "not all"
	}
	return fmt.Sprintf("%d orders (%s) at %d points of kills, %d states, %d cut short", r.Orders, kind, r.Points, r.States, r.Cut)
}

// ErrNondeterministic means that a system did something else under the same
// choices.
var ErrNondeterministic = errors.New("the system does something else each time")

// A Violation is an order in which something went wrong.
type Violation struct {
	Err   error
	Order []string // the operations, each with its task's number
	Kills []int    // number of operations after which each task was killed; -1 for never
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%v, killed after %v, in the order\n  %s", v.Err, v.Kills, strings.Join(v.Order, "\n  "))
}

// Unwrap returns the cause.
func (v *Violation) Unwrap() error { return v.Err }
