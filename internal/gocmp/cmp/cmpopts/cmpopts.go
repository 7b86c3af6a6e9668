// Package cmpopts is here since tests of other modules name it, and go mod tidy
// asks for whatever those name.
package cmpopts
