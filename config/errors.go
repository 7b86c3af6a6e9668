package config

import (
	"errors"
	"fmt"
)

// Kinds of mistake in a setting. Each [*Error] wraps one of them.
var (
	ErrSyntax     = errors.New("not valid TOML")
	ErrUnknownKey = errors.New("unknown key")
	ErrValue      = errors.New("value not allowed")
	ErrFile       = errors.New("not a readable configuration file")
	ErrProfile    = errors.New("no such profile")
)

// Error is a mistake in one layer, told in one line that names the place.
type Error struct {
	Origin Origin
	Key    string // dotted; empty for the whole source
	Text   string // the mistake, complete without Origin
	kind   error
}

// Error gives "place: mistake".
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Origin, e.Text) }

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.kind }

// Mistake is an error about the value of a key that only those who use it can tell.
func Mistake(o Origin, key, text string) *Error {
	return &Error{Origin: o, Key: key, Text: text, kind: ErrValue}
}

func valueError(o Origin, key, format string, args ...any) *Error {
	return &Error{Origin: o, Key: key, Text: key + " " + fmt.Sprintf(format, args...), kind: ErrValue}
}
