package recall

import "errors"

// Errors for the model.
var (
	errNone      = errors.New("there is no conversation yet")
	errUnknown   = errors.New("there is no such conversation")
	errAmbiguous = errors.New("several conversations have such an id")
	errCurrent   = errors.New("this is the conversation that you are in; with include_current it is searched and read, too")
	errTurn      = errors.New("no such turn")
	errBoth      = errors.New("turn and last exclude each other")
	errLines     = errors.New("the pattern has several lines, and a match has one")
	ErrTooLarge  = errors.New("too much for one answer")
	errDamaged   = errors.New("nothing of it can be read")
)
