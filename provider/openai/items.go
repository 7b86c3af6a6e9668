package openai

import (
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"jp/conversation"
	"jp/provider"
)

// inputItems are the messages as items of the Responses API.
func inputItems(messages []provider.Message, lacks Lacks) responses.ResponseInputParam {
	var items responses.ResponseInputParam
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

func userItem(blocks []provider.Block, lacks Lacks) responses.ResponseInputParam {
	var content responses.ResponseInputMessageContentListParam
	for _, b := range blocks {
		if b.Kind == provider.BlockText || b.Kind == provider.BlockFile {
			content = append(content, inputContent(lacks.partOf(b)))
		}
	}
	if len(content) == 0 {
		return nil
	}
	return responses.ResponseInputParam{{OfMessage: &responses.EasyInputMessageParam{
		Type: responses.EasyInputMessageTypeMessage, Role: responses.EasyInputMessageRoleUser,
		Content: responses.EasyInputMessageContentUnionParam{OfInputItemContentList: content},
	}}}
}

func inputContent(p part) responses.ResponseInputContentUnionParam {
	switch p.kind {
	case partImage:
		return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
			ImageURL: param.NewOpt(p.url()), Detail: responses.ResponseInputImageDetailAuto,
		}}
	case partDocument:
		return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
			FileData: param.NewOpt(p.url()), Filename: param.NewOpt(or(p.file.Name, "document.pdf")),
		}}
	}
	return responses.ResponseInputContentUnionParam{OfInputText: &responses.ResponseInputTextParam{Text: p.text}}
}

// answerItems are the items of one answer: all of them as they were received,
// or none, and then without reasoning and without ids. The server refuses an
// item whose reasoning is missing, and reasoning whose item is.
func answerItems(blocks []provider.Block, lacks Lacks) responses.ResponseInputParam {
	if !lacks.Reasoning {
		if items, ok := receivedItems(blocks); ok {
			return items
		}
	}
	var items responses.ResponseInputParam
	for _, b := range blocks {
		switch b.Kind {
		case provider.BlockText:
			items = append(items, saidItem(b))
		case provider.BlockToolCall:
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(string(b.Arguments), b.ID, b.Name))
		}
	}
	return items
}

func saidItem(b provider.Block) responses.ResponseInputItemUnionParam {
	return responses.ResponseInputItemUnionParam{OfMessage: &responses.EasyInputMessageParam{
		Type: responses.EasyInputMessageTypeMessage, Role: responses.EasyInputMessageRoleAssistant,
		Content: responses.EasyInputMessageContentUnionParam{OfString: param.NewOpt(b.Text)},
		Phase:   responses.EasyInputMessagePhase(phaseOf(b)),
	}}
}

// outputItems are the outputs of tool calls, each with the files behind it.
func outputItems(blocks []provider.Block, lacks Lacks) responses.ResponseInputParam {
	var items responses.ResponseInputParam
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

func outputItem(id string, parts []part) responses.ResponseInputItemUnionParam {
	item := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(id)}
	if onlyText(parts) {
		item.Output.OfString = param.NewOpt(joined(parts))
	}
	for _, p := range parts {
		if !item.Output.OfString.Valid() {
			item.Output.OfResponseFunctionCallOutputItemArray = append(item.Output.OfResponseFunctionCallOutputItemArray, outputContent(p))
		}
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: item}
}

func outputContent(p part) responses.ResponseFunctionCallOutputItemUnionParam {
	switch p.kind {
	case partImage:
		return responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{
			ImageURL: param.NewOpt(p.url()),
		}}
	case partDocument:
		return responses.ResponseFunctionCallOutputItemUnionParam{OfInputFile: &responses.ResponseInputFileContentParam{
			FileData: param.NewOpt(p.url()), Filename: param.NewOpt(or(p.file.Name, "document.pdf")),
		}}
	}
	return responses.ResponseFunctionCallOutputItemUnionParam{OfInputText: &responses.ResponseInputTextContentParam{Text: p.text}}
}
