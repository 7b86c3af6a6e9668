package main

// timings are the times of the sides of one interleaved measurement, by their names.
type timings map[string]samples

// row compares the medians of jp's side and of a rival's.
func (t timings) row(name, jp, rival string) row { return t.rowAt(0.5, name, jp, rival) }

// rowAt compares two sides at a quantile.
func (t timings) rowAt(q float64, name, jp, rival string) row {
	return row{
		Name: name, RivalName: rival, Unit: seconds, JP: t[jp].quantile(q), Rival: t[rival].quantile(q),
		rounds: pairs{jp: t[jp].byRound(q), rival: t[rival].byRound(q)},
	}
}

// pairs are the values that a row compares, round by round: the i-th of both sides were measured next to
// each other.
type pairs struct{ jp, rival []float64 }

// ratios are jp over the rival, round by round.
func (p pairs) ratios() []float64 {
	var of []float64
	for i := range min(len(p.jp), len(p.rival)) {
		if r, ok := ratio(p.jp[i], p.rival[i]); ok {
			of = append(of, r)
		}
	}
	return of
}

// per divides the times of jp's side by the number of events that it wrote at once.
func (r row) per(events int) row {
	n := float64(events)
	r.JP /= n
	shares := make([]float64, len(r.rounds.jp))
	for i, v := range r.rounds.jp {
		shares[i] = v / n
	}
	r.rounds.jp = shares
	return r
}

// within sets the greatest ratio that is good enough.
func (r row) within(target float64) row {
	r.Target = target
	return r
}

// withinMore sets how much more than its rival jp may take.
func (r row) withinMore(target float64) row {
	r.Target, r.Difference = target, true
	return r
}

// grows says that the row is one of several sizes n of a kind of work.
func (r row) grows(work string, n int) row {
	r.Work, r.N = work, n
	return r
}
