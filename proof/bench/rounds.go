package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// A side is one way to do the work of a row.
type side struct {
	name    string
	block   int          // operations in a row; 1 if one takes long
	begin   func() error // before each block, unmeasured; may be nil
	prepare func() error // before each operation, unmeasured; may be nil
	run     func(ctx context.Context) error
	cost    func(ctx context.Context) (time.Duration, error) // in place of run, for a cost other than elapsed time
}

// rounds lets every side do its block of work in each round, in random order. The first operation of a
// block warms up and is dropped; if the block of a side is one operation, the whole first round of all
// sides is dropped instead, so that their i-th rounds are the same ones. So 1+n rounds leave n or 1+n.
func rounds(ctx context.Context, rng *rand.Rand, n int, sides []side) (timings, error) {
	all := timings{}
	single := slices.ContainsFunc(sides, func(s side) bool { return s.block == 1 })
	for round := range 1 + n {
		for _, i := range rng.Perm(len(sides)) {
			s := sides[i]
			block, err := s.measure(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if round == 0 && single {
				continue
			}
			all[s.name] = append(all[s.name], block[min(1, len(block)-1):])
		}
	}
	return all, nil
}

// measure runs one block. The garbage of others is collected before it.
func (s side) measure(ctx context.Context) ([]time.Duration, error) {
	runtime.GC()
	if s.begin != nil {
		if err := s.begin(); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
	}
	var took []time.Duration
	for range s.block {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if s.prepare != nil {
			if err := s.prepare(); err != nil {
				return nil, fmt.Errorf("prepare: %w", err)
			}
		}
		cost, err := s.once(ctx)
		if err != nil {
			return nil, err
		}
		took = append(took, cost)
	}
	return took, nil
}

// once does one operation and returns its cost.
func (s side) once(ctx context.Context) (time.Duration, error) {
	if s.cost != nil {
		return s.cost(ctx)
	}
	start := time.Now()
	err := s.run(ctx)
	return time.Since(start), err
}
