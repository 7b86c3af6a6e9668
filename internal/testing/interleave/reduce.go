package interleave

// extend puts a state at the end of the path and chooses its operation. It is false if all possible ones were
// explored from elsewhere.
func (e *explorer) extend(x *execution, can tasks) bool {
	n := &node{waiting: can}
	if e.opts.Unreduced {
		n.due = can
	} else {
		n.asleep = e.stillAsleep(x)
	}
	awake := can &^ n.asleep
	if awake == 0 {
		return false
	}
	n.chosen = awake.first()
	n.due.add(n.chosen)
	e.path = append(e.path, n)
	return true
}

// stillAsleep are the tasks whose next operation was explored in the state
// before, and comes to the same behind the step that was taken since.
func (e *explorer) stillAsleep(x *execution) (asleep tasks) {
	if len(e.path) == 0 {
		return 0
	}
	last := e.path[len(e.path)-1]
	for rest := (last.asleep | last.tried) &^ (1 << last.chosen); rest != 0; rest &= rest - 1 {
		if task := rest.first(); !conflict(x.tasks[task].next.on, last.op.on) {
			asleep.add(task)
		}
	}
	return asleep
}

// reverse looks for each earlier step that the newest one might as well have come
// before, and makes a choice due there that leads to it.
func (e *explorer) reverse() {
	newest := len(e.path) - 1
	for i := range newest {
		if !e.race(i, newest) {
			continue
		}
		if lead := e.initials(i, newest); lead&e.path[i].due == 0 {
			e.path[i].due.add(lead.first())
		}
	}
}

// race reports whether two steps of different tasks conflict, without a step between them that forces their
// order.
func (e *explorer) race(i, j int) bool {
	if e.path[i].chosen == e.path[j].chosen || !conflict(e.path[i].op.on, e.path[j].op.on) {
		return false
	}
	for k := i + 1; k < j; k++ {
		if e.behind(i, k) && e.behind(k, j) {
			return false
		}
	}
	return true
}

// initials are the tasks that can begin the steps behind i that do not depend on it, the last of them being
// j.
func (e *explorer) initials(i, j int) (lead tasks) {
	var apart []int
	for k := i + 1; k <= j; k++ {
		if k < j && e.behind(i, k) {
			continue
		}
		first := true
		for _, before := range apart {
			first = first && !e.behind(before, k)
		}
		if first {
			lead.add(e.path[k].chosen)
		}
		apart = append(apart, k)
	}
	return lead
}

// behind says whether step j comes behind step i in every order that comes to the
// same.
func (e *explorer) behind(i, j int) bool { return e.path[j].clock[e.path[i].chosen] > i }

// clockOf is the clock of a step: it comes behind its own task's steps, behind those that it conflicts with,
// and behind their predecessors.
func (e *explorer) clockOf(depth int) []int {
	n := e.path[depth]
	clock := make([]int, len(e.limits))
	for i, before := range e.path[:depth] {
		if before.chosen != n.chosen && !conflict(before.op.on, n.op.on) {
			continue
		}
		for task, at := range before.clock {
			clock[task] = max(clock[task], at)
		}
		clock[before.chosen] = max(clock[before.chosen], i+1)
	}
	clock[n.chosen] = depth + 1
	return clock
}
