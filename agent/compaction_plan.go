package agent

import (
	"slices"

	"jp/compaction"
	"jp/conversation"
	"jp/provider"
)

// A planner estimates the effect of a compaction on the next request.
type planner struct {
	events  []*conversation.Event
	options provider.Options
	window  int     // tokens
	used    int     // tokens of the next request as it is
	basis   string  // the source of used
	target  int     // tokens that should be left of it
	now     int     // estimate of the next request as it is
	scale   float64 // from an estimate to the server's count
}

// measure finds the ratio of the server's count to jp's estimate. If a server refused a request and names no
// limit, measure takes that request's length as the window.
func (p *planner) measure(refused bool) error {
	request, err := provider.BuildAside(p.events, p.options, "")
	if err != nil {
		return err
	}
	p.now = max(1, request.Estimate())
	p.basis = conversation.BasisReported
	if p.used == 0 {
		p.used, p.basis = p.now, conversation.BasisEstimated
	}
	if refused {
		if p.window == 0 {
			p.window = p.used
		}
		if p.used < p.window { // the server counts more
			p.used, p.basis = p.window, conversation.BasisReported
		}
	}
	p.scale = max(float64(p.used)/float64(p.now), 0.25)
	return nil
}

// after is about how many tokens are sent with one more compaction.
func (p *planner) after(b *conversation.Compaction) (int, error) {
	request, err := provider.BuildAside(p.with(b), p.options, "")
	if err != nil {
		return 0, err
	}
	return int(float64(request.Estimate()) * p.scale), nil
}

// with are the events with one more compaction behind them.
func (p *planner) with(b *conversation.Compaction) []*conversation.Event {
	last := p.events[len(p.events)-1]
	return append(p.events[:len(p.events):len(p.events)], &conversation.Event{
		Seq: last.Seq + 1, Turn: last.Turn, Version: conversation.Version, Model: last.Model, Body: b,
	})
}

// plan is the compaction that keeps the request within the target: a trim if that is enough, else a summary
// that covers as little as possible. Results that the model has not read stay as they are. plan is nil if no
// compaction helps.
func (p *planner) plan(in compaction.Bounds) *conversation.Compaction {
	best := p.best(in)
	if best == nil || float64(best.After) > 0.9*float64(p.now)*p.scale {
		return nil
	}
	return best
}

func (p *planner) best(in compaction.Bounds) *conversation.Compaction {
	trim := p.trim(in)
	if trim != nil && trim.After <= p.target {
		return trim
	}
	least := 0
	if len(compaction.Unread(p.events)) > 0 {
		least = 1
	}
	best := trim
	for keep := max(in.Keep, least); keep >= least; keep-- {
		summary, ok := p.cover(compaction.Bounds{Keep: keep, To: in.To})
		if !ok {
			continue
		}
		if best == nil || summary.After < best.After {
			best = summary
		}
		if summary.After <= p.target {
			break
		}
	}
	return best
}

// shorten is a compaction of results that the model has not read, if they are too long even behind a summary
// of everything before them. It is nil if they fit.
func (p *planner) shorten(in compaction.Bounds) *conversation.Compaction {
	unread := compaction.Unread(p.events)
	if len(unread) == 0 {
		return nil
	}
	left := *p
	if best := p.best(in); best != nil {
		if best.After <= p.target {
			return nil
		}
		if best.Kind == conversation.CompactSummary {
			left.events = p.with(best)
		}
	}
	lines := &conversation.Compaction{Kind: conversation.CompactTrim, FromSeq: unread[0].Seq, ToSeq: unread[len(unread)-1].Seq}
	for _, e := range unread {
		lines.Trimmed = append(lines.Trimmed, e.Seq)
	}
	slices.Sort(lines.Trimmed)
	lines.FromSeq, lines.ToSeq = lines.Trimmed[0], lines.Trimmed[len(lines.Trimmed)-1]
	rest, err := left.after(lines)
	if err != nil {
		return nil
	}
	if len(left.events) > len(p.events) {
		rest += summaryTokens
	}
	room := p.target - rest
	if room < p.window/8 { // the rest of the request leaves little
		room = min(p.window/8, p.window-rest)
	}
	short := compaction.Shorten(unread, int(float64(room*4)/p.scale))
	if short == nil {
		return nil
	}
	short.Keep = in.Keep
	return p.weighed(short, 0)
}

func (p *planner) behind(b *conversation.Compaction) planner {
	next := *p
	next.events, next.used, next.basis, next.now = p.with(b), b.After, conversation.BasisEstimated, max(1, int(float64(b.After)/p.scale))
	return next
}

func (p *planner) trim(in compaction.Bounds) *conversation.Compaction {
	b := compaction.Trim(p.events, in)
	if b == nil {
		return nil
	}
	return p.weighed(b, 0)
}

// cover is a summary within the bounds, still without text.
func (p *planner) cover(in compaction.Bounds) (*conversation.Compaction, bool) {
	from, to, ok := compaction.Range(p.events, in)
	if !ok {
		return nil, false
	}
	b := p.weighed(&conversation.Compaction{Kind: conversation.CompactSummary, FromSeq: from, ToSeq: to, Keep: in.Keep}, summaryTokens)
	return b, b != nil
}

func (p *planner) weighed(b *conversation.Compaction, more int) *conversation.Compaction {
	b.Window, b.Before, b.Basis = p.window, p.used, p.basis
	after, err := p.after(b)
	if err != nil {
		return nil
	}
	b.After = after + more
	return b
}

// asks is the request for the summary of a plan: the sent form of its range, and behind it the task. If that
// is too long for the model, asks shortens the longest texts.
func (p *planner) asks(options provider.Options, plan *conversation.Compaction, focus string) (*provider.Request, error) {
	text := compaction.Ask(p.events, plan.ToSeq, focus, p.window)
	var before []*conversation.Event
	for _, e := range p.events {
		if e.Seq <= plan.ToSeq || changesWhatIsSent(e) {
			before = append(before, e)
		}
	}
	request, err := provider.BuildAside(before, options, text)
	if err != nil {
		return nil, err
	}
	if room := int(float64(p.window-max(p.window/10, min(p.window/4, summaryTokens+500))) / p.scale); p.window > 0 && request.Estimate() > room {
		options.NoState = true // it is bound to the whole texts
		if request, err = provider.BuildAside(before, options, text); err != nil {
			return nil, err
		}
		request.Fit(room)
	}
	request.Summary, request.Ended = true, summaries(p.events)
	return request, nil
}

// changesWhatIsSent reports whether an event outside of a range changes the sent form of the range.
func changesWhatIsSent(e *conversation.Event) bool {
	switch e.Type() {
	case conversation.TypeCompaction, conversation.TypeCompactionUndone, conversation.TypePrompt, conversation.TypeWithheld, conversation.TypeTurnDiscarded, conversation.TypeForkOrigin:
		return true
	}
	return false
}

// summaries is how many summaries a model has written for the conversation.
func summaries(events []*conversation.Event) (n int) {
	for _, e := range events {
		if b, ok := e.Body.(*conversation.Compaction); ok && b.Kind == conversation.CompactSummary && b.Model != "" {
			n++
		}
	}
	return n
}
