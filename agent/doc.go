// Package agent is the application: all that a front end can ask of jp.
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
// The type resources has everything that must be closed.
//
// The package reports every step to the front end, and puts every decision to the user. It is independent of
// terminals and command lines.
package agent
