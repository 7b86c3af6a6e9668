package chat

import (
	"context"
	"io"
	"slices"
	"sync"

	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// An opener shows the blocks of a conversation whole: the newest one, and then each time the one before.
type opener struct {
	shows sync.Mutex // held while a block is shown

	mu     sync.Mutex
	id     conversation.ID // of the turn that ran last; "": none did
	newest int             // seq of the newest block when one was shown last; 0: none was
	at     int             // seq of the block that was shown last
}

// about begins with the newest block of a conversation, "" for the chat's.
func (o *opener) about(id conversation.ID) {
	o.mu.Lock()
	o.id, o.newest, o.at = id, 0, 0
	o.mu.Unlock()
}

// again begins with the newest block.
func (o *opener) again() {
	o.mu.Lock()
	o.newest, o.at = 0, 0
	o.mu.Unlock()
}

// of is the conversation to look in, if the chat is about some other.
func (o *opener) of(id conversation.ID) conversation.ID {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id != "" {
		return o.id
	}
	return id
}

// next is the place of the block to show among the seqs of all that were read, the newest first; -1
// behind the last one.
func (o *opener) next(blocks []int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := 0
	if blocks[0] == o.newest {
		i = slices.IndexFunc(blocks, func(seq int) bool { return seq < o.at })
	}
	return i
}

// shown notes which block is shown; with 0, the next one is the newest again.
func (o *opener) shown(newest, at int) {
	o.mu.Lock()
	o.newest, o.at = newest, at
	o.mu.Unlock()
}

// enough reports whether the events, the newest first, have so many blocks behind the one that was shown last, with the calls that
// they answer.
func (o *opener) enough(back []*conversation.Event, most int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range back {
		if ui.IsBlock(e) && (o.at == 0 || e.Seq < o.at) {
			most--
		}
		if b, is := e.Body.(*conversation.ToolCallResponse); is && most == 0 {
			return back[len(back)-1].Seq <= b.For
		}
		if most == 0 {
			return true
		}
	}
	return false
}

// show shows the next block in the pager. Said is a message for the person if there is none.
func (o *opener) show(ctx context.Context, self ui.Self, chats conversation.ID) (said string, err error) {
	if !o.shows.TryLock() {
		return "", nil
	}
	defer o.shows.Unlock()
	id := o.of(chats)
	if id == "" {
		return nothingToOpen, nil
	}
	r, err := self.Env.FindRepo(ctx)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for most, all := 4, false; ; most *= 4 {
		all = true
		v, err := r.Find().ViewBack(ctx, self.Env.Host, string(id), func(back []*conversation.Event) bool {
			all = !o.enough(back, most)
			return !all
		})
		if err != nil {
			return "", err
		}
		screen := self.Env.OnScreen(v)
		blocks, seqs := screen.Blocks(), []int(nil)
		for _, e := range blocks {
			seqs = append(seqs, e.Seq)
		}
		i := -1
		if len(blocks) > 0 {
			i = o.next(seqs)
		}
		switch {
		case i >= 0:
			o.shown(seqs[0], seqs[i])
			return "", self.Page(func(w io.Writer) { screen.Whole(w, blocks[i]) })
		case all && len(blocks) == 0:
			return nothingToOpen, nil
		case all:
			o.shown(0, 0)
			return "There is no earlier one. Ctrl+O opens the newest again.", nil
		}
	}
}

const nothingToOpen = "There is no output, change or thought to open yet."
