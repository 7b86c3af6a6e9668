// Package journaltest says what a [conversation.Journal] has to do, as a suite
// of tests that every implementation passes, and has the simplest one: a
// journal in memory. It also builds conversations for the tests of other
// packages, always through the rules of [conversation.Stream], so that no test
// stands on events that jp would never write.
//
// The package is for tests only and refuses to be clever: the clock is fixed,
// ids are counted, and nothing depends on the machine.
package journaltest
