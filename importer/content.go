package importer

import (
	"encoding/json"
	"hash/maphash"
	"strings"

	"jp/conversation"
	"jp/redact"
)

// A content compares the text of a recorded event with the text that the file has now. To save memory it has
// a hash of the text, and the text itself only if secrets were replaced in it. A long text in which secrets
// were replaced is exempt.
type content struct {
	sum    uint64  // 0 if exempt
	masked *string // nil if no secret was replaced
}

var contentSeed = maphash.MakeSeed()

// contentOf is the content of an event with words of the session. Other events follow from it, and so does an
// import's text in place of a result.
func contentOf(e *conversation.Event) content {
	text, ok := comparable(e)
	if !ok {
		return content{}
	}
	const most = 1 << 16 // bytes of a text that is kept
	switch {
	case !masked(text):
		return content{sum: maphash.String(contentSeed, text)}
	case len(text) <= most:
		return content{sum: maphash.String(contentSeed, text), masked: &text}
	}
	return content{}
}

// comparable is the text of an event for comparison. ok is false if it is exempt, or a part of it is missing
// here.
func comparable(e *conversation.Event) (text string, ok bool) {
	switch e.Body.(type) {
	case *conversation.ChatRequest, *conversation.ChatResponse, *conversation.ToolCallRequest, *conversation.ToolCallResponse, *conversation.Note:
		text, ok = e.Text()
		return text, ok && e.Missing() == 0
	}
	return "", false
}

// differs reports whether an event of the file has another text. A secret that was replaced in either text
// may be any text in the other one.
func (c content) differs(e *conversation.Event) bool {
	text, ok := comparable(e)
	switch {
	case !ok || c.sum == 0 || c.sum == maphash.String(contentSeed, text):
		return false
	case c.masked == nil:
		return !masked(text)
	case e.Type() == conversation.TypeToolCallRequest:
		return !fits(plainJSON(*c.masked), plainJSON(text))
	}
	return !fits(*c.masked, text)
}

// masked reports whether secrets were replaced in a text.
func masked(text string) bool {
	found := false
	redact.Restore(text, func(string) (string, bool) { found = true; return "", true })
	return found
}

// fits reports whether a text is one in which secrets were replaced, but for those.
func fits(pattern, text string) bool {
	const secret = "\x00"
	pattern, _ = redact.Restore(pattern, func(string) (string, bool) { return secret, true })
	parts := strings.Split(pattern, secret)
	rest, ok := strings.CutPrefix(text, parts[0])
	for i := 1; ok && i < len(parts); i++ {
		if i == len(parts)-1 {
			return strings.HasSuffix(rest, parts[i])
		}
		_, rest, ok = strings.Cut(rest, parts[i])
	}
	return ok && rest == ""
}

// plainJSON writes a JSON value in one way: a replaced secret may have changed how the string
// around it is written.
func plainJSON(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	plain, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(plain)
}
