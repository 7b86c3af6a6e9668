package interleave

import (
	"errors"
	"fmt"
	"strings"
)

// A System is what is explored, in its first state.
type System struct {
	Tasks []func(*Task)
	// Each, if set, is asked after every operation what is wrong.
	Each func() error
	// End, if set, is asked when no task does anything any more.
	End func() error
	// State, if set, tells states apart, so that they can be counted.
	State func() uint64
}

// Options say what is explored.
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

// A Report is what was tried.
type Report struct {
	// Orders are the executions that came to their end.
	Orders int
	// Points are the places of the kills, those that leave all tasks alive being
	// one.
	Points int
	// Cut are the executions that were broken off because they come to what was
	// tried before.
	Cut int
	// States are the distinct ones, of those systems that tell.
	States int
	// Complete says that nothing was left out.
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
	Kills []int    // after how many operations each task was killed; -1 for not
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%v, killed after %v, in the order\n  %s", v.Err, v.Kills, strings.Join(v.Order, "\n  "))
}

// Unwrap gives what went wrong.
func (v *Violation) Unwrap() error { return v.Err }
