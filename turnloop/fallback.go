package turnloop

import (
	"errors"

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

// fallsBack reports whether another model may answer in place of this one. The server, the account or the
// model is out of order then, and the request and the key are fine.
func fallsBack(err error) bool {
	var refused *provider.Error
	if !errors.As(err, &refused) {
		return false
	}
	return refused.Class.Transient() || refused.Class == provider.ClassQuota || refused.Class == provider.ClassModel
}

// author attributes an event to the model that answered in place of the turn's.
func (s *substitute) author(model string) []conversation.Draft {
	if !s.in {
		return nil
	}
	return []conversation.Draft{conversation.WithModel(model)}
}
