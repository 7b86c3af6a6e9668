// Package toolset makes the tools of a turn: jp's own, commands, those of MCP servers, with
// the sandbox that their programs run in and the hooks around them.
package toolset
