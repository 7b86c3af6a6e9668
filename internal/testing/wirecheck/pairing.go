package wirecheck

import "slices"

// A call is one tool call of the history. Its group is the number of the answer
// that it is part of.
type call struct {
	id    string
	at    *node
	group int
}

// A result is one tool result. Its group is the number of the answer that it
// stands directly behind, or outside.
type result struct {
	id    string
	at    *node
	group int
}

// outside is the group of results that follow no answer.
const outside = -1

// pairRules are the rules under which an API itself reports misplaced pairs. Missing pairs are P4.
type pairRules struct {
	call   string // the result stands elsewhere than behind the call
	result string // the call stands elsewhere than before the result
	unique string // two calls have one id
}

// pairs checks that calls and results belong together one to one, and that the
// results stand in the order of the calls (P3).
func (k *checker) pairs(r pairRules, calls []call, results []result) {
	k.once(r.unique, calls)
	k.givenBack(k.body, calls)
	for _, c := range calls {
		k.answered(r, c, results)
	}
	seen := map[call]bool{}
	for _, res := range results {
		same := func(c call) bool { return c.id == res.id }
		here := func(c call) bool { return same(c) && c.group == res.group }
		key := call{id: res.id, group: res.group}
		switch {
		case !slices.ContainsFunc(calls, same):
			k.add("P4", res.at, "no call has the id %q", res.id)
		case !slices.ContainsFunc(calls, here):
			k.add(r.result, res.at, "the call %q is not in the answer directly before", res.id)
		case seen[key]:
			k.add("P4", res.at, "the call %q is answered twice", res.id)
		}
		seen[key] = true
	}
	k.ordered(calls, results)
}

// once checks that each id belongs to one call.
func (k *checker) once(rule string, calls []call) {
	seen := map[string]bool{}
	for _, c := range calls {
		if seen[c.id] {
			k.add(rule, c.at, "the id %q belongs to two calls", c.id)
		}
		seen[c.id] = true
	}
}

func (k *checker) answered(r pairRules, c call, results []result) {
	same := func(res result) bool { return res.id == c.id }
	here := func(res result) bool { return same(res) && res.group == c.group }
	switch {
	case slices.ContainsFunc(results, here):
	case slices.ContainsFunc(results, same):
		k.add(r.call, c.at, "the result of %q does not stand directly behind its answer", c.id)
	default:
		k.add("P4", c.at, "the call %q has no result", c.id)
	}
}

// ordered checks, in groups whose pairs are complete, the order of the results.
func (k *checker) ordered(calls []call, results []result) {
	asked, got := map[int][]string{}, map[int][]string{}
	for _, c := range calls {
		asked[c.group] = append(asked[c.group], c.id)
	}
	for _, r := range results {
		got[r.group] = append(got[r.group], r.id)
	}
	for _, r := range results {
		want, have := asked[r.group], got[r.group]
		delete(got, r.group)
		if slices.Equal(want, have) || !sameSet(want, have) {
			continue
		}
		k.add("P3", r.at, "results %q are not in the order of the calls %q", have, want)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
