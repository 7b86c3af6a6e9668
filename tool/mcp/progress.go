package mcp

import (
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/conversation"
)

// progressWatch finds the receiver of a call's progress by the token that the server got with the call.
type progressWatch struct {
	mu    sync.Mutex
	calls map[string]func(string)
	last  int
}

// watch makes a token for a call. After end, progress is dropped.
func (w *progressWatch) watch(progress func(string)) (token string, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]func(string){}
	}
	w.last++
	token = "jp-" + strconv.Itoa(w.last)
	w.calls[token] = progress
	return token, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, token)
	}
}

// tell passes on the progress of a running call. It ignores unknown tokens, since a server may name any.
func (w *progressWatch) tell(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	text := progressText(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if progress := w.calls[token]; progress != nil && text != "" {
		progress(text)
	}
}

// progressLength is how many characters of a message are kept.
const progressLength = 200

// progressText is the progress on one line: "3/10, indexing".
func progressText(p *sdk.ProgressNotificationParams) string {
	var done string
	switch {
	case p.Total > 0:
		done = number(p.Progress) + "/" + number(p.Total)
	case p.Progress != 0:
		done = number(p.Progress)
	}
	return conversation.Shorten(words(done, p.Message), progressLength)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
