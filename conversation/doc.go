// Package conversation is jp's vocabulary: events, turns, calls, inquiries, and
// the rules that say what a sequence of events means.
//
// A conversation is a sequence of events, and nothing else. Everything that jp
// knows after a restart — whether a turn is complete, which tool still has to
// run, which question waits — is computed from that sequence by the pure
// functions of this package; there is no second record that could disagree.
//
// Invariants that the package keeps:
//
//   - An event is immutable once it is part of a [Stream].
//   - A stream grows only through [Stream.StartTurn], [Stream.CurrentTurn] and
//     [Stream.Append], and only after the journal has made the events durable.
//   - Nothing here repairs history. [Sanitize] is a projection for readers.
//   - What a newer jp wrote survives a round trip: unknown types and unknown
//     fields are kept as raw bytes.
//
// The package does no I/O, knows no git and no provider, and imports the
// standard library only.
package conversation
