// Package wirecheck judges the JSON bodies that are sent to model providers, from the outside: it knows the
// public formats of the APIs and is independent of the code that makes the requests, so that a mistake is not
// made twice.
//
// There is one validator for each API. Each reports every rule that a body breaks, by the rule's name (A2,
// C1, ...). A defect has one name: if a rule of the API and a common rule (P4, P5, P6, P11) overlap, the
// common one is reported only for defects that the API's own rule leaves open. A text that is not a request
// at all - bad JSON, keys given twice, wrong types, unknown roles and kinds of block - is reported as
// "format".
//
// A rule that needs to know more than the body takes it from a field of
// [Capability] and is not checked while that field is empty.
//
// The package imports only the standard library, never panics on any input,
// and never guesses: it only reports.
package wirecheck

import "fmt"

// Format is the rule of bodies that are not requests of their API at all.
const Format = "format"

// A Violation is one rule broken at one place.
type Violation struct {
	Rule    string // as in "A2", or [Format]
	Where   string // path in the body, as in "messages[2].content[0]"; empty for the whole
	Problem string // the mistake, for people
}

// Error says the rule, the place and the problem on one line.
func (v Violation) Error() string { return v.String() }

// String is the same line as [Violation.Error].
func (v Violation) String() string {
	if v.Where == "" {
		return v.Rule + ": " + v.Problem
	}
	return v.Rule + ": " + v.Where + ": " + v.Problem
}

// A checker collects the violations of one body.
type checker struct {
	Capability
	body  *node
	found []Violation
}

// check runs the rules of one API over a body, if it is a JSON object.
func check(body []byte, c Capability, rules func(*checker)) []Violation {
	k := &checker{Capability: c}
	root, err := parse(body)
	if err != nil {
		k.found = append(k.found, Violation{Rule: Format, Problem: err.Error()})
		return k.found
	}
	k.body = root
	k.everyString(root)
	k.keysOnce(root)
	if k.want(root, object) {
		rules(k)
	}
	return k.found
}

// add reports a rule as broken at a node.
func (k *checker) add(rule string, at *node, problem string, args ...any) {
	k.found = append(k.found, Violation{Rule: rule, Where: at.path, Problem: fmt.Sprintf(problem, args...)})
}

// want reports whether a node has one of the kinds; otherwise that is a violation.
func (k *checker) want(n *node, kinds ...kind) bool {
	if n.is(kinds...) {
		return true
	}
	k.add(Format, n, "is %v, not %v", n.kind, kinds)
	return false
}

// optional is want for an optional node. null counts as absent.
func (k *checker) optional(n *node, kinds ...kind) bool {
	return n.is(absent, null) || k.want(n, kinds...)
}

// objects are the objects among the items of a list.
func (k *checker) objects(n *node) []*node {
	var found []*node
	for _, item := range n.items {
		if k.want(item, object) {
			found = append(found, item)
		}
	}
	return found
}
