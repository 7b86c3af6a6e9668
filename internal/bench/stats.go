package main

import (
	"math"
	"slices"
	"time"
)

// samples are the durations of one side, in no order.
type samples []time.Duration

// quantile is the value below which a share q of the samples lies, between two
// samples by proportion. Without samples it is 0.
func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(low)
	return sorted[low] + time.Duration(part*float64(sorted[low+1]-sorted[low]))
}

func (s samples) median() time.Duration { return s.quantile(0.5) }

// ratio is a over b; ok is false where that says nothing.
func ratio(a, b float64) (r float64, ok bool) {
	if a <= 0 || b <= 0 || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(a) || math.IsNaN(b) {
		return 0, false
	}
	return a / b, true
}
