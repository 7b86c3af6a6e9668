package interleave_test

import (
	"errors"
	"fmt"

	"jp/internal/testing/interleave"
)

// Two tasks add one each to a counter, which they read first. There is an order
// in which one of the two is lost.
func ExampleExplore() {
	r, err := interleave.Explore(interleave.Options{New: func() interleave.System {
		counter := 0
		add := func(t *interleave.Task) {
			var seen int
			t.Do("read", []interleave.Access{{Of: "counter", Mode: interleave.Reads}}, func() { seen = counter })
			t.Do("write", []interleave.Access{{Of: "counter", Mode: interleave.Writes}}, func() { counter = seen + 1 })
		}
		return interleave.System{Tasks: []func(*interleave.Task){add, add}, End: func() error {
			if counter != 2 {
				return fmt.Errorf("the counter is %d", counter)
			}
			return nil
		}}
	}})
	var found *interleave.Violation
	if errors.As(err, &found) {
		fmt.Println(found.Err, "after", r.Orders, "orders")
	}
	for _, step := range found.Order {
		fmt.Println(step)
	}
	// Output:
	// the counter is 1 after 2 orders
	// 0 read
	// 1 read
	// 0 write
	// 1 write
}
