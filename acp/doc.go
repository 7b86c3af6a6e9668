// Package acp serves the Agent Client Protocol, version 1: an editor starts jp and talks to it over
// standard input and output, one JSON-RPC message a line.
//
// It is a front end like the terminal: a session is a conversation, a prompt is a run of [jp/agent.Ask], and
// the events of that run become updates. An update about an event is sent after the event is durable. A piece
// of an answer is sent after it stands among the drafts, so that a kill of jp loses no text that the editor
// has shown.
//
// The editor's messages are wishes. Paths are checked as those of jp's own tools, its MCP servers start
// only with the user's approval, and only an option that jp offered answers a question.
package acp
