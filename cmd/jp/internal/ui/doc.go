// Package ui is jp's own front end: how a turn, a list, a transcript and a question look on a
// terminal, in a pipe, and as JSON.
package ui
