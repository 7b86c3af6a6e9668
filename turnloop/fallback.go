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
