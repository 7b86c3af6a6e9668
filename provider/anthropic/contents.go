package anthropic

import (
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/conversation"
	"jp/provider"
)

// contents keeps what the messages of the newest request were rendered to. A message of the next
// one that has the same blocks shares the content. The zero value is ready to use, by several
// goroutines.
type contents struct {
	mu     sync.Mutex
	newest map[*provider.Block]rendered // by the first block
}

type rendered struct {
	role    conversation.Role
	blocks  int
	content []sdk.ContentBlockParamUnion
}

// of is the content of each message. A nil c keeps nothing.
func (c *contents) of(all []provider.Message) [][]sdk.ContentBlockParamUnion {
	var known map[*provider.Block]rendered
	if c != nil {
		c.mu.Lock()
		known = c.newest
		c.mu.Unlock()
	}
	newest := make(map[*provider.Block]rendered, len(all))
	content := make([][]sdk.ContentBlockParamUnion, len(all))
	for i, m := range all {
		if len(m.Blocks) == 0 {
			continue
		}
		r := known[&m.Blocks[0]]
		if r.role != m.Role || r.blocks != len(m.Blocks) {
			r = rendered{m.Role, len(m.Blocks), contentOf(m)}
		}
		newest[&m.Blocks[0]], content[i] = r, r.content
	}
	if c != nil {
		c.mu.Lock()
		c.newest = newest
		c.mu.Unlock()
	}
	return content
}
