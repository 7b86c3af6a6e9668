// Package search finds text in conversations.
//
// A [Query] is compiled once. It says for the events of a conversation which of
// their lines match, and in advance which bytes a stored event must hold to
// matter at all, so that a store can pass over the others without decoding them.
// What was discarded, and jp's own bookkeeping, is not searched.
//
// The package reads through a [Source] and writes nothing.
package search
