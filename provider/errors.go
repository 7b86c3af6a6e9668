package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of [Build].
var (
	// ErrModel is an invalid name of a model. The form is "provider/name".
	ErrModel = errors.New("not a model's name")
	// ErrNothingToAsk means that the conversation waits for no answer of the model.
	ErrNothingToAsk = errors.New("nothing waits for the model's answer")
	// ErrAbsent means that the store lacks content which the request needs.
	ErrAbsent = errors.New("the content is not here")
)

// Errors of an [Assembler].
var (
	// ErrFinished is a chunk after the end of the answer.
	ErrFinished = errors.New("the answer is already whole")
	// ErrChunk is a chunk of an unknown kind.
	ErrChunk = errors.New("unknown kind of chunk")
)

// A Class is the kind of a provider's failure. It decides the next step.
type Class string

// The classes.
const (
	ClassOverloaded Class = "overloaded" // the provider is out of order or full
	ClassRateLimit  Class = "rate_limit" // too many requests
	ClassDisconnect Class = "disconnect" // the connection broke, or the stream ended early
	ClassTimeout    Class = "timeout"    // silent for too long
	ClassAuth       Class = "auth"       // the key is missing, wrong, or lacks the permission
	ClassQuota      Class = "quota"      // the account is out of money
	ClassContext    Class = "context"    // the request is longer than the model can read
	ClassModel      Class = "model"      // the model is unknown, or closed to this account
	ClassAddress    Class = "address"    // no service for requests at the address
	ClassInvalid    Class = "invalid"    // the provider refuses the request itself
	ClassState      Class = "state"      // the provider refuses opaque state that was its own; without any it may answer
	ClassBudget     Class = "budget"     // above the user's limits, so jp did not send it
	ClassNoCall     Class = "no_call"    // the model announces a tool call that it fails to write down
)

// Transient reports whether the same request may succeed a little later.
func (c Class) Transient() bool {
	switch c {
	case ClassOverloaded, ClassRateLimit, ClassDisconnect, ClassTimeout:
		return true
	}
	return false
}

// An Error is a failed request.
type Error struct {
	Class      Class
	Provider   string
	Status     int           // of HTTP, 0 if unknown
	Message    string        // the provider's words
	RetryAfter time.Duration // the provider's requested pause, 0 if there is none
	Err        error         // the cause, if there is one
}

// Error names the provider, the class and the details.
func (e *Error) Error() string {
	parts := make([]string, 0, 4)
	for _, part := range []string{e.Provider, string(e.Class)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Status != 0 {
		parts = append(parts, fmt.Sprintf("HTTP %d", e.Status))
	}
	switch {
	case e.Message != "":
		parts = append(parts, strings.Join(strings.Fields(e.Message), " ")) // a server's words, on one line
	case e.Err != nil:
		parts = append(parts, reason(e.Err))
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
