package catalog

import "errors"

// Errors of [Find].
var (
	// ErrUnknown says that a name is no provider's.
	ErrUnknown = errors.New("there is no provider")
	// ErrDialect says that a name is no protocol and no known server.
	ErrDialect = errors.New("there is no dialect")
	// ErrAddress says that a base URL has another scheme than http and https. It does not quote
	// it, since it may hold a secret.
	ErrAddress = errors.New("the base URL must begin with http or https")
)

// ErrNoAddress says that each customer of a provider has an address of their own.
var ErrNoAddress = errors.New("the provider needs a base URL of yours")

// ErrPrice says that numbers are no price.
var ErrPrice = errors.New("not a price in US dollars for a million tokens")

// ErrTable says that a text is no table of models.
var ErrTable = errors.New("not a table of models")
