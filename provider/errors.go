package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of [Build].
var (
	// ErrModel says that a text does not name a model as "provider/name".
	ErrModel = errors.New("not a model's name")
	// ErrNothingToAsk says that nothing in the conversation waits for the model.
	ErrNothingToAsk = errors.New("nothing waits for the model's answer")
	// ErrAbsent says that content which the request needs is not in the store.
	ErrAbsent = errors.New("the content is not here")
)

// Errors of an [Assembler].
var (
	// ErrFinished says that a chunk came after the end of the answer.
	ErrFinished = errors.New("the answer is already whole")
	// ErrChunk says that a chunk is of no known kind.
	ErrChunk = errors.New("unknown kind of chunk")
)

// A Class is what went wrong at a provider, as far as it decides what to do.
type Class string

// The classes.
const (
	ClassOverloaded Class = "overloaded" // the provider is out of order or full
	ClassRateLimit  Class = "rate_limit" // too many requests
	ClassDisconnect Class = "disconnect" // the connection broke, or the stream ended early
	ClassTimeout    Class = "timeout"    // nothing came for too long
	ClassAuth       Class = "auth"       // the key is missing, wrong, or may not do this
	ClassQuota      Class = "quota"      // the account has no money left
	ClassContext    Class = "context"    // the request is longer than the model can read
	ClassModel      Class = "model"      // there is no such model, or not for this account
	ClassAddress    Class = "address"    // nothing that answers requests is at the address
	ClassInvalid    Class = "invalid"    // the provider refuses the request as it stands
	ClassState      Class = "state"      // the provider refuses opaque state that was its own; without any it may answer
	ClassBudget     Class = "budget"     // the user's limits let the request not be sent
	ClassNoCall     Class = "no_call"    // the model asks for a tool call that it does not write down
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
	Status     int           // of HTTP, 0 where there is none
	Message    string        // the provider's words
	RetryAfter time.Duration // how long the provider asks to wait, 0 where it does not
	Err        error         // the cause, if there is one
}

// Error names the provider, the class, and what is known besides.
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
