// Package search finds text in conversations.
//
// A [Query] is compiled once. It finds the matching lines of a conversation's events. It also tells in
// advance which bytes a stored event must contain, so that a store can pass over the others without decoding
// them. It skips discarded events and jp's own bookkeeping.
//
// The package reads through a [Source]. It never writes.
package search
