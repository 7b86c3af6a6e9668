package odb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/interleave"
)

// protocol is one system to be explored on both write paths.
type protocol struct {
	name  string
	kills int
	limit [3]int                    // of the orders: usually, as a sample, in full
	world func(journal bool) *world // nil for newWorld
	make  func(w *world) interleave.System
}

func (w *world) appenders(n int) interleave.System {
	var all []func(*interleave.Task)
	for i := range n {
		all = append(all, w.appender(fmt.Sprint("writer ", i), odb.Options{Format: testFormat}))
	}
	return w.system(w.oneWins, all...)
}

var protocols = []protocol{
	{name: "two writers, both killed", kills: 2, limit: [3]int{200, 0, 0}, make: func(w *world) interleave.System { return w.appenders(2) }},
	{name: "two writers that read first, one killed", kills: 1, limit: [3]int{100, 0, 0}, make: func(w *world) interleave.System {
		return w.system(w.atLast, w.follower("one"), w.follower("two"))
	}},
	{name: "two writers, power cuts", limit: [3]int{50, 500, 0}, make: func(w *world) interleave.System {
		w.cuts = true
		return w.appenders(2)
	}},
	{name: "three writers", limit: [3]int{100, 0, 0}, make: func(w *world) interleave.System { return w.appenders(3) }},
	{name: "three writers, one killed", kills: 1, limit: [3]int{150, 1000, 0}, make: func(w *world) interleave.System { return w.appenders(3) }},
	{name: "two that create", kills: 1, limit: [3]int{100, 0, 0}, world: emptyWorld, make: func(w *world) interleave.System { return w.appenders(2) }},
	{name: "a lock of a dead one, one may take it", kills: 1, limit: [3]int{100, 0, 0}, make: func(w *world) interleave.System {
		w.leaveLock()
		return w.system(w.atLast, w.taker("one"), w.appender("two", odb.Options{Format: testFormat}))
	}},
	{name: "writer, reader and git pack-refs, one killed", kills: 1, limit: [3]int{100, 0, 0}, make: func(w *world) interleave.System {
		return w.system(w.atLast, w.inTurn(1), w.reader(2), w.packer())
	}},
}

// Processes that write to one conversation at once, in all orders of their
// operations, killed between any two of them, and with the power cut after any.
func TestInterleavings(t *testing.T) {
	for _, p := range protocols {
		for _, journal := range []bool{true, false} {
			path := map[bool]string{true: "ordered", false: "stepwise"}[journal]
			t.Run(p.name+"/"+path, func(t *testing.T) {
				if p.world == nil {
					p.world = newWorld
				}
				r, err := interleave.Explore(interleave.Options{
					Kills: p.kills, Limit: row.Of(p.limit[0], p.limit[1], p.limit[2]),
					New: func() interleave.System { return p.make(p.world(journal)) },
				})
				require.NoError(t, err)
				row.Log(t, row.Row{Class: "m", Name: p.name + ", " + path, Points: r.Orders, Note: r.String()})
			})
		}
	}
}
