package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/compaction"
	"jp/conversation"
	"jp/provider"
	"jp/turnloop"
)

// A Compactor makes room in one conversation.
type Compactor struct {
	Model    string // "provider/name", of the conversation
	Provider provider.Provider
	Window   int     // tokens that the model can read, 0: unknown
	At       float64 // the part of the window at which to make room
	Keep     int     // cycles that stay as they are
	Auto     bool    // without being told
	// Other opens the model that writes summaries; nil: the conversation's.
	Other  func(context.Context) (SummaryWriter, error)
	Notice func(string)
	Now    func() time.Time

	failed int                 // summaries in a row that failed
	owed   *conversation.Usage // of failed summaries, for the next compaction to record
}

// A SummaryWriter is a model that writes summaries.
type SummaryWriter struct {
	Model    string
	Provider provider.Provider
	Options  provider.Options
}

// afterwards is the target of a compaction, as a part of its threshold, so that jp makes room in few large
// steps.
const afterwards = 0.75

// afterUndo is the part of the window at which to make room behind an undone compaction: the user
// wants the whole context as long as it can be had.
const afterUndo = 0.95

// smallWindow is a window, in tokens, that one long result fills. Servers of such models often cut a request
// that is too long without an error, so a report of less than this part of the estimate counts as that part.
const (
	smallWindow   = 32 << 10
	leastReported = 0.8
)

const summaryTokens = 1500

// leastSummary is the estimated size of the shortest summary. A summary of a shorter text gains nothing.
const leastSummary = 50

// mostFailures is how many summaries may fail in a row before only a refusal of the server asks
// for another one.
const mostFailures = 2

// MakeRoom implements the function of that name of [turnloop.Options].
func (c *Compactor) MakeRoom(ctx context.Context, r turnloop.Room) ([]conversation.Body, error) {
	if !c.Auto {
		return nil, nil
	}
	window := c.window(r)
	used, known := compaction.Used(r.Events)
	if r.Refused == nil {
		if window == 0 {
			return nil, nil
		}
		if !known || window <= smallWindow {
			request, err := provider.Build(r.Events, r.Request)
			if err != nil {
				return nil, nil // the call will report the error
			}
			if least := int(float64(request.Estimate()) * leastReported); !known {
				used = request.Estimate()
			} else if least > used {
				used, known = least, false
			}
		}
		limit := float64(window) * c.At
		if newest := newestChange(r.Events); newest == conversation.TypeCompactionUndone {
			limit = max(limit, float64(window)*afterUndo)
		}
		if float64(used) <= limit {
			return nil, nil
		}
	}
	p := planner{events: r.Events, options: r.Request, window: window, used: used}
	if err := p.measure(r.Refused != nil); err != nil {
		return nil, err
	}
	if !known && r.Refused == nil {
		p.basis = conversation.BasisEstimated
	}
	p.target = int(float64(p.window) * c.At * afterwards)
	in := compaction.Bounds{Keep: c.Keep, To: -1}
	var made []conversation.Body
	if short := p.shorten(in); short != nil {
		short.By = conversation.ByLimit
		made, p = append(made, short), p.behind(short)
		if p.used <= p.target {
			return made, nil
		}
	}
	plan := p.plan(in)
	if plan == nil {
		return made, nil
	}
	plan.By = conversation.ByLimit
	if plan.Kind == conversation.CompactTrim {
		return append(made, plan), nil
	}
	err := errOften
	if c.failed < mostFailures || r.Refused != nil {
		err = c.summarise(ctx, r, p, plan, "")
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && r.Refused == nil: // the server may still take the request
		if err != errOften {
			c.failed++
			c.Notice(fmt.Sprintf("jp could not compact the conversation: %v; it goes on without", err))
		}
		if trim := p.trim(in); trim != nil {
			trim.By, trim.Usage = conversation.ByLimit, c.addOwed(nil)
			made = append(made, trim)
		}
		return made, nil
	case err != nil:
		c.Notice(fmt.Sprintf("No summary could be had: %v; jp goes on with the list of the newest events in its place", err))
		plan.Usage = c.addOwed(nil)
	default:
		c.failed = 0
	}
	return append(made, plan), nil
}

// errOften says that summaries failed too often to ask for another one.
var errOften = errors.New("summaries failed too often")

// window is how many tokens the model can read: by its server's error, by jp's table, or by an earlier
// compaction.
func (c *Compactor) window(r turnloop.Room) int {
	var refused *provider.Error
	if errors.As(r.Refused, &refused) {
		if said := provider.WindowIn(refused.Message); said > 0 {
			c.Window = said
		}
	}
	if c.Window > 0 {
		return c.Window
	}
	for i := len(r.Events) - 1; i >= 0; i-- {
		if b, ok := r.Events[i].Body.(*conversation.Compaction); ok && b.Window > 0 && r.Events[i].Model == c.Model {
			return b.Window
		}
	}
	return 0
}

// newestChange is the type of the newest event about compactions, "" if there is none.
func newestChange(events []*conversation.Event) conversation.Type {
	for i := len(events) - 1; i >= 0; i-- {
		switch t := events[i].Type(); t {
		case conversation.TypeCompaction, conversation.TypeCompactionUndone:
			return t
		}
	}
	return ""
}

// errNothing means that there is nothing to compact.
var errNothing = errors.New("there is nothing to compact")

// A CompactionOrder is the user's wish for a compaction.
type CompactionOrder struct {
	To       int  // the newest event to cover, negative: as far as Keep leaves
	Keep     int  // cycles that stay as they are
	Exactly  bool // at least Keep cycles, however full the context is
	Focus    string
	TrimOnly bool
}

// plan is the compaction of an order, without a summary. It fails with [errNothing].
func (c *Compactor) plan(r turnloop.Room, o CompactionOrder) (*conversation.Compaction, error) {
	p, err := c.planner(r)
	if err != nil {
		return nil, err
	}
	var plan *conversation.Compaction
	full := p.window == 0 || float64(p.used) > float64(p.window)*c.At
	p.target = int(float64(p.window) * c.At * afterwards)
	for keep := o.Keep; ; keep-- {
		in := compaction.Bounds{Keep: keep, To: o.To}
		if o.TrimOnly {
			if next := p.trim(in); next != nil {
				plan = next
			}
		} else if next, ok := p.cover(in); ok {
			plan = next
		}
		if keep == 0 || o.Exactly || plan != nil && (p.window == 0 || plan.After <= p.target) || plan == nil && !full {
			break
		}
	}
	if plan == nil || plan.Kind == conversation.CompactSummary && plan.After-summaryTokens+leastSummary >= plan.Before {
		return nil, errNothing
	}
	plan.By, plan.Focus = conversation.ByUser, o.Focus
	return plan, nil
}

func (c *Compactor) planner(r turnloop.Room) (planner, error) {
	used, _ := compaction.Used(r.Events)
	p := planner{events: r.Events, options: r.Request, window: c.window(r), used: used}
	return p, p.measure(false)
}

// Do carries out an order, without recording the compaction.
func (c *Compactor) Do(ctx context.Context, r turnloop.Room, o CompactionOrder) (*conversation.Compaction, error) {
	plan, err := c.plan(r, o)
	if err != nil || plan.Kind == conversation.CompactTrim {
		return plan, err
	}
	p, err := c.planner(r)
	if err != nil {
		return nil, err
	}
	if err := c.summarise(ctx, r, p, plan, o.Focus); err != nil {
		return nil, err
	}
	return plan, nil
}

// errNoSummary means that a model gave no summary.
var errNoSummary = errors.New("the model summarised nothing")

// errUncited means that no item of a model's summary names its events.
var errUncited = errors.New("the model's summary cites no events, and jp keeps only what does")

// errLonger means that a model's summary makes no room.
var errLonger = errors.New("the summary is as long as what it stands for")

// summarise asks a model for the summary that a plan lacks, in one request.
func (c *Compactor) summarise(ctx context.Context, r turnloop.Room, p planner, plan *conversation.Compaction, focus string) error {
	w := SummaryWriter{Model: c.Model, Provider: c.Provider, Options: r.Request}
	if c.Other != nil {
		other, err := c.Other(ctx)
		if err != nil {
			return err
		}
		w = other
		w.Options.Content = r.Request.Content
	}
	request, err := p.asks(w.Options, plan, focus)
	if err != nil {
		return err
	}
	began := c.Now()
	ctx, done := r.Asking(ctx)
	defer done()
	answer, usage, err := read(ctx, w.Provider, request)
	if err != nil {
		return err
	}
	if usage != nil {
		usage.DurationMS = c.Now().Sub(began).Milliseconds()
	}
	draft := compaction.Parse(answer, r.Events, plan.ToSeq)
	if len(draft.Items) == 0 {
		c.owed = c.addOwed(usage)
		if draft.Dropped > 0 {
			return errUncited
		}
		return errNoSummary
	}
	with := *plan
	with.Items, with.Content, with.Dropped, with.Model, with.Usage = draft.Items, draft.Text(), draft.Dropped, w.Model, usage
	if with.After, err = p.after(&with); err != nil {
		return err
	}
	if with.After >= with.Before {
		c.owed = c.addOwed(usage)
		return errLonger
	}
	with.Usage = c.addOwed(usage)
	*plan = with
	return nil
}

// addOwed is a usage plus that of the failed summaries before it.
func (c *Compactor) addOwed(u *conversation.Usage) *conversation.Usage {
	owed := c.owed
	c.owed = nil
	if owed == nil || u == nil {
		return cmp.Or(u, owed)
	}
	return &conversation.Usage{
		Input: owed.Input + u.Input, Output: owed.Output + u.Output, CacheRead: owed.CacheRead + u.CacheRead, CacheWrite: owed.CacheWrite + u.CacheWrite,
		CostUSD: conversation.AddDecimals(owed.CostUSD, u.CostUSD), DurationMS: owed.DurationMS + u.DurationMS,
	}
}

// read is the text of an answer. It drops tool calls, and stops reading behind the length of any summary.
func read(ctx context.Context, p provider.Provider, request *provider.Request) (string, *conversation.Usage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var text strings.Builder
	for chunk, err := range p.Stream(ctx, request) {
		switch {
		case err != nil:
			return "", nil, err
		case chunk.Kind == provider.ChunkMessage || chunk.Kind == provider.ChunkData:
			text.WriteString(chunk.Text)
		case chunk.Kind == provider.ChunkFinish:
			return text.String(), chunk.Usage, nil
		}
		if text.Len() > compaction.MostAnswer {
			return text.String(), nil, nil
		}
	}
	return "", nil, &provider.Error{Class: provider.ClassDisconnect, Message: "the answer has no end"}
}
