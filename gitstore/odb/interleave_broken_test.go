package odb_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/interleave"
)

// careless writes one event with its steps in an order of its own.
type careless struct {
	w          *world
	refs, objs odb.Dir
	object     odb.Object
	read       string // the ref's value
}

// steps of the protocol, as a process without the store would take them.
var steps = map[string]func(c *careless) error{
	"lock": func(c *careless) error {
		_, err := c.refs.Create("jp-c1.lock", 0o666)
		return err
	},
	"compare": func(c *careless) (err error) {
		if c.read, err = content(c.refs, "jp-c1"); err == nil && c.read != string(c.w.base.OID)+"\n" {
			err = &odb.RefError{Ref: ref, Want: c.w.base.OID, Found: odb.OID(c.read)}
		}
		return err
	},
	"object": func(c *careless) error {
		file, err := c.objs.Create("tmp_obj_"+string(c.object.OID), 0o444)
		if err != nil {
			return err
		}
		_, err = file.Write(odb.Deflate(c.object))
		return err
	},
	"publish": func(c *careless) error {
		c.objs.Mkdir(string(c.object.OID[:2]))
		return c.objs.Rename("tmp_obj_"+string(c.object.OID), string(c.object.OID[:2]+"/"+c.object.OID[2:]))
	},
	"fill": func(c *careless) error {
		file, err := c.refs.Create("jp-c1.new", 0o666)
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, string(c.object.OID)+"\n")
		return err
	},
	"move": func(c *careless) error { return c.refs.Rename("jp-c1.new", "jp-c1") },
	"unlock": func(c *careless) error {
		return c.refs.Remove("jp-c1.lock")
	},
}

// careless is a process that takes the steps in the order given.
func (w *world) careless(name string, order ...string) func(*interleave.Task) {
	return func(t *interleave.Task) {
		c := &careless{w: w, object: chain(w.base.OID, 1, name)[0]}
		var err, err2 error
		c.refs, err = w.of(t).OpenDir("/repo/refs/jp/conversations")
		c.objs, err2 = w.of(t).OpenDir("/repo/objects")
		err = errors.Join(err, err2)
		for i := 0; i < len(order) && err == nil; i++ {
			err = steps[order[i]](c)
		}
		if err != nil && c.read != "" {
			err = errors.Join(odb.ErrRefMoved, err)
		}
		w.told(t, c.object.OID, err)
	}
}

// The explorer must find the fault in each of these, or it proves nothing about the store.
func TestBrokenProtocolsAreFound(t *testing.T) {
	bare := func(order ...string) func(w *world) interleave.System {
		return func(w *world) interleave.System {
			end := func() error { return w.holds(w.disk) }
			return w.system(end, w.careless("one", order...), w.careless("two", order...))
		}
	}
	off := odb.Options{Format: testFormat, Durability: odb.Off}
	tests := []struct {
		name    string
		sound   bool
		journal bool
		make    func(w *world) interleave.System
	}{
		{"nothing wrong", true, true, bare("lock", "compare", "object", "publish", "fill", "move", "unlock")},
		{"compared before the lock", false, true, bare("compare", "lock", "object", "publish", "fill", "move", "unlock")},
		{"no lock", false, true, bare("compare", "object", "publish", "fill", "move")},
		{"moved before the object has its name", false, true, bare("lock", "compare", "object", "fill", "move", "publish", "unlock")},
		{"unlocked before the move", false, true, bare("lock", "compare", "object", "publish", "fill", "unlock", "move")},
		{"two that may break each other's lock", false, true, func(w *world) interleave.System {
			w.leaveLock()
			return w.system(func() error { return w.holds(w.disk) }, w.taker("one"), w.taker("two"))
		}},
		{"durability off, power cuts", false, false, func(w *world) interleave.System {
			w.cuts = true
			return w.system(w.oneWins, w.appender("one", off), w.appender("two", off))
		}},
		{"ordered where nothing is in order, power cuts", false, false, func(w *world) interleave.System {
			w.cuts = true
			return w.system(w.oneWins, w.appender("one", odb.Options{Format: testFormat, Path: odb.PathOrdered}))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := interleave.Explore(interleave.Options{Limit: 20_000, New: func() interleave.System { return tt.make(newWorld(tt.journal)) }})
			if tt.sound {
				require.NoError(t, err)
				return
			}
			var found *interleave.Violation
			require.ErrorAs(t, err, &found)
			t.Log(found.Err)
		})
	}
}
