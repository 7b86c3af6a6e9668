// Package conversation is jp's vocabulary: events, turns, calls, inquiries, and
// the rules for the meaning of a sequence of events.
//
// A conversation is just a sequence of events. Everything that jp knows after a restart — whether a turn is
// complete, which tool still has to run, which question waits — is computed from that sequence by the pure
// functions of this package. A second record, which could disagree, does not exist.
//
// Invariants that the package keeps:
//
//   - An event is immutable once it is part of a [Stream].
//   - A stream grows only through [Stream.StartTurn], [Stream.CurrentTurn] and
//     [Stream.Append], and only after the journal has made the events durable.
//   - The package never repairs history. [Sanitize] is a projection for readers.
//   - Data of a newer jp survives a round trip: unknown types and unknown
//     fields are kept as raw bytes.
//
// The package does no I/O, is free of git and providers, and imports the standard library only.
package conversation
