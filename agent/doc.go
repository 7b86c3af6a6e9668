// Package agent is the application: what any front end can ask of jp.
//
// A front end opens a repository ([jp/agent/repo]), makes a [Frontend] of itself, and runs a
// query with it. The query finds its conversation, takes its lock, deals with an interrupted
// turn, and hands a new turn to the turn loop. All of it is told to the front end, and every
// decision is put to the user through it. The package knows no terminal and no command line.
package agent
