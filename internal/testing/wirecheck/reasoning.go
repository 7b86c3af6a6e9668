package wirecheck

import "slices"

// reasoningItem checks the fields of one reasoning item: without the server's memory, only the encrypted
// content makes it readable (R3).
func (k *checker) reasoningItem(i item) {
	k.want(i.get("summary"), list)
	if i.str("encrypted_content") == "" {
		k.add("R3", i.node, "has no encrypted content")
	}
}

// reasoningItems checks that reasoning goes with its original item (R2). It also compares it with the
// received one: only this target's own (R4), in its order, complete (R2), with its phase (R6).
func (k *checker) reasoningItems(items []item) {
	for n, i := range items {
		if i.kind != "reasoning" {
			continue
		}
		if n+1 == len(items) || !items[n+1].isModel() || items[n+1].kind == "reasoning" {
			k.add("R2", i.node, "the item that the reasoning came with does not follow")
		}
	}
	if k.Received == nil {
		return
	}
	var received []item
	for _, raw := range k.Received {
		if n, err := parse(raw); err == nil {
			received = append(received, item{node: n, kind: n.str("type"), role: n.str("role")})
		}
	}
	last := -1
	for n, i := range items {
		place := placeOf(i, received)
		if place < 0 {
			k.unknownItem(i)
			continue
		}
		if place <= last {
			k.add("R2", i.node, "stands before an item that it came behind")
		}
		last = place
		k.wholeAnswer(items, n, received, place)
	}
}

// placeOf finds an item among those received by its id, or -1.
func placeOf(i item, received []item) int {
	id := i.str("id")
	if id == "" {
		return -1
	}
	return slices.IndexFunc(received, func(r item) bool { return r.str("id") == id })
}

// unknownItem judges an item that this target did not make: its reasoning is unreadable there.
func (k *checker) unknownItem(i item) {
	if i.kind == "reasoning" {
		k.add("R4", i.node, "is not reasoning that this target made")
	}
}

// wholeAnswer checks one item that was received, at its place there, and its
// neighbours.
func (k *checker) wholeAnswer(items []item, n int, received []item, place int) {
	i, r := items[n], received[place]
	if i.kind == "reasoning" {
		if i.canonical("status") != r.canonical("status") {
			k.add("R2", i.node, "the reasoning is not what was received")
		}
		next := n + 1
		if next < len(items) && items[next].isModel() && place+1 < len(received) && !sameItem(items[next], received[place+1]) {
			k.add("R2", items[next].node, "is not the item, with its id, that the reasoning came with")
		}
		return
	}
	if i.role == "assistant" && r.has("phase") && i.str("phase") != r.str("phase") {
		k.add("R6", i.node, "phase is not %q, as received", r.str("phase"))
	}
	if place > 0 && received[place-1].kind == "reasoning" && (n == 0 || placeOf(items[n-1], received) != place-1) {
		k.add("R2", i.node, "has its id but not the reasoning it came with")
	}
}

// sameItem reports whether an item is the one received, by its id if it had one.
func sameItem(i, received item) bool {
	if received.str("id") != "" {
		return i.str("id") == received.str("id")
	}
	return i.kind == received.kind && i.str("call_id") == received.str("call_id")
}
