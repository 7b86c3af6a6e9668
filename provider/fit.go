package provider

import (
	"encoding/json"
	"slices"

	"jp/compaction"
	"jp/conversation"
)

// leastText is how many bytes stay of a text at least, however little room there is.
const leastText = 120

// noteBytes is about the length of the line for omitted text.
const noteBytes = 90

// Fit shortens the texts of a request, but for its last one, until it has at most that many tokens by its
// length. Files, long arguments and the definitions of tools go first. Then all long texts keep the same
// number of bytes. If that is still too much, the oldest messages go.
func (r *Request) Fit(tokens int) {
	var texts []*string
	for i := range r.Messages {
		m := &r.Messages[i]
		m.Blocks = slices.Clone(m.Blocks)
		for j := range m.Blocks {
			b := &m.Blocks[j]
			if b.Kind == BlockFile && m.Role == conversation.RoleUser {
				*b = Block{Kind: BlockText, Text: "[file " + quoted(b.Name) + " is not sent]"}
			}
			if len(b.Arguments) > leastText+noteBytes {
				b.Arguments = json.RawMessage("{}")
			}
		}
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b Block) bool { return b.Kind == BlockFile })
		for j := range m.Blocks {
			if i < len(r.Messages)-1 || j < len(m.Blocks)-1 {
				texts = append(texts, &m.Blocks[j].Text)
			}
		}
	}
	r.called = nil
	r.Tools = withStubs(nil, r.Called())
	if over := r.Estimate() - tokens; over > 0 {
		room := -over
		for _, text := range texts {
			room += compaction.TextTokens(len(*text))
		}
		most := max(leastText, shareOf(texts, room)-noteBytes)
		for _, text := range texts {
			if len(*text) > most+noteBytes {
				*text = compaction.Shortened(*text, most, "to make room")
			}
		}
	}
	for r.Estimate() > tokens {
		next := slices.IndexFunc(r.Messages[1:], func(m Message) bool { return m.Role == conversation.RoleUser })
		if next < 0 {
			break
		}
		r.Messages = r.Messages[next+1:]
	}
}

// shareOf is how many bytes each text may have so that all of them have at most that many tokens.
func shareOf(texts []*string, tokens int) int {
	sizes := make([]int, len(texts))
	for i, text := range texts {
		sizes[i] = len(*text)
	}
	slices.Sort(sizes)
	left := tokens * 4
	for i, size := range sizes {
		if share := left / (len(sizes) - i); size > share {
			return share
		}
		left -= size
	}
	return left
}
