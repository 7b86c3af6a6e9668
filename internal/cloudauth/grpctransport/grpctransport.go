// Package grpctransport is empty: go mod tidy looks for it, since a test of
// another module needs the real one.
package grpctransport
