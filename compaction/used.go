package compaction

import (
	"strings"

	"jp/conversation"
)

// bytesPerToken is a rough measure of text in any language and of code.
const bytesPerToken = 4

// fileTokens is the cost of a picture of any size.
const fileTokens = 1600

// TextTokens is about how many tokens a model reads in a text of so many bytes.
func TextTokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// isText reports whether files of that type are sent as they stand.
func isText(mediaType string) bool {
	media, _, _ := strings.Cut(mediaType, ";")
	for _, text := range []string{"json", "xml", "yaml", "toml", "javascript"} {
		if strings.HasSuffix(strings.TrimSpace(media), text) {
			return true
		}
	}
	return strings.HasPrefix(media, "text/")
}

// FileTokens is about how many tokens a model reads in a file of that type. Text is read as it stands.
func FileTokens(mediaType string, bytes int) int {
	if isText(mediaType) {
		return TextTokens(bytes)
	}
	return fileTokens
}

// Used is the size of the next request in tokens, from the reported size of the newest model call and the
// later events. It is false if that call had another input, or if its server reports less than the texts can
// be.
func Used(events []*conversation.Event) (int, bool) {
	used, known := reported(events)
	if !known || used < leastUsed(events) {
		return 0, false
	}
	return used, true
}

// mostBytesPerToken is more than any tokenizer makes of text.
const mostBytesPerToken = 10

// leastUsed is how many tokens the texts that are sent have at least.
func leastUsed(events []*conversation.Event) int {
	force, gone := InForce(events), discarded(events)
	bytes := 0
	for _, e := range events {
		room, trimmed := force.Trimmed[e.Seq]
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			if b.Part == conversation.PartReasoning || b.Partial {
				continue
			}
		case *conversation.ChatRequest, *conversation.ToolCallRequest, *conversation.ToolCallResponse:
		default:
			continue
		}
		switch {
		case force.Covers(e.Seq) || gone[e.Seq]:
		case trimmed:
			bytes += room
		default:
			bytes += textSize(e)
		}
	}
	return bytes / mostBytesPerToken
}

// reported is [Used] by the servers' reports alone.
func reported(events []*conversation.Event) (int, bool) {
	since, files := 0, 0 // bytes of texts, tokens of files
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
			if usage = b.Usage; !counts(usage) && b.Part != conversation.PartReasoning && !b.Partial {
				since += textSize(e)
			}
		case *conversation.ToolCallRequest:
			if usage = b.Usage; !counts(usage) {
				since += textSize(e)
			}
		case *conversation.ToolCallResponse:
			since += textSize(e)
			files += filesTokens(e, b.Attachments)
		case *conversation.ChatRequest:
			since += textSize(e)
			files += filesTokens(e, b.Attachments)
		case *conversation.Note, *conversation.Resumed, *conversation.Instructions:
			since += textSize(e)
		}
		if counts(usage) {
			return usage.Input + usage.Output + TextTokens(since) + files, true
		}
	}
	return 0, false
}

// counts reports whether a server says how many tokens it read.
func counts(u *conversation.Usage) bool { return u != nil && u.Input > 0 }

// textSize is how many bytes the text of an event has.
func textSize(e *conversation.Event) int {
	if p := e.Payload(conversation.PayloadText); p != nil {
		return int(p.Bytes)
	}
	return e.TextBytes()
}

// filesTokens is about how many tokens the files of an event have.
func filesTokens(e *conversation.Event, attached []conversation.Attachment) (tokens int) {
	for _, a := range attached {
		if p := e.Payload(a.Name); p != nil {
			tokens += FileTokens(a.MediaType, int(p.Bytes))
		}
	}
	return tokens
}
