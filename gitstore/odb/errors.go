package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"jp/gitcmd"
)

// Files of refs, below the git directory: those that are packed, and the list of the tables
// that count in the folder of a reftable.
const (
	packedRefsFile = "packed-refs"
	tablesFolder   = string(gitcmd.Reftable)
	tableList      = tablesFolder + "/tables.list"
)

var (
	// ErrRefMoved means that a ref has another value than the one expected;
	// errors.As with *RefError gives the value found.
	ErrRefMoved = errors.New("ref has moved")
	// ErrRefExists means that a ref to be created is already there.
	ErrRefExists = errors.New("ref already exists")
	// ErrRefLocked means that another process holds the lock of a ref.
	ErrRefLocked = errors.New("ref is locked")
	// ErrRefsLocked means that git's lock of all packed refs is there. Git waits
	// for a living one for a second; one that a killed git left stays.
	ErrRefsLocked = fmt.Errorf("%w: packed-refs.lock exists", ErrRefLocked)
	// ErrTablesLocked means that git's lock of a reftable is there. Git waits for a living
	// one; one that a killed git left stays.
	ErrTablesLocked = fmt.Errorf("%w: %s.lock exists", ErrRefLocked, tableList)
	// ErrRefNotFound means that a ref exists neither loose nor packed.
	ErrRefNotFound = errors.New("ref not found")
	// ErrRefBroken means that a ref's file holds no object name.
	ErrRefBroken = errors.New("ref is broken")
	// ErrRefsUnreadable means that git cannot read the refs: each of them may be broken.
	ErrRefsUnreadable = fmt.Errorf("%w: git cannot read the refs", ErrRefBroken)
	// ErrRefSymbolic means that a ref points to another ref or is a link.
	ErrRefSymbolic = errors.New("ref is symbolic")
	// ErrRefName means that git would not accept the name of a ref.
	ErrRefName = errors.New("invalid ref name")
	// ErrRefConflict means that another ref is in the way of a ref: in the place of its directory, or below
	// it.
	ErrRefConflict = errors.New("ref conflicts with another")
	// ErrObjectMissing means that no store of the repository has an object.
	ErrObjectMissing = errors.New("object is missing")
	// ErrObjectCorrupt means that an object's bytes do not hash to its name.
	ErrObjectCorrupt = errors.New("object is corrupt")
	// ErrObjectTooLarge means that an object is above Options.MaxObject.
	ErrObjectTooLarge = errors.New("object is too large")
	// ErrOID means that a string is not a full object name.
	ErrOID = errors.New("invalid object name")
	// ErrReadOnly means that the file system or its permissions forbid writing.
	ErrReadOnly = errors.New("git directory is not writable")
	// ErrNoSpace means that the disk, the quota or the file size limit is full.
	ErrNoSpace = errors.New("no space left")
	// ErrPoisoned means that a flush has failed: the batch may or may not be durable, and this Store writes
	// nothing more.
	ErrPoisoned = errors.New("writing has stopped after a failed flush")
	// ErrNoGit means that the work needs the git program and Options.Git is nil.
	ErrNoGit = errors.New("git is not available")
)

// RefError is a comparison that failed: Found is empty if there is no ref.
type RefError struct {
	Ref         string
	Want, Found OID
}

func (e *RefError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("%s: %v at %s", e.Ref, ErrRefExists, e.Found)
	case e.Found == "":
		return fmt.Sprintf("%s: %v: expected %s, found none", e.Ref, ErrRefMoved, e.Want)
	}
	return fmt.Sprintf("%s: %v: expected %s, found %s", e.Ref, ErrRefMoved, e.Want, e.Found)
}

// Unwrap gives ErrRefExists for a failed creation, else ErrRefMoved.
func (e *RefError) Unwrap() error {
	if e.Want == "" {
		return ErrRefExists
	}
	return ErrRefMoved
}

// UnreadableRef is a ref whose file names no object. In a list's error it is a ref that the list leaves
// out.
type UnreadableRef struct {
	Ref string
	Err error
	// ThroughGit says that git reported it: the ref may have no file of its own.
	ThroughGit bool
}

// Error names the ref and the cause.
func (e *UnreadableRef) Error() string { return fmt.Sprintf("read %s: %v", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *UnreadableRef) Unwrap() error { return e.Err }

// A gitMessageError is one that another program told in words, with the number that
// the words stand for.
type gitMessageError struct {
	error
	number syscall.Errno
}

func (e *gitMessageError) Unwrap() []error { return []error{e.error, e.number} }

// withErrno finds the operating system's error in git's message.
func withErrno(err error) error {
	text := strings.ToLower(err.Error())
	for _, number := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EACCES} {
		if strings.Contains(text, number.Error()) {
			return &gitMessageError{err, number}
		}
	}
	return err
}

// classify puts our sentinel before the operating system's error.
func classify(err error) error {
	for _, c := range []struct {
		sentinel error
		causes   []error
	}{
		{ErrNoSpace, []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}},
		{ErrReadOnly, []error{syscall.EROFS, fs.ErrPermission}},
	} {
		for _, cause := range c.causes {
			if errors.Is(err, cause) && !errors.Is(err, c.sentinel) {
				return fmt.Errorf("%w: %w", c.sentinel, err)
			}
		}
	}
	return err
}

// classifyRead is classify for reads: a reader without permission gets no error about writing.
func classifyRead(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return classify(err)
}

// PackedRefsError is a line of packed-refs that git has not written. It is an [ErrRefBroken] of any ref
// that a caller looked for.
type PackedRefsError struct {
	Line string
	Why  string // "" if it is not a line of packed-refs at all
}

// Error says which line it is, as far as a person may want to see it.
func (e *PackedRefsError) Error() string {
	const most = 120
	line := e.Line
	if len(line) > most {
		line = line[:most] + "…"
	}
	text := fmt.Sprintf("%v: %s has the line %q", ErrRefBroken, packedRefsFile, line)
	if e.Why != "" {
		text += ", " + e.Why
	}
	return text
}

// Unwrap gives ErrRefBroken.
func (*PackedRefsError) Unwrap() error { return ErrRefBroken }
