package provider

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"jp/compaction"
	"jp/conversation"
	"jp/internal/lazy"
)

// BuildAside makes a request that adds a text behind the events, without an event for it. The messages before
// the text are those of any request of these events.
func BuildAside(events []*conversation.Event, o Options, text string) (*Request, error) {
	target := o.Target()
	if target.Model == "" {
		return nil, fmt.Errorf("%w: %q", ErrModel, o.Model)
	}
	system, tools, err := promptInForce(events, target, o)
	if err != nil {
		return nil, err
	}
	messages, turns := knownMessages(events, target, o.Known)
	called := turns.calls(messages)
	counted, known := compaction.Used(events)
	if known {
		counted += compaction.TextTokens(len(text))
	}
	block := Block{Kind: BlockText, Text: cleanText(text)}
	if n := len(messages); n > 0 && messages[n-1].Role == conversation.RoleUser {
		last := messages[n-1]
		last.Blocks = append(last.Blocks[:len(last.Blocks):len(last.Blocks)], block)
		messages = append(messages[:n-1:n-1], last)
	} else {
		messages = append(messages, Message{Role: conversation.RoleUser, Blocks: []Block{block}})
	}
	return &Request{
		Model: target.Model, System: cleanText(system), Tools: withStubs(tools, called), NoTools: o.NoTools, Messages: messages,
		Ended: turns.endedCalls(events), Counted: counted, Encoded: o.Known.store(),
	}, nil
}

// Tokens is about how many tokens the request has: by the server's own count of it, if known, else by
// [Request.Estimate].
func (r *Request) Tokens() int {
	if r.Counted > 0 {
		return r.Counted
	}
	return r.Estimate()
}

// Estimate is about how many tokens a model reads in the request, by its length alone.
func (r *Request) Estimate() int {
	size, files := len(r.System), 0
	for _, t := range r.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			size += len(b.Text) + len(b.Name) + len(b.Arguments) + len(b.Item) + 8
			if b.Kind == BlockFile {
				files += compaction.FileTokens(b.MediaType, len(b.Data))
			}
		}
	}
	return compaction.TextTokens(size) + files
}

// windowWords are the words with which servers say how much a model can read.
var windowWords = []func() *regexp.Regexp{
	lazy.Regexp(`(?i)maximum context length (?:of|is) (\d[\d,]*)`),
	lazy.Regexp(`(?i)tokens? > (\d[\d,]*) maximum`),
	lazy.Regexp(`(?i)maximum number of tokens allowed \(?(\d[\d,]*)`),
	lazy.Regexp(`(?i)exceed(?:s|ed)? (?:the )?(?:available |model'?s? )?(?:maximum )?context (?:size|length|window|limit)[^\d]{0,40}\(?(\d[\d,]*)`),
	lazy.Regexp(`(?i)context (?:size|length|window|limit)(?: is| of|:)? \(?(\d[\d,]*)`),
	lazy.Regexp(`(?i)n_ctx["=: ]+(\d+)`),
}

// WindowIn is how many tokens the model can read, from an error text of its server, 0 if the text lacks it.
func WindowIn(words string) int {
	for _, r := range windowWords {
		if found := r().FindStringSubmatch(words); found != nil {
			if n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", "")); err == nil && n >= 512 && n < 1<<31 {
				return n
			}
		}
	}
	return 0
}
