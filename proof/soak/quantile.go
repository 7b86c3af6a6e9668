package main

import (
	"math"
	"slices"
	"sync"
	"time"
)

// timings are durations that many goroutines measure.
type timings struct {
	mu   sync.Mutex
	took []time.Duration
}

func (t *timings) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, d)
}

// since measures the time from a start until now.
func (t *timings) since(start time.Time) { t.add(time.Since(start)) }

// all are the durations, in no order.
func (t *timings) all() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.took)
}

// rank is the least of the values that a share q of them does not exceed; 0 without values. It does not
// interpolate.
func rank[N ~int | ~int64 | ~float64](values []N, q float64) N {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
