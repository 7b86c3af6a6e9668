package toolset

import "jp/tool/mcp"

// What a front end shows of an MCP server.
type (
	// A Server is an MCP server of the configuration.
	Server = mcp.Server
	// A ToolList is what it offers.
	ToolList = mcp.ToolList
	// A ToolInfo is one tool of it.
	ToolInfo = mcp.ToolInfo
	// A State is what was approved of it.
	State = mcp.State
	// A Change is how an offer differs from what was approved.
	Change = mcp.Change
	// A StartError is why it did not start.
	StartError = mcp.StartError
)

// ToolName is the name under which a model knows a tool of a server.
var ToolName = mcp.ToolName
