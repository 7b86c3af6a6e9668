package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/provider"
)

// A substitute is the state of a turn in which another model may answer.
type substitute struct {
	next   int                    // the next fallback of the turn
	in     bool                   // a fallback is asked
	failed int                    // tries of the present call before the model was asked
	why    *conversation.Fallback // to be recorded with the first answer; nil: it is recorded
}

// take changes to a model that is asked in place of the one that failed for good: to the next
// fallback, or, if there is none and the model is not there, to the one that a person chose. It is false if
// there is none.
func (s *substitute) take(ctx context.Context, l *Loop, cause error) (bool, error) {
	if !fallsBack(cause) {
		return false, nil
	}
	first := l.opts.Model
	if s.why != nil {
		first = s.why.Model
	}
	for l.opts.Fallback != nil {
		c, err := l.opts.Fallback(ctx, s.next)
		if c == nil && err == nil {
			break
		}
		s.next++
		if err != nil {
			l.opts.Observer.Noticed(fmt.Sprintf("model_fallback: %v", err))
			continue
		}
		l.opts.Observer.Noticed(fmt.Sprintf("%v; asking %s for the rest of the turn", cause, c.Model))
		reason := conversation.Shorten(l.opts.Redact(cause.Error()), maxCause)
		s.in, s.why = true, &conversation.Fallback{Model: first, Reason: reason}
		s.change(l, c)
		return true, nil
	}
	var refused *provider.Error
	if l.opts.Replace == nil || s.in || !errors.As(cause, &refused) || refused.Class != provider.ClassModel {
		return false, nil
	}
	c, err := l.opts.Replace(ctx, cause)
	if c == nil || err != nil {
		return false, err
	}
	delta, err := json.Marshal(map[string]string{"model": c.Model})
	if err != nil {
		return false, err
	}
	if err := l.build(ctx, l.stream.CurrentTurn().AddRecord(&conversation.ConfigDelta{Delta: delta})); err != nil {
		return false, err
	}
	s.change(l, c)
	return true, nil
}

// change asks another model from now on.
func (s *substitute) change(l *Loop, c *Candidate) {
	l.opts.Provider, l.opts.API, l.opts.Endpoint, l.opts.Account, l.opts.Model = c.Provider, c.API, c.Endpoint, c.Account, c.Model
	l.opts.Window = func() int { return c.Window }
	l.model.stateRejected = false
	s.failed = l.failed
}

// fallsBack reports whether another model may answer what this one does not. It is the server that is out of
// order, the account, or the model, and not the request or the key.
func fallsBack(err error) bool {
	var refused *provider.Error
	if !errors.As(err, &refused) {
		return false
	}
	return refused.Class.Transient() || refused.Class == provider.ClassQuota || refused.Class == provider.ClassModel
}

// author is what an event says of a model that answered in place of the turn's.
func (s *substitute) author(model string) []conversation.Draft {
	if !s.in {
		return nil
	}
	return []conversation.Draft{conversation.WithModel(model)}
}
