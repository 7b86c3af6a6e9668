package sandbox

import (
	"fmt"
	"os"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// ruleset is a file by which a process restricts itself. own says that the process is in a network of its own.
func (r Rules) ruleset(support Support, own bool) (*os.File, error) {
	attr := r.handled(support.ABI, own)
	fd, err := landlock.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return nil, fmt.Errorf("make a landlock ruleset: %w", err)
	}
	for _, g := range r.Grants(os.DirFS("/")) {
		if err := g.add(fd, attr.HandledAccessFS); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("allow %s: %w", g.Path, err)
		}
	}
	return os.NewFile(uintptr(fd), "ruleset"), nil
}

// add puts a grant into a ruleset. A place that has gone meanwhile, or is unreachable, needs none, and one
// that became a link gets none.
func (g Grant) add(ruleset int, handled uint64) error {
	fd, err := unix.Open(g.Path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return unreachable(err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return unreachable(err)
	}
	rights := g.Access.rights(stat.Mode&unix.S_IFMT == unix.S_IFDIR) & handled
	if rights == 0 || stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	return landlock.LandlockAddPathBeneathRule(ruleset, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}

// unreachable drops the errors of a place that this user cannot get at.
func unreachable(err error) error {
	switch err {
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return err
	}
	return nil
}
