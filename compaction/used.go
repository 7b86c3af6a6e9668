package compaction

import "jp/conversation"

// bytesPerToken is a rough measure of text in any language and of code.
const bytesPerToken = 4

// Used is how many tokens the next request has, by what the newest model call has read and what
// came since; false if that call was sent something else.
func Used(events []*conversation.Event) (int, bool) {
	since := 0
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		var usage *conversation.Usage
		switch b := e.Body.(type) {
		case *conversation.Compaction, *conversation.CompactionUndone, *conversation.TurnDiscarded, *conversation.Withholding, *conversation.Prompt:
			return 0, false
		case *conversation.ForkOrigin:
			if b.Adopted {
				return 0, false
			}
		case *conversation.ChatResponse:
			if b.Finish.Refused() {
				return 0, false
			}
			usage = b.Usage
		case *conversation.ToolCallRequest:
			usage = b.Usage
		case *conversation.ToolCallResponse:
			since += int(ResultSize(e))
		case *conversation.ChatRequest, *conversation.Note, *conversation.Resumed, *conversation.Instructions:
			text, _ := e.Text()
			since += len(text)
			for _, p := range e.Payloads {
				since += int(p.Bytes)
			}
		}
		if usage != nil && usage.Input > 0 {
			return usage.Input + usage.Output + (since+bytesPerToken-1)/bytesPerToken, true
		}
	}
	return 0, false
}
