// Package script is a provider that answers from a file: for demonstrations,
// for tests, and for work without a network.
//
// A script is a list of replies, one for each model call. Which one is given is decided by the request alone,
// from how many calls of the conversation have ended, so a script survives crashes, forks and retries without
// any state of its own. The provider is stateless, and may be used concurrently.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"jp/conversation"
	"jp/provider"
)

// Name is the name of the provider in errors and events.
const Name = "script"

// ErrUsedUp means that a conversation has had all replies of its script.
var ErrUsedUp = errors.New("the script has no reply left")

// A Provider gives the replies of one script.
type Provider struct {
	name      string
	context   int // tokens of a request at most, 0: any
	replies   []reply
	summaries []reply                        // to requests for a summary
	instead   func(*provider.Request) *reply // replaces the reply unless it returns nil; may be nil
}

// Context is how many tokens a request may have, 0 for any number.
func (p *Provider) Context() int { return p.context }

// Stream gives the reply that the request is due, in pieces, at the pace that the script asks for. Past the
// last reply it fails with class invalid, and with class context if the request is longer than the script's
// context.
func (p *Provider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		if n := requestTokens(request); p.context > 0 && n > p.context {
			yield(provider.Chunk{}, &provider.Error{
				Class: provider.ClassContext, Provider: Name,
				Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", n, p.context),
			})
			return
		}
		replies := p.replies
		if request.Summary {
			replies = p.summaries
		}
		r := due(replies, request.Ended)
		if p.instead != nil {
			if other := p.instead(request); other != nil {
				r = other
			}
		}
		if r == nil {
			yield(provider.Chunk{}, p.exhausted(request))
			return
		}
		s := sender{ctx: ctx, reply: r, fails: r.fails(request.Failed), yield: yield}
		s.send(r.chunks(request.Ended), func() provider.Chunk { return finish(r, request) })
	}
}

// due is the reply after that many ended calls, nil past the last one. A reply without a number of times
// counts once.
func due(replies []reply, ended int) *reply {
	for i := range replies {
		if ended -= max(1, replies[i].Times); ended < 0 {
			return &replies[i]
		}
	}
	return nil
}

// calls is for how many calls there is a reply.
func (p *Provider) calls() (n int) {
	for i := range p.replies {
		n += max(1, p.replies[i].Times)
	}
	return n
}

func (p *Provider) exhausted(request *provider.Request) error {
	failed := &provider.Error{Class: provider.ClassInvalid, Provider: Name, Err: ErrUsedUp}
	failed.Message = fmt.Sprintf("%s has %s, and this is model call %d", p.name, plural(p.calls(), "reply", "replies"), request.Ended+1)
	if request.Summary {
		failed.Err = nil
		failed.Message = fmt.Sprintf("%s has %s, and this is summary %d", p.name, plural(len(p.summaries), "[[summary]]", "of [[summary]]"), request.Ended+1)
	}
	return failed
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// A sender gives one reply.
type sender struct {
	ctx   context.Context
	reply *reply
	fails bool
	yield func(provider.Chunk, error) bool
	sent  int // pieces
}

func (s *sender) send(chunks []provider.Chunk, last func() provider.Chunk) {
	for _, c := range chunks {
		if c.Kind != provider.ChunkClose && !s.ready() {
			return
		}
		if !s.yield(c, nil) {
			return
		}
		if c.Kind != provider.ChunkClose {
			s.sent++
		}
	}
	switch {
	case s.fails:
		s.fail()
	case s.reply.Hang:
		<-s.ctx.Done()
		s.yield(provider.Chunk{}, s.ctx.Err())
	default:
		s.yield(last(), nil)
	}
}

// ready waits until the next piece is due. It reports false at the end.
func (s *sender) ready() bool {
	if s.fails && s.sent >= s.reply.FailAfter {
		s.fail()
		return false
	}
	if err := pause(s.ctx, time.Duration(s.reply.ChunkDelay)); err != nil {
		s.yield(provider.Chunk{}, err)
		return false
	}
	return true
}

func (s *sender) fail() {
	s.yield(provider.Chunk{}, &provider.Error{
		Class: provider.Class(s.reply.Fail), Provider: Name, Message: "the script says so",
	})
}

// pause waits, at most until the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// finish is the chunk that ends the reply.
func finish(r *reply, request *provider.Request) provider.Chunk {
	c := provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.Finish(r.Finish), Usage: r.usage(request)}
	switch {
	case c.Finish != "":
	case len(r.ToolCalls) > 0:
		c.Finish = conversation.FinishToolCalls
	default:
		c.Finish = conversation.FinishStop
	}
	return c
}

// bytesPerToken is a rough measure, so that every reply has some usage.
const bytesPerToken = 4

func (r *reply) usage(request *provider.Request) *conversation.Usage {
	if u := r.Usage; u != nil {
		return &conversation.Usage{
			Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.CostUSD,
		}
	}
	output := len(r.Reasoning) + len(r.Message) + len(r.data)
	for _, call := range r.ToolCalls {
		output += len(call.Name) + len(call.text)
	}
	return &conversation.Usage{Input: requestTokens(request), Output: tokens(output)}
}

// requestTokens is about how many tokens a request has.
func requestTokens(request *provider.Request) int {
	sent, err := json.Marshal(request)
	if err != nil {
		sent = nil
	}
	return tokens(len(sent))
}

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }
