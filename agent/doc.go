// Package agent is the application: what any front end can ask of jp.
//
// A front end opens a repository ([jp/agent/repo]), makes a [Frontend] of itself, and calls [Ask].
// The run goes from value to value. Each names those before it, so that a step says whose facts it uses:
//
//	run         the request, the repository, the front end
//	target      the conversation
//	history     its events, and the interrupted turn among them
//	turn        its model, tools and instructions
//	resumption  the decision about an interrupted turn
//	question    the new turn
//
// Everything that has to be closed stands in resources.
//
// A front end is told all of it, and puts every decision to the user. The package knows no
// terminal and no command line.
package agent
