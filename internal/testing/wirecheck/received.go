package wirecheck

import "encoding/json"

// asReceived checks that each part is one of those received, unchanged and in
// the order they came in, and returns the place of each in that order. Matching
// starts at the end, so of two equal parts the later one counts as sent.
func (k *checker) asReceived(rule string, sent []*node, received []string) []int {
	places := make([]int, len(sent))
	next := len(received) - 1
	for i := len(sent) - 1; i >= 0; i-- {
		place := next
		for place >= 0 && received[place] != sent[i].canonical("cache_control") {
			place--
		}
		places[i] = place
		if place < 0 {
			k.add(rule, sent[i], "is not what was received, at its place in the order")
			continue
		}
		next = place - 1
	}
	return places
}

// spellings are the canonical forms of raw values, without invalid JSON and without those that the filter
// leaves out.
func spellings(raw []json.RawMessage, keep func(*node) bool) []string {
	var all []string
	for _, r := range raw {
		if n, err := parse(r); err == nil && keep(n) {
			all = append(all, n.canonical("cache_control"))
		}
	}
	return all
}

// every keeps all values.
func every(*node) bool { return true }

// nothingRefused checks that the body is free of a refused turn.
func (k *checker) nothingRefused(rule string) {
	for _, r := range k.Refused {
		if k.body.anywhere(r) {
			k.add(rule, k.body, "holds %q of a refused turn", r)
		}
	}
}

// turnStart is the first request of the turn, if it is known and for the same
// model, else nil.
func (k *checker) turnStart() *node {
	if k.Turn == nil {
		return nil
	}
	start, err := parse(k.Turn)
	if err != nil || start.str("model") != k.body.str("model") {
		return nil
	}
	return start
}
