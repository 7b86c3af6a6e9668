package wirecheck

import (
	"slices"
	"strings"
)

// everyString checks that all keys and strings are text (P7).
func (k *checker) everyString(n *node) {
	if n.fault != "" {
		k.add("P7", n, "%s", n.fault)
	}
	for _, item := range n.items {
		k.everyString(item)
	}
}

// keysOnce checks that the keys of each object are unique.
func (k *checker) keysOnce(n *node) {
	sorted := slices.Sorted(slices.Values(n.keys))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			k.add(Format, n, "has the key %q twice", sorted[i])
		}
	}
	for _, item := range n.items {
		k.keysOnce(item)
	}
}

// inner parses JSON that is spelled inside a string, and checks its strings as
// if they stood in the body. It is nil if the string is not a JSON object.
func (k *checker) inner(n *node) *node {
	if n.kind != text {
		return nil
	}
	root, err := parse([]byte(n.text))
	if err != nil || root.kind != object {
		return nil
	}
	root.path = n.path
	k.everyString(root)
	k.keysOnce(root)
	return root
}

// arguments checks the arguments of a call: the rule names the API's demand for an object, and calls known as
// malformed pass an empty one (P8).
func (k *checker) arguments(rule, id string, n, value *node) {
	switch {
	case value == nil || value.kind != object:
		k.add(rule, n, "arguments are not a JSON object")
	case slices.Contains(k.Malformed, id) && len(value.items) > 0:
		k.add("P8", n, "arguments of the malformed call %q are not {}", id)
	}
}

// data checks that each structured answer is among the assistant's texts (P8).
func (k *checker) data(texts []string) {
	for _, d := range k.Data {
		want, err := parse(d)
		if err != nil {
			k.add("P8", k.body, "capability: data %q is no JSON", d)
			continue
		}
		spelled := want.canonical()
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, spelled) }) {
			k.add("P8", k.body, "no assistant text holds the data %s", spelled)
		}
	}
}

// notBlank reports a blank text, under the rule that forbids it.
func (k *checker) notBlank(rule string, n *node) {
	if n.blank() {
		k.add(rule, n, "text is empty or only white space")
	}
}

// somethingIn checks a content that is a non-empty string or a non-empty list of parts (P6).
// It reports whether there is a list to look at.
func (k *checker) somethingIn(n *node) bool {
	if !k.want(n, text, list) {
		return false
	}
	k.notBlank("P6", n)
	if n.kind == list && len(n.items) == 0 {
		k.add("P6", n, "content list is empty")
	}
	return n.kind == list
}

// anywhere reports whether a string of the value contains the text.
func (n *node) anywhere(s string) bool {
	if n.kind == text && strings.Contains(n.text, s) {
		return true
	}
	return slices.ContainsFunc(n.items, func(item *node) bool { return item.anywhere(s) })
}
