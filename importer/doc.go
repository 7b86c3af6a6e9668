// Package importer makes conversations of sessions that other agents recorded.
//
// A [Format] reads the session file of one agent record by record, and gives neutral [Record]s. A builder
// makes events of them, and [File] appends these to one conversation whose id follows from the session. A
// second import of a file adds the records that the session has gained since.
//
// Invalid records do not fail the import: the [Report] counts them, with the reasons. The events are
// unsigned, so the conversation is someone else's: it can be read and forked, and acts only in a fork that
// the user adopted.
package importer
