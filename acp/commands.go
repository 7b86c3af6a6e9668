package acp

import "context"

// tellCommands tells the client which commands a prompt may begin with.
func (s *session) tellCommands(context.Context) {
	s.update(commandsUpdate{Kind: "available_commands_update", Commands: []command{}})
}
