package openai

import (
	"jp/conversation"
	"jp/provider"
)

// inputItems are the messages as items of the Responses API.
func inputItems(messages []provider.Message, lacks Lacks) []inputItem {
	var items []inputItem
	for _, m := range messages {
		switch m.Role {
		case conversation.RoleUser:
			items = append(items, userItem(m.Blocks, lacks)...)
		case conversation.RoleAssistant:
			items = append(items, answerItems(m.Blocks, lacks)...)
		case conversation.RoleTool:
			items = append(items, outputItems(m.Blocks, lacks)...)
		}
	}
	return items
}

func userItem(blocks []provider.Block, lacks Lacks) []inputItem {
	var content []inputPart
	for _, b := range blocks {
		if b.Kind == provider.BlockText || b.Kind == provider.BlockFile {
			content = append(content, inputContent(lacks.partOf(b)))
		}
	}
	if len(content) == 0 {
		return nil
	}
	return []inputItem{{Type: "message", Role: "user", Content: content}}
}

func inputContent(p part) inputPart {
	c := outputContent(p)
	if p.kind == partImage {
		c.Detail = "auto"
	}
	return c
}

// answerItems are the items of one answer. All of them are as received, or else all are without reasoning and
// ids, since the server refuses an item whose reasoning is missing, and reasoning whose item is.
func answerItems(blocks []provider.Block, lacks Lacks) []inputItem {
	if !lacks.Reasoning {
		if items, ok := receivedItems(blocks); ok {
			return items
		}
	}
	var items []inputItem
	for _, b := range blocks {
		switch b.Kind {
		case provider.BlockText:
			items = append(items, saidItem(b))
		case provider.BlockToolCall:
			items = append(items, callItem(b))
		}
	}
	return items
}

func saidItem(b provider.Block) inputItem {
	return inputItem{Type: "message", Role: "assistant", Content: b.Text, Phase: phaseOf(b)}
}

func callItem(b provider.Block) inputItem {
	arguments := string(b.Arguments)
	return inputItem{Type: "function_call", CallID: b.ID, Name: b.Name, Arguments: &arguments}
}

// outputItems are the outputs of tool calls, each with the files behind it.
func outputItems(blocks []provider.Block, lacks Lacks) []inputItem {
	var items []inputItem
	for i, b := range blocks {
		if b.Kind != provider.BlockResult {
			continue
		}
		parts := []part{{text: b.Text}}
		for _, file := range blocks[i+1:] {
			if file.Kind != provider.BlockFile {
				break
			}
			parts = append(parts, lacks.partOf(file))
		}
		items = append(items, outputItem(b.ID, parts))
	}
	return items
}

func outputItem(id string, parts []part) inputItem {
	item := inputItem{Type: "function_call_output", CallID: id}
	if onlyText(parts) {
		item.Output = joined(parts)
		return item
	}
	var content []inputPart
	for _, p := range parts {
		content = append(content, outputContent(p))
	}
	item.Output = content
	return item
}

func outputContent(p part) inputPart {
	switch p.kind {
	case partImage:
		return inputPart{Type: "input_image", ImageURL: p.url()}
	case partDocument:
		return inputPart{Type: "input_file", FileData: p.url(), Name: or(p.file.Name, "document.pdf")}
	}
	return inputPart{Type: "input_text", Text: &p.text}
}
