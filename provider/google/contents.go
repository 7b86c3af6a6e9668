package google

import (
	"encoding/json"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// The roles of a content.
const (
	roleUser  = "user"
	roleModel = "model"
)

// A content is one message. Its parts are jp's own, or raw JSON as it was
// received.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`

	results bool // of functions: these stand alone
}

// contentsOf translates the messages. The user's and the model's alternate, except for results, which are a
// content of their own even if the user speaks next. Gemini cannot continue an unfinished answer, so the
// model's words at the end, without a reply, are left out.
func contentsOf(messages []provider.Message, m model) []content {
	t := translation{model: m, ids: map[string]string{}}
	for _, message := range messages {
		switch message.Role {
		case conversation.RoleAssistant:
			t.add(roleModel, t.answer(message.Blocks))
		case conversation.RoleTool:
			t.results(message.Blocks)
		default:
			t.add(roleUser, asked(message.Blocks))
		}
	}
	for n := len(t.contents); n > 0 && t.contents[n-1].Role == roleModel; n-- {
		t.contents = t.contents[:n-1]
	}
	return t.contents
}

type translation struct {
	model    model
	contents []content
	ids      map[string]string // the server's id of a function call, by its wire id
}

// add appends the parts, to the content before if it has the same role.
func (t *translation) add(role string, parts []any) {
	if len(parts) == 0 {
		return
	}
	if n := len(t.contents); n > 0 && t.contents[n-1].Role == role && !t.contents[n-1].results {
		t.contents[n-1].Parts = append(t.contents[n-1].Parts, parts...)
		return
	}
	t.contents = append(t.contents, content{Role: role, Parts: parts})
}

// asked are the parts of a user's message.
func asked(blocks []provider.Block) []any {
	var parts []any
	for _, b := range blocks {
		if blob, ok := blobOf(b); ok {
			parts = append(parts, part{InlineData: blob})
		} else {
			parts = append(parts, part{Text: textOf(b)})
		}
	}
	return parts
}

// unsigned stands for the missing signature of a function call that another model made, or whose state is
// lost.
const unsigned = "skip_thought_signature_validator"

// A callPart is a function call built anew.
type callPart struct {
	FunctionCall     functionCall `json:"functionCall"`
	ThoughtSignature string       `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

func (t *translation) answer(blocks []provider.Block) []any {
	var parts []any
	called := false
	for _, b := range blocks {
		switch b.Kind {
		case provider.BlockText:
			parts = append(parts, textParts(b)...)
		case provider.BlockReasoning:
			parts = append(parts, thoughts(b)...)
		case provider.BlockToolCall:
			parts = append(parts, t.call(b, !called)...)
			called = true
		}
	}
	return parts
}

// textParts are the received parts if they hold the text. If they only hold the signature behind it, the text
// comes before them. Signed parts stay as they are. The unsigned ones between them become one.
func textParts(b provider.Block) []any {
	received, ok := receivedParts(b.Item)
	if !ok || holdsCall(received) {
		received = nil
	}
	var parts []any
	text := b.Text
	if holdsText(received) {
		text = ""
	}
	for _, p := range received {
		if p.ThoughtSignature == "" && !p.Thought {
			text += string(p.Text)
			continue
		}
		parts = append(appendTextPart(parts, text), p.raw)
		text = ""
	}
	return appendTextPart(parts, text)
}

func appendTextPart(parts []any, text string) []any {
	if strings.TrimSpace(text) == "" {
		return parts
	}
	return append(parts, part{Text: text})
}

// thoughts are the received parts that are worth sending. A thought without a signature is useless to the
// model, and would look like its answer.
func thoughts(b provider.Block) []any {
	received, ok := receivedParts(b.Item)
	if !ok || holdsCall(received) {
		return nil
	}
	var parts []any
	for _, p := range received {
		if p.ThoughtSignature != "" {
			parts = append(parts, p.raw)
		}
	}
	return parts
}

// call translates a function call. If the model requires it, the first call of each step must be signed: of
// every step, since sent messages must stay the same when a later turn begins.
func (t *translation) call(b provider.Block, first bool) []any {
	received, ok := receivedParts(b.Item)
	lacks := first && t.model.signs && (!ok || received[0].ThoughtSignature == "")
	if ok && isCallOf(received, b.Name) && t.unused(received[0].FunctionCall.ID) {
		t.ids[b.ID] = received[0].FunctionCall.ID
		parts := raws(received)
		if lacks {
			parts[0] = received[0].signed(unsigned)
		}
		return parts
	}
	t.ids[b.ID] = b.ID
	call := callPart{FunctionCall: functionCall{ID: b.ID, Name: b.Name, Args: b.Arguments}}
	if ok {
		call.ThoughtSignature = received[0].ThoughtSignature
	}
	if lacks {
		call.ThoughtSignature = unsigned
	}
	return []any{call}
}

// unused reports whether the server's id is new in the request. A call without an id is told apart by its
// place.
func (t *translation) unused(id string) bool {
	for _, taken := range t.ids {
		if id != "" && taken == id {
			return false
		}
	}
	return true
}

// results adds the results of the calls in the content before: one part for each call, and only those. Files
// that cannot be part of a result follow as the user's.
func (t *translation) results(blocks []provider.Block) {
	var responses []*functionResponse
	var late []any
	for _, b := range blocks {
		if b.Kind == provider.BlockResult {
			responses = append(responses, t.response(b))
			continue
		}
		if len(responses) == 0 {
			continue
		}
		last := responses[len(responses)-1]
		blob, ok := blobOf(b)
		switch {
		case !ok:
			appendText(last, textOf(b))
		case t.model.files && mayBeReturned(blob):
			last.Parts = append(last.Parts, returned(blob))
		default:
			late = append(late, part{Text: origin(blob, last.Name, b.ID)}, part{InlineData: blob})
		}
	}
	results := content{Role: roleUser, results: true}
	for _, r := range responses {
		results.Parts = append(results.Parts, part{FunctionResponse: r})
	}
	t.contents = append(t.contents, results)
	t.add(roleUser, late)
}

// The keys of a response, of which it has one.
const (
	keyOutput = "output"
	keyError  = "error"
)

func (t *translation) response(b provider.Block) *functionResponse {
	key := keyOutput
	if b.IsError {
		key = keyError
	}
	return &functionResponse{ID: t.ids[b.ID], Name: b.Name, Response: map[string]string{key: b.Text}}
}

func appendText(r *functionResponse, text string) {
	for key, value := range r.Response {
		r.Response[key] = value + "\n" + text
	}
}
