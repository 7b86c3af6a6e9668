package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/internal/lazy"
)

// A Target is the recipient of a request. It decides which opaque state may go along: state goes only to the
// API and the model family that made it, and if they are known, only to the same endpoint and account.
type Target struct {
	API      string
	Model    string // name at the provider
	Endpoint string
	Account  string // eight hex digits that tell keys apart
	NoState  bool   // without state
	// Content reads a payload. It reports false if it is absent. Nil: only payloads in memory are present.
	Content func(conversation.Payload) ([]byte, bool)
}

// state is a model's opaque state as an event keeps it.
type state struct {
	API      string          `json:"api"`
	Model    string          `json:"model"`
	Endpoint string          `json:"endpoint,omitempty"`
	Account  string          `json:"account,omitempty"`
	Item     json.RawMessage `json:"item,omitempty"`
	Name     string          `json:"name,omitempty"` // of a tool call, as the model wrote it, where jp repaired it
}

// State wraps an item that the target sent, as an event's Provider field keeps it; nil if there is no item,
// or it is not JSON.
func (t Target) State(item json.RawMessage) json.RawMessage {
	if len(item) == 0 {
		return nil
	}
	return t.wrapped(item, "")
}

// StateOf is the state to keep with a part of the target's answer, or nil. It has the part's item, if that
// can be kept as it came, and wrote, the model's own name for a tool call, if jp repaired it. A tool call is
// marked as the endpoint's even without them, since its id goes back there as it is.
func (t Target) StateOf(p Part, wrote string) json.RawMessage {
	item := p.Item
	if len(item) > 0 && conversation.CheckJSON(item) != nil {
		item = nil
	}
	if len(item) == 0 && wrote == "" && (p.Kind != ChunkToolCall || !isKeptID(p.ToolID)) {
		return nil
	}
	return t.wrapped(item, wrote)
}

func (t Target) wrapped(item json.RawMessage, wrote string) json.RawMessage {
	wrapped, err := json.Marshal(state{API: t.API, Model: t.Model, Endpoint: t.Endpoint, Account: t.Account, Item: item, Name: wrote})
	if err != nil {
		return nil
	}
	return wrapped
}

// stateOf reads the state that an event keeps. kept is false if there is none.
func (t Target) stateOf(e *conversation.Event) (state, bool) {
	kept := []byte(e.Provider)
	if p := e.Payload(conversation.PayloadProvider); len(kept) == 0 && p != nil {
		kept, _ = t.content(*p)
	}
	var s state
	if len(kept) == 0 || json.Unmarshal(kept, &s) != nil {
		return state{}, false
	}
	return s, true
}

// gave reports whether the target's endpoint is known to have sent the event's content, with any model and
// key.
func (t Target) gave(e *conversation.Event) bool {
	s, kept := t.stateOf(e)
	return kept && s.API == t.API && !differ(s.Endpoint, t.Endpoint)
}

// item is the event's item if the target may have it, else nil.
func (t Target) item(e *conversation.Event) json.RawMessage {
	if t.NoState {
		return nil
	}
	s, kept := t.stateOf(e)
	if !kept || len(s.Item) == 0 || string(s.Item) == "null" {
		return nil
	}
	if !t.gave(e) || family(s.Model) != family(t.Model) || differ(s.Account, t.Account) {
		return nil
	}
	if holdsNUL(s.Item) {
		return nil // it cannot be sent, and its absence would change the received answer
	}
	return s.Item
}

func differ(was, is string) bool { return was != "" && is != "" && was != is }

var releaseSuffix = lazy.Regexp(`([-@](latest|\d{8}|\d{4}-\d{2}-\d{2}))+$`)

// family is the model's name without the date of its release.
func family(model string) string { return releaseSuffix().ReplaceAllString(model, "") }

func (t Target) content(p conversation.Payload) ([]byte, bool) {
	if len(p.Data) > 0 || p.Bytes == 0 && p.OID == "" {
		return p.Data, true
	}
	if t.Content == nil {
		return nil, false
	}
	return t.Content(p)
}

// text is the event's exact text. If the rest of it is absent, the present part comes with a line that says
// so.
func (t Target) text(e *conversation.Event) string {
	text, _ := e.Text()
	if p := e.Payload(conversation.PayloadText); p != nil {
		if exact, ok := t.content(*p); ok {
			return cleanText(string(exact))
		}
		return cleanText(text) + fmt.Sprintf("\n[the rest of this text is not available: %d bytes in all]", p.Bytes)
	}
	return cleanText(text)
}

// files are the blocks of the attachments of the event. A text names an absent or empty one.
func (t Target) files(e *conversation.Event, attached []conversation.Attachment) []Block {
	var blocks []Block
	for _, a := range attached {
		name, media := cleanText(a.Name), cleanText(a.MediaType)
		p := e.Payload(a.Name)
		if p == nil {
			p = &conversation.Payload{Name: a.Name, OID: "?"}
		}
		data, ok := t.content(*p)
		switch {
		case !ok:
			blocks = append(blocks, Block{Kind: BlockText, Text: missingFile(name, media, p.Bytes)})
		case len(data) == 0:
			blocks = append(blocks, Block{Kind: BlockText, Text: fmt.Sprintf("[file %s is empty]", quoted(name))})
		default:
			blocks = append(blocks, Block{Kind: BlockFile, Name: name, MediaType: media, Data: data})
		}
	}
	return blocks
}

func missingFile(name, media string, size int64) string {
	if media != "" {
		media = " (" + strings.TrimSpace(media) + ")"
	}
	return fmt.Sprintf("[file %s%s, %d bytes, is not available]", quoted(name), media, size)
}

func withheldFile(name, media string, size int64) string {
	return fmt.Sprintf("[file %s (%s, %d bytes) is not shown: the server refused it]", quoted(name), strings.TrimSpace(media), size)
}

// quoted is a name as a JSON string, so that it cannot pass for anything else.
func quoted(name string) string {
	text, err := json.Marshal(name)
	if err != nil {
		return `"?"`
	}
	return string(text)
}
