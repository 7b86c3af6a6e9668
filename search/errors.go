package search

import "errors"

// Errors of [Compile]. The pattern or scope is named beside them.
var (
	ErrPattern = errors.New("not a regular expression")
	ErrText    = errors.New("a pattern that is not UTF-8")
	ErrEmpty   = errors.New("an empty pattern")
	ErrScope   = errors.New("no such scope")
)
