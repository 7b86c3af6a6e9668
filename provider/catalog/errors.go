package catalog

import "errors"

// Errors of [Find].
var (
	// ErrUnknown is an unknown name of a provider.
	ErrUnknown = errors.New("there is no provider")
	// ErrDialect is a name that is neither a protocol nor a known server.
	ErrDialect = errors.New("there is no dialect")
	// ErrAddress says that a base URL has another scheme than http and https. It omits the URL, since it may
	// hold a secret.
	ErrAddress = errors.New("the base URL must begin with http or https")
)

// ErrNoAddress means that each customer of a provider has an address of their own.
var ErrNoAddress = errors.New("the provider needs a base URL of yours")

// ErrPrice is an invalid price.
var ErrPrice = errors.New("not a price in US dollars for a million tokens")

// ErrTable is an invalid table of models.
var ErrTable = errors.New("not a table of models")
