package main

import (
	"math"
	"slices"
	"time"
)

// samples are the times of one side, round by round.
type samples [][]time.Duration

// quantile is the value below which a share q of all durations lies.
func (s samples) quantile(q float64) float64 { return quantile(slices.Concat(s...), q) }

func (s samples) median() float64 { return s.quantile(0.5) }

// byRound is that quantile in each round.
func (s samples) byRound(q float64) []float64 {
	var of []float64
	for _, round := range s {
		of = append(of, quantile(round, q))
	}
	return of
}

// quantile is the value in seconds below which a share q of the durations lies,
// between two of them by proportion. Without durations it is 0.
func quantile(took []time.Duration, q float64) float64 {
	if len(took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(took))
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1].Seconds()
	}
	part := at - float64(low)
	return (sorted[low] + time.Duration(part*float64(sorted[low+1]-sorted[low]))).Seconds()
}

// middle is the median of numbers, 0 without any.
func middle(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio is a over b; ok is false if that is meaningless.
func ratio(a, b float64) (r float64, ok bool) {
	if a <= 0 || b <= 0 || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(a) || math.IsNaN(b) {
		return 0, false
	}
	return a / b, true
}
