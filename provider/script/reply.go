package script

import (
	"fmt"
	"unicode/utf8"

	"jp/provider"
)

// chunks are the pieces of the reply, without its end. A reply that hangs
// leaves its last text open.
func (r *reply) chunks(ended int) []provider.Chunk {
	c := cutter{size: r.ChunkSize, raw: r.RawChunks}
	c.text(provider.ChunkReasoning, r.Reasoning)
	c.text(provider.ChunkMessage, r.Message)
	c.text(provider.ChunkData, r.data)
	for i := range r.ToolCalls {
		c.toolCall(&r.ToolCalls[i], fmt.Sprintf("call_%d_%d", ended+1, i+1))
	}
	if r.Hang && len(r.ToolCalls) == 0 && len(c.chunks) > 0 {
		return c.chunks[:len(c.chunks)-1]
	}
	return c.chunks
}

// A cutter cuts parts into pieces, and numbers the parts.
type cutter struct {
	size   int // bytes of a piece; 0: all at once
	raw    bool
	chunks []provider.Chunk
	index  int
}

func (c *cutter) text(kind provider.ChunkKind, text string) {
	if text == "" {
		return
	}
	for _, piece := range c.cut(text) {
		c.add(provider.Chunk{Kind: kind, Text: piece})
	}
	c.close()
}

func (c *cutter) toolCall(call *toolCall, id string) {
	if call.ID != "" {
		id = call.ID
	}
	for i, piece := range c.cut(call.text) {
		chunk := provider.Chunk{Kind: provider.ChunkToolCall, Text: piece}
		if i == 0 {
			chunk.ToolID, chunk.Tool = id, provider.WireName(call.Name)
		}
		c.add(chunk)
	}
	c.close()
}

func (c *cutter) add(chunk provider.Chunk) {
	chunk.Index = c.index
	c.chunks = append(c.chunks, chunk)
}

func (c *cutter) close() {
	c.add(provider.Chunk{Kind: provider.ChunkClose})
	c.index++
}

// cut cuts text into pieces of at most size bytes, at least one. Characters
// stay whole, unless the script asks for raw pieces.
func (c *cutter) cut(text string) []string {
	if c.size <= 0 {
		return []string{text}
	}
	var pieces []string
	for len(text) > c.size {
		end := c.size
		for !c.raw && end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		if end == 0 {
			_, end = utf8.DecodeRuneInString(text)
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	if text == "" && len(pieces) > 0 {
		return pieces
	}
	return append(pieces, text)
}
