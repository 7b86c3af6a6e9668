package openai

import (
	"maps"

	"jp/conversation"
	"jp/provider"
)

// A speech is one message of Chat Completions, before it is written down.
type speech struct {
	role  conversation.Role
	parts []part
	calls []provider.Block // of the assistant
	state map[string]any   // of the assistant: returned unchanged
	id    string           // of a result
	tool  string           // of a result
}

// A transcript arranges messages as a dialect wants them.
type transcript struct {
	dialect  Dialect
	lacks    Lacks
	ids      formedIDs
	speeches []speech
}

func newTranscript(d Dialect, lacks Lacks) *transcript {
	lacks.Images = lacks.Images || d.NoImages
	lacks.Files = lacks.Files || d.NoFiles
	return &transcript{dialect: d, lacks: lacks, ids: formedIDs{form: d.IDs}}
}

// arrange returns the messages in the order in which they are sent.
func (t *transcript) arrange(messages []provider.Message) []speech {
	back := t.dialect.reasoningBack(messages)
	for i, m := range messages {
		switch m.Role {
		case conversation.RoleUser:
			t.user(t.partsOf(m.Blocks))
		case conversation.RoleAssistant:
			t.assistant(m.Blocks, back[i])
		case conversation.RoleTool:
			t.results(m.Blocks)
		}
	}
	return t.speeches
}

func (t *transcript) partsOf(blocks []provider.Block) []part {
	var parts []part
	for _, b := range blocks {
		if b.Kind == provider.BlockText || b.Kind == provider.BlockFile {
			parts = append(parts, t.lacks.partOf(b))
		}
	}
	return parts
}

// user adds a user's words: as a message of its own, to the user's last one, or to the last result.
func (t *transcript) user(parts []part) {
	if len(parts) == 0 {
		return
	}
	if last := t.last(); last != nil {
		switch {
		case last.role == conversation.RoleTool && t.dialect.UserAfterTool == UserFolded:
			last.parts = append(last.parts, described(parts)...)
			return
		case last.role == conversation.RoleUser:
			last.parts = append(last.parts, parts...)
			return
		}
	}
	t.speeches = append(t.speeches, speech{role: conversation.RoleUser, parts: parts})
}

func (t *transcript) last() *speech {
	if len(t.speeches) == 0 {
		return nil
	}
	return &t.speeches[len(t.speeches)-1]
}

func described(parts []part) []part {
	texts := make([]part, len(parts))
	for i, p := range parts {
		texts[i] = p.described()
	}
	return texts
}

func (t *transcript) assistant(blocks []provider.Block, reasoning ReasoningBack) {
	s := speech{role: conversation.RoleAssistant, parts: t.partsOf(blocks), state: t.dialect.state(blocks, reasoning)}
	for _, b := range blocks {
		if b.Kind == provider.BlockToolCall {
			b.ID = t.ids.of(b)
			s.calls = append(s.calls, b)
		}
	}
	switch last := t.last(); {
	case len(s.parts) == 0 && len(s.calls) == 0:
	case last != nil && last.role == conversation.RoleAssistant && len(last.calls) == 0:
		last.goOn(s)
	default:
		t.speeches = append(t.speeches, s)
	}
}

// goOn adds the assistant's words behind a pause of its provider, since the server refuses two answers in a
// row.
func (s *speech) goOn(more speech) {
	s.parts = append(s.parts, more.parts...)
	s.calls = more.calls
	if len(more.state) > 0 {
		s.state = more.state
	}
}

// results adds one message for each result, and behind all of them the pictures and documents that only a
// user message may hold.
func (t *transcript) results(blocks []provider.Block) {
	var shown []part
	for _, b := range blocks {
		switch b.Kind {
		case provider.BlockResult:
			t.speeches = append(t.speeches, speech{
				role: conversation.RoleTool, parts: []part{{text: b.Text}}, id: t.ids.of(b), tool: b.Name,
			})
		case provider.BlockFile:
			shown = append(shown, t.attach(b)...)
		}
	}
	t.user(shown)
}

// attach adds a file to the result before it, if a result may hold it. It returns the parts for a user
// message.
func (t *transcript) attach(b provider.Block) []part {
	p, result := t.lacks.partOf(b), t.last()
	if result == nil || result.role != conversation.RoleTool {
		return []part{p}
	}
	if p.kind == partText || p.kind == partImage && t.dialect.ImagesInTool {
		result.parts = append(result.parts, p)
		return nil
	}
	return []part{origin(p.kind, result.tool, result.id), p}
}

func (s speech) encode(d Dialect) chatMessage {
	switch s.role {
	case conversation.RoleAssistant:
		return s.encodeAssistant(d)
	case conversation.RoleTool:
		return s.encodeResult(d)
	}
	if onlyText(s.parts) {
		return chatMessage{Role: "user", Content: joined(s.parts)}
	}
	return chatMessage{Role: "user", Content: contentParts(s.parts)}
}

func (s speech) encodeAssistant(d Dialect) chatMessage {
	fields := maps.Clone(s.state)
	if fields == nil {
		fields = map[string]any{}
	}
	m := chatMessage{Role: "assistant", more: fields}
	switch {
	case len(s.parts) > 0:
		m.Content = joined(s.parts)
	case d.EmptyContent:
		fields["content"] = ""
	default: // strict servers refuse a message without the key
		fields["content"] = nil
	}
	for _, b := range s.calls {
		m.ToolCalls = append(m.ToolCalls, chatCall{
			ID: b.ID, Type: "function", Function: chatFunction{Name: b.Name, Arguments: string(b.Arguments)},
			more: d.extraContent(b),
		})
	}
	return m
}

func (s speech) encodeResult(d Dialect) chatMessage {
	m := chatMessage{Role: "tool", ToolCallID: s.id, more: map[string]any{}}
	if onlyText(s.parts) {
		m.Content = joined(s.parts)
	} else {
		m.more["content"] = contentParts(s.parts)
	}
	if d.ToolNameField != "" {
		m.more[d.ToolNameField] = s.tool
	}
	return m
}

func contentParts(parts []part) []chatPart {
	content := make([]chatPart, len(parts))
	for i, p := range parts {
		switch p.kind {
		case partText:
			content[i] = chatPart{Type: "text", Text: &p.text}
		case partImage:
			content[i] = chatPart{Type: "image_url", ImageURL: &imageURL{URL: p.url()}}
		case partDocument:
			content[i] = chatPart{Type: "file", File: &fileData{Data: p.url(), Name: or(p.file.Name, "document.pdf")}}
		}
	}
	return content
}
