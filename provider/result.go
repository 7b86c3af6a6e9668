package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/compaction"
	"jp/conversation"
	"jp/internal/safetext"
)

// Texts in the place of a result.
const (
	noOutput    = "(no output)"
	notReleased = "The tool ran; its result was not released."
)

// toldRepetitions is the number of equal results of a call after which the model gets a note.
const toldRepetitions = 3

func (p *projection) toolCall(e *conversation.Event, b *conversation.ToolCallRequest, id string) Block {
	block := Block{Kind: BlockToolCall, ID: id, Name: WireName(b.Name), Arguments: json.RawMessage("{}"), Item: p.item(e)}
	arguments := []byte(b.Arguments)
	if e.Payload(conversation.PayloadText) != nil {
		arguments = []byte(p.target.text(e))
	}
	if compact, err := conversation.Compact(arguments); err == nil && compact[0] == '{' && !b.Malformed {
		block.Arguments = withoutNUL(compact)
	}
	return block
}

// result returns the block of a tool call's result, followed by its attachments.
func (p *projection) result(call *conversation.ToolCall, id string) []Block {
	block := Block{Kind: BlockResult, ID: id, Name: WireName(call.Request.Name)}
	if call.Open() {
		block.Text, block.IsError = conversation.InterruptedText, true
		return []Block{block}
	}
	block.IsError = call.Result.IsError
	var files []Block
	text, released := p.released(call)
	if !released {
		block.IsError = true
	} else if how, _ := call.Delivery(); how == conversation.Delivered {
		switch room, trimmed := p.force.Trimmed[call.Response.Seq]; {
		case trimmed && room > 0:
			text = cleanText(compaction.ShortenedResult(call.Response, text, room))
		case trimmed:
			text = cleanText(compaction.TrimmedLine(call.Response))
		default:
			text, files = p.attached(call, text)
		}
	}
	if blank(text) {
		text = noOutput
	}
	block.Text = changedArguments(call) + text
	if n := p.times[call.Request.Call]; n >= toldRepetitions {
		block.Text += fmt.Sprintf("\n[jp: same call, same result, %d times]", n)
	}
	for _, e := range p.nested[call.Response.Seq] {
		if given := p.target.text(e); !blank(given) {
			block.Text += "\n\n" + given
		}
	}
	for i := range files {
		files[i].ID = id
	}
	return append([]Block{block}, files...)
}

// released is the text that the model may see instead of the result, or the
// result, and whether it was let through.
func (p *projection) released(call *conversation.ToolCall) (string, bool) {
	switch how, words := call.Delivery(); how {
	case conversation.Delivered:
		text := p.target.text(call.Response)
		if !conversation.Exact(call.Request.Name) {
			text = safetext.Shown(text)
		}
		return text, true
	case conversation.Replaced:
		return cleanText(words), true
	}
	q := call.Inquiry(conversation.KindDeliverResult)
	if q == nil || q.Response == nil || blank(q.Response.Reason) {
		return notReleased, false
	}
	return notReleased + " " + cleanText(q.Response.Reason), false
}

// attached adds the result's files. A file that is absent is named in the text.
func (p *projection) attached(call *conversation.ToolCall, text string) (string, []Block) {
	var files []Block
	for _, b := range p.files(call.Response, call.Result.Attachments) {
		if b.Kind == BlockFile {
			files = append(files, b)
			continue
		}
		text = strings.TrimLeft(text+"\n"+b.Text, "\n")
	}
	return text, files
}

// changedArguments is the line that tells the model of arguments that the user or a hook changed before the
// tool ran, "" if it ran as asked.
func changedArguments(call *conversation.ToolCall) string {
	var arguments []byte
	who := "The user"
	if q := call.Edited(); q != nil && q.Response.Choice() != conversation.AnswerSkip {
		arguments = q.Response.Arguments
		if q.Request.Kind == conversation.KindHook {
			who = "A hook of the user"
		}
	}
	if call.Started != nil {
		if b, ok := call.Started.Body.(*conversation.ToolStarted); ok && len(b.Arguments) > 0 {
			arguments = b.Arguments
		}
	}
	compact, err := conversation.Compact(arguments)
	if len(arguments) == 0 || err != nil {
		return ""
	}
	return who + " changed the arguments to " + string(compact) + ".\n"
}
