package interleave

// A Task is one of those that are interleaved.
type Task struct {
	id      int
	asked   chan<- *Task // tells the explorer that it waits, or has ended
	granted chan bool    // the explorer's answer: false for a kill
	next    *operation   // its waiting operation; nil when it has ended
	done    int          // operations so far
	dead    bool
}

// operation is one step of a task.
type operation struct {
	task int
	name string
	on   []Access
}

// Do performs an operation when its time has come. If the task has been killed, it has no effect and is
// false. A killed task should return.
func (t *Task) Do(name string, on []Access, act func()) bool {
	if t.dead {
		return false
	}
	t.next = &operation{t.id, name, on}
	t.asked <- t
	if !<-t.granted {
		t.dead = true
		return false
	}
	act()
	return true
}

// run starts a task; it waits before its first operation.
func (t *Task) run(body func(*Task)) {
	go func() {
		defer func() {
			t.next = nil
			t.asked <- t
		}()
		body(t)
	}()
}
