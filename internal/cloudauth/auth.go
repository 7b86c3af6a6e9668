// Package auth stands in the place of Google Cloud's credentials, which genai
// imports for Vertex AI alone. jp speaks to the Gemini API, with a key, and
// needs nothing of gRPC, s2a and OpenCensus that the real module brings and
// that every start of jp would initialise. go.mod replaces the one by the other.
package auth

import (
	"context"
	"errors"
	"time"
)

// ErrNone is what whoever asks for credentials gets.
var ErrNone = errors.New("Google Cloud credentials are not built in; use an API key")

// Credentials are none.
type Credentials struct{}

// A Token that is never made.
type Token struct {
	Value  string
	Type   string
	Expiry time.Time
}

// Token is ErrNone.
func (*Credentials) Token(context.Context) (*Token, error) { return nil, ErrNone }

// QuotaProjectID is ErrNone.
func (*Credentials) QuotaProjectID(context.Context) (string, error) { return "", ErrNone }
