// Package agent is the application: what any front end can ask of jp.
//
// A front end opens a repository ([jp/agent/repo]), makes a [Frontend] of itself, and calls [Ask].
// The run goes through stages. Each is a type that embeds the one before, so that a step can use
// only what is known by then:
//
//	run         the request, the repository, the front end
//	target      the conversation, and its lock
//	loaded      its events, and the incomplete turn among them
//	equipped    what its turns work with: model, tools, servers, presence
//	incomplete  what becomes of an interrupted turn
//	settled     the new question
//
// A front end is told all of it, and puts every decision to the user. The package knows no
// terminal and no command line.
package agent
