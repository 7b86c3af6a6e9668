// Package cmp stands in the place of a package that genai imports to compare
// the requests of its own tests with recorded ones. jp never comes there, and
// every start of jp would compile the regular expressions of the real package.
// go.mod replaces the one by the other.
package cmp

import "reflect"

// An Option says nothing here: no comparison is loose.
type Option struct{}

// Options are several options.
type Options []Option

// Comparer would compare two values of one type by a function. It is not asked.
func Comparer(any) Option { return Option{} }

// Diff is empty where x and y are deeply equal, and else says that they are not.
func Diff(x, y any, _ Options) string {
	if reflect.DeepEqual(x, y) {
		return ""
	}
	return "they differ"
}
