// Package acp serves the Agent Client Protocol, version 1: an editor starts jp and talks to it over
// standard input and output, one JSON-RPC message a line.
//
// It is a front end like the terminal: a session is a conversation, a prompt is a run of
// [jp/agent.Ask], and what that run records becomes updates. An update about an event is sent
// after the event is durable. A piece of an answer is sent after it stands among the drafts, so that
// a kill of jp loses nothing that the editor has shown.
//
// What the editor says is a wish. Paths are checked as those of jp's own tools, its MCP servers start
// only with the user's approval, and only an option that jp offered answers a question.
package acp
