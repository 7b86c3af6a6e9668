package anthropic

import (
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/conversation"
	"jp/provider"
)

// contents keeps the rendered messages of the newest request. A message of the next one that has the same
// blocks at the same place shares the content. The zero value is ready to use, by several goroutines.
type contents struct {
	mu     sync.Mutex
	newest []rendered
}

// A rendered is the content of a message. Its source tells whether another message has the same content.
type rendered struct {
	first   *provider.Block // nil: without blocks
	blocks  int
	role    conversation.Role
	budget  bool // the model thinks with a budget
	content []sdk.ContentBlockParamUnion
}

// of is the content of each message for a model. With a nil c it renders all of them.
func (c *contents) of(all []provider.Message, m model) []rendered {
	var known []rendered
	if c != nil {
		c.mu.Lock()
		known = c.newest
		c.mu.Unlock()
	}
	newest := make([]rendered, len(all))
	for i, message := range all {
		if len(message.Blocks) == 0 {
			continue
		}
		r := rendered{first: &message.Blocks[0], blocks: len(message.Blocks), role: message.Role, budget: m.Thinking == thinkingManual}
		if i < len(known) && known[i].first == r.first && known[i].blocks == r.blocks && known[i].role == r.role && known[i].budget == r.budget {
			r.content = known[i].content
		} else {
			r.content = contentOf(m.readable(message))
		}
		newest[i] = r
	}
	if c != nil {
		c.mu.Lock()
		c.newest = newest
		c.mu.Unlock()
	}
	return newest
}
