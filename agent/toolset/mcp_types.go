package toolset

import "jp/tool/mcp"

// The parts of an MCP server that a front end shows.
type (
	// A Server is an MCP server of the configuration.
	Server = mcp.Server
	// A ToolList is its offer.
	ToolList = mcp.ToolList
	// A ToolInfo is one tool of it.
	ToolInfo = mcp.ToolInfo
	// A State is its approvals.
	State = mcp.State
	// A Change is the difference of an offer from the approved one.
	Change = mcp.Change
	// A StartError is the reason why it did not start.
	StartError = mcp.StartError
)

// ToolName is the name under which a model knows a tool of a server.
var ToolName = mcp.ToolName
