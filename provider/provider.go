// Package provider defines a language model: it takes a request and streams parts of an answer.
//
// The request is a pure function of a conversation's events. It only ever grows
// at its end, and it is valid for every provider from any prefix of any
// conversation; the rules are kept by [Project], so that a provider's package
// only translates.
package provider

import (
	"context"
	"encoding/json"
	"iter"

	"jp/conversation"
)

// A Provider answers requests.
type Provider interface {
	// Stream sends the request and yields the chunks of the answer, in order. An error, which is an [*Error]
	// if its class is known, or a chunk of kind ChunkFinish is the last value. Stream ends soon after ctx
	// does. It sends the request once, and leaves it unchanged, since others read it at the same time.
	Stream(ctx context.Context, request *Request) iter.Seq2[Chunk, error]
}

// A ChunkKind is the kind of a chunk.
type ChunkKind int

// The kinds of chunk.
const (
	ChunkMessage   ChunkKind = iota // text of the answer
	ChunkReasoning                  // text of the model's reasoning
	ChunkData                       // text of a structured answer
	ChunkToolCall                   // a tool call's id and name, or a piece of its arguments
	ChunkClose                      // the part of that index is whole
	ChunkFinish                     // the answer is whole
	ChunkKeepAlive                  // the connection lives
)

// A Chunk is one piece of a streamed answer. Pieces of several parts may come interleaved. Index is the
// number of their part.
type Chunk struct {
	Kind   ChunkKind
	Index  int
	Text   string // a piece of text, or of a tool call's arguments
	ToolID string
	Tool   string          // wire name of the tool
	Item   json.RawMessage // with ChunkClose: the item as received, to be sent back unchanged
	Finish conversation.Finish
	Usage  *conversation.Usage
}

// A Request is everything that a model is sent.
type Request struct {
	Model    string // name at the provider
	System   string
	Tools    []Tool
	NoTools  bool // the tools are listed, since history uses them, but calling one is forbidden
	Messages []Message
	Schema   json.RawMessage // for the answer, optional
	CacheKey string          // the same for all requests that begin alike: of a conversation and of its forks; "": unknown

	// Ended is how many model calls of the conversation have ended, and Failed how many tries of this call
	// have failed. Both come from events alone.
	Ended  int
	Failed int

	// Counted is the request's number of tokens, by the server's counts of the calls before; 0: unknown.
	Counted int `json:"-"`

	// Summary means that jp asks for a summary, beside the conversation. Ended is then the number of earlier
	// summaries.
	Summary bool `json:"-"`

	// Encoded has the JSON of earlier requests of the conversation. It may be nil.
	Encoded *EncodedStore `json:"-"`

	turns  *projectedTurns // with which the messages begin; nil: unknown
	called []string        // nil: see the messages
}

// Called are the tools that the messages call, each once, in order of use.
func (r *Request) Called() []string {
	if r.called == nil {
		return calledIn(nil, r.Messages)
	}
	return r.called
}

// A Tool is a tool as the model knows it.
type Tool struct {
	Name        string          `json:"name"` // wire name
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// A Message is one turn of the dialogue as every provider understands it.
type Message struct {
	Role   conversation.Role `json:"role"` // user, assistant, or tool: the results of the calls before
	Blocks []Block           `json:"blocks"`
}

// A BlockKind is the kind of a block of a message.
type BlockKind string

// The kinds of block.
const (
	BlockText      BlockKind = "text"
	BlockReasoning BlockKind = "reasoning"
	BlockToolCall  BlockKind = "tool_call"
	BlockResult    BlockKind = "result"
	BlockFile      BlockKind = "file"
)

// A Block is a piece of a message.
type Block struct {
	Kind      BlockKind       `json:"kind"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`   // wire id of the tool call
	Name      string          `json:"name,omitempty"` // wire name of the tool, or a file's name
	Arguments json.RawMessage `json:"arguments,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	MediaType string          `json:"media_type,omitempty"`
	Data      []byte          `json:"data,omitempty"`
	Item      json.RawMessage `json:"item,omitempty"` // opaque state, unchanged
	Given     bool            `json:"-"`              // the endpoint that is asked gave the id
}
