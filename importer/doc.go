// Package importer makes conversations of the sessions that other agents have recorded.
//
// A [Format] reads the session file of one agent record by record, and gives neutral
// [Record]s. A builder makes events of them, and [File] appends these to one conversation
// whose id follows from the session. A second import of a file adds what the session has
// gained since.
//
// No file makes an error of the whole: a record that cannot be taken is counted in the
// [Report], with the reason. The events are unsigned, so the conversation is someone
// else's: it can be read and forked, and acts only in a fork that the user adopted.
package importer
