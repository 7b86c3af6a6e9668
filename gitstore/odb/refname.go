package odb

import (
	"fmt"
	"path"
	"strings"
	"time"
)

const (
	lockSuffix = ".lock"
	// staleLock is the age from which a lock may be taken over.
	staleLock = 10 * time.Second
	// longWait is the time to wait for a lock without a message.
	longWait     = time.Second
	firstBackoff = time.Millisecond
	maxBackoff   = 50 * time.Millisecond
)

// Ref is a name and its object.
type Ref struct {
	Name string
	OID  OID
}

// RefUpdate moves a ref from one object to another.
type RefUpdate struct {
	Ref string
	// Old is the value that the ref must have; empty means that it must be absent.
	Old OID
	// New is the value to give; empty means to delete, in a Transaction only.
	New OID
}

// CheckRefName reports whether git takes a name as that of a ref, and whether
// this package does: it must be below refs/ and shared by all worktrees.
func CheckRefName(name string) error {
	if why := refNameFault(name); why != "" {
		return fmt.Errorf("%w: %q %s", ErrRefName, name, why)
	}
	return nil
}

func refNameFault(name string) string {
	rest, ok := strings.CutPrefix(name, "refs/")
	switch {
	case !ok:
		return "is not below refs/"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"):
		return "has .. or @{"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case strings.ContainsFunc(name, isForbidden):
		return "has a character that git forbids"
	}
	for part := range strings.SplitSeq(rest, "/") {
		if fault := partFault(part); fault != "" {
			return fault
		}
	}
	switch first, _, _ := strings.Cut(rest, "/"); first {
	case "bisect", "rewritten", "worktree":
		return "belongs to one worktree"
	}
	return ""
}

func isForbidden(r rune) bool {
	return r < 0x20 || r == 0x7f || strings.ContainsRune(" ~^:?*[\\", r)
}

func partFault(part string) string {
	switch {
	case part == "":
		return "has an empty part"
	case part[0] == '.':
		return "has a part that starts with a dot"
	case strings.HasSuffix(part, ".lock"):
		return "has a part that ends with .lock"
	case len(part)+len(lockSuffix) > 255:
		return "has a part that is too long"
	}
	return ""
}

// splitRef gives the directory of a ref, below the git directory, and its file.
func splitRef(name string) (dir, base string) { return path.Dir(name), path.Base(name) }
