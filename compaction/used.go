package compaction

import (
	"strings"

	"jp/conversation"
)

// bytesPerToken is a rough measure of text in any language and of code.
const bytesPerToken = 4

// fileTokens is what a picture takes, whatever its bytes.
const fileTokens = 1600

// TextTokens is about how many tokens a model reads in a text of so many bytes.
func TextTokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// FileTokens is about how many tokens a model reads in a file of that type. Text is read as it stands.
func FileTokens(mediaType string, bytes int) int {
	media, _, _ := strings.Cut(mediaType, ";")
	for _, text := range []string{"json", "xml", "yaml", "toml", "javascript"} {
		if strings.HasSuffix(strings.TrimSpace(media), text) {
			return TextTokens(bytes)
		}
	}
	if strings.HasPrefix(media, "text/") {
		return TextTokens(bytes)
	}
	return fileTokens
}

// Used is how many tokens the next request has, by what the newest model call has read and what
// came since; false if that call was sent something else.
func Used(events []*conversation.Event) (int, bool) {
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
			usage = b.Usage
		case *conversation.ToolCallRequest:
			usage = b.Usage
		case *conversation.ToolCallResponse:
			since += textSize(e)
			files += filesTokens(e, b.Attachments)
		case *conversation.ChatRequest:
			since += textSize(e)
			files += filesTokens(e, b.Attachments)
		case *conversation.Note, *conversation.Resumed, *conversation.Instructions:
			since += textSize(e)
		}
		if usage != nil && usage.Input > 0 {
			return usage.Input + usage.Output + TextTokens(since) + files, true
		}
	}
	return 0, false
}

// textSize is how many bytes the text of an event has.
func textSize(e *conversation.Event) int {
	if p := e.Payload(conversation.PayloadText); p != nil {
		return int(p.Bytes)
	}
	text, _ := e.Text()
	return len(text)
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
