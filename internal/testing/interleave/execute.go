package interleave

import (
	"fmt"
	"slices"
)

// execution is one run of a system.
type execution struct {
	system System
	tasks  []*Task
	asked  chan *Task
	limits []int
	order  []string
}

// begin starts all tasks, one after another, up to their first operations.
func begin(s System, limits []int) *execution {
	x := &execution{system: s, asked: make(chan *Task), limits: limits}
	for id, body := range s.Tasks {
		t := &Task{id: id, asked: x.asked, granted: make(chan bool)}
		x.tasks = append(x.tasks, t)
		t.run(body)
		<-x.asked
	}
	return x
}

// waiting are the tasks that can go on, and those that are kept from it.
func (x *execution) waiting() (can, cannot tasks) {
	for _, t := range x.tasks {
		switch {
		case t.next == nil:
		case x.limits[t.id] >= 0 && t.done >= x.limits[t.id]:
			cannot.add(t.id)
		default:
			can.add(t.id)
		}
	}
	return can, cannot
}

// step lets a task do its operation.
func (x *execution) step(task int) *operation {
	t := x.tasks[task]
	op := t.next
	x.order = append(x.order, fmt.Sprintf("%d %s", task, op.name))
	t.done++
	t.granted <- true
	<-x.asked
	return op
}

// stop kills the waiting tasks, and returns when all have ended.
func (x *execution) stop() {
	for _, t := range x.tasks {
		if t.next != nil {
			t.granted <- false
			<-x.asked
		}
	}
}

// execute follows the path, and then any way to the end that may lead to a new result.
func (e *explorer) execute() error {
	x := begin(e.opts.New(), e.limits)
	defer x.stop()
	for depth := 0; ; depth++ {
		can, cannot := x.waiting()
		if depth == len(e.path) {
			if can == 0 {
				e.felt |= cannot
				return e.end(x)
			}
			if !e.extend(x, can) {
				e.report.Cut++
				return nil
			}
		}
		n := e.path[depth]
		if n.waiting != can {
			return x.violation(ErrNondeterministic)
		}
		n.op = x.step(n.chosen)
		n.clock = e.clockOf(depth)
		if depth == len(e.path)-1 {
			if !e.opts.Unreduced {
				e.reverse()
			}
			if err := e.look(x); err != nil {
				return err
			}
		}
	}
}

func (e *explorer) end(x *execution) error {
	e.report.Orders++
	if x.system.End == nil {
		return nil
	}
	x.stop()
	if err := x.system.End(); err != nil {
		return x.violation(err)
	}
	return nil
}

// look checks and counts the state that a step has led to.
func (e *explorer) look(x *execution) error {
	if x.system.Each != nil {
		if err := x.system.Each(); err != nil {
			return x.violation(err)
		}
	}
	if x.system.State != nil {
		at := make([]byte, len(x.tasks))
		for i, t := range x.tasks {
			at[i] = byte(t.done)
		}
		e.states[state{x.system.State(), string(at)}] = true
	}
	return nil
}

func (x *execution) violation(err error) error {
	return &Violation{Err: err, Order: slices.Clone(x.order), Kills: slices.Clone(x.limits)}
}
