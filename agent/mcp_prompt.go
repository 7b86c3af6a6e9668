package agent

import (
	"context"
	"fmt"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

// A ServerPrompt is a prompt of an MCP server with which the user asks. The server's text is only a part of
// the question: jp reads no command, file or tool from it.
type ServerPrompt struct {
	Server, Name string
	Words        string // that the user wrote behind it
}

// promptLine is how many characters of a prompt the user is told.
const promptLine = 120

// prompt gets from the server the text below the user's own, and its attachments.
func (e *turn) prompt(ctx context.Context, p ServerPrompt) (text string, files []contextfiles.Attachment, err error) {
	s, err := e.approvedServer(p.Server)
	if err != nil {
		return "", nil, err
	}
	said, err := s.Prompt(ctx, p.Name, p.Words)
	switch {
	case ctx.Err() != nil:
		return "", nil, err
	case err != nil:
		return "", nil, problem.Usage("jp could not ask with /%s:%s: %v.", safetext.Show(p.Server), safetext.Show(p.Name), err)
	}
	text = said.Text
	for _, a := range said.Attachments {
		f, err := contextfiles.NewAttachment(a.Name, a.Data)
		if err != nil { // models read no such file
			text += "\n[" + a.Name + " is left out]"
			continue
		}
		files = append(files, f)
	}
	lines := conversation.Count(strings.Count(text, "\n")+1, "line")
	e.run.out.Noticed(fmt.Sprintf("The MCP server %s makes %s of it: %s", p.Server, lines, conversation.Shorten(strings.Join(strings.Fields(text), " "), promptLine)))
	return fmt.Sprintf("The prompt %s of the MCP server %s:\n\n%s", p.Name, p.Server, text), files, nil
}
