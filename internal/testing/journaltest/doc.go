// Package journaltest is the specification of a [conversation.Journal], as a suite of tests that every
// implementation passes, and has the simplest one: a journal in memory. It also builds conversations for the
// tests of other packages, always through the rules of [conversation.Stream], so that tests use only events
// that jp could write.
//
// The package is for tests only and deliberately simple: the clock is fixed, ids are counted, and results are
// the same on every machine.
package journaltest
