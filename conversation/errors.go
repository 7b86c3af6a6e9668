package conversation

import "errors"

// Errors of reading and naming.
var (
	// ErrBadID reports that a text is not a conversation id.
	ErrBadID = errors.New("not a conversation id")
	// ErrDamaged reports that stored bytes differ from the event that they claim to be.
	ErrDamaged = errors.New("damaged")
	// ErrNewer reports an event of a newer jp that this one can show but not extend.
	ErrNewer = errors.New("written by a newer jp")
)

// Errors of [TurnBuilder.Build]: the events do not fit the turn, which stays as it was.
var (
	ErrNoRequest         = errors.New("the turn has no request")
	ErrOrphanResponse    = errors.New("a response without its request")
	ErrDuplicateResponse = errors.New("a response to what is already answered")
	ErrOpenCalls         = errors.New("tool calls are still open")
	ErrClosedCall        = errors.New("the tool call already has its response")
	ErrOpenInquiry       = errors.New("a question about the tool call is still open")
	ErrNotHeld           = errors.New("the tool call has no held result to deliver")
	ErrStopped           = errors.New("the turn was stopped or discarded")
	ErrModelCall         = errors.New("the model call has ended, or has no number")
	ErrPartialFinish     = errors.New("a partial answer cannot finish a call")
	ErrTurnStart         = errors.New("a turn starts only by StartTurn")
	ErrNotRecord         = errors.New("only jp's own kinds of event may stand outside a turn")
	ErrBuilt             = errors.New("the turn's changes were already built")
	ErrNotBuilt          = errors.New("changes to a turn were never built")
)

// Errors of a [Journal].
var (
	// ErrHeadMoved reports that the conversation has another newest event than the writer expected. The write
	// had no effect.
	ErrHeadMoved = errors.New("the conversation has moved on")
	// ErrNotFound reports that a conversation or event does not exist.
	ErrNotFound = errors.New("no such conversation")
	// ErrExists says that the id is taken.
	ErrExists = errors.New("the conversation exists")
	// ErrTooLarge says that an event is larger than a store takes.
	ErrTooLarge = errors.New("the event is too large")
	// ErrReadOnlyStore reports that the store refuses writes.
	ErrReadOnlyStore = errors.New("the store is read-only")
	// ErrNoSpace says that the disk, a quota or a file size limit is exhausted.
	ErrNoSpace = errors.New("no space left")
)
