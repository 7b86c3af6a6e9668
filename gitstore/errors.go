package gitstore

import (
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Errors of reading a chain of commits.
var (
	// ErrStripped says that another program rewrote the history and lost the
	// headers that make a commit an event. It is a kind of damage.
	ErrStripped = fmt.Errorf("%w: history was rewritten by another program", conversation.ErrDamaged)
	// ErrShallow says that the chain goes on in commits that were not fetched.
	ErrShallow = errors.New("incomplete here: older events were not fetched")
)

// ErrRefsLocked says that git's lock of all packed refs is there, which a killed
// git leaves behind.
var ErrRefsLocked = errors.New("git has locked the packed refs")

// ErrRefConflict says that a ref of something else has the name of one of jp's folders of refs, or is below a ref of jp's.
var ErrRefConflict = odb.ErrRefConflict

// ErrTablesLocked says that git's lock of all refs in a reftable is there, which a killed
// git leaves behind.
var ErrTablesLocked = errors.New("git has locked the refs")

// errNotEvent means that a commit was never an event.
var errNotEvent = errors.New("it is a commit, and not an event")

// A DuplicateIDError reports a duplicate id: a live and an archived ref, each with events of
// its own.
type DuplicateIDError struct {
	ID             conversation.ID
	Live, Archived conversation.Head
}

// Error names the conversation and both of its heads.
func (e *DuplicateIDError) Error() string {
	return fmt.Sprintf("conversation %s is there twice: live (%.10s) and archived (%.10s), and each has events that the other has not", e.ID, e.Live, e.Archived)
}

// Unwrap says that one is in the way of the other.
func (e *DuplicateIDError) Unwrap() error { return conversation.ErrExists }

// A DamageError names a commit that should be an event and is none.
type DamageError struct {
	Commit string
	Seq    int // of the damaged event if that can be told, else -1
	Good   int // number of events before it that can be read
	Err    error
}

// Error names the commit and the fault.
func (e *DamageError) Error() string {
	return fmt.Sprintf("commit %.10s: %v", e.Commit, e.Err)
}

// Unwrap returns the fault.
func (e *DamageError) Unwrap() error { return e.Err }

// BrokenRef is the ref that an error is about, if the ref's own file holds no object name: git then lists
// no refs until that file is gone. It is "" for any other error.
func BrokenRef(err error) string {
	var ref *odb.UnreadableRef
	var packed *odb.PackedRefsError
	if !errors.As(err, &ref) || ref.ThroughGit || errors.As(err, &packed) || !errors.Is(err, odb.ErrRefBroken) && !errors.Is(err, odb.ErrRefSymbolic) {
		return ""
	}
	return ref.Ref
}

// storeError translates errors of the object database into those of a journal.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, odb.ErrRefMoved):
		return fmt.Errorf("%w: %w", conversation.ErrHeadMoved, err)
	case errors.Is(err, odb.ErrRefExists):
		return fmt.Errorf("%w: %w", conversation.ErrExists, err)
	case errors.Is(err, odb.ErrRefsLocked):
		return fmt.Errorf("%w: %w", ErrRefsLocked, err)
	case errors.Is(err, odb.ErrTablesLocked):
		return fmt.Errorf("%w: %w", ErrTablesLocked, err)
	case errors.Is(err, odb.ErrRefNotFound):
		return fmt.Errorf("%w: %w", conversation.ErrNotFound, err)
	case errors.Is(err, odb.ErrReadOnly):
		return fmt.Errorf("%w: %w", conversation.ErrReadOnlyStore, err)
	case errors.Is(err, odb.ErrNoSpace):
		return fmt.Errorf("%w: %w", conversation.ErrNoSpace, err)
	case errors.Is(err, odb.ErrRefBroken), errors.Is(err, odb.ErrObjectCorrupt), errors.Is(err, odb.ErrRefSymbolic):
		return fmt.Errorf("%w: %w", conversation.ErrDamaged, err)
	}
	return err
}
