package sandbox

import (
	"errors"
	"fmt"
	"os"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// What a grant allows with a file, and with a folder and what is below it.
// No program is allowed to make a device.
const (
	readFile  = landlock.AccessFSReadFile | landlock.AccessFSExecute
	readAll   = readFile | landlock.AccessFSReadDir
	writeFile = readFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate
	writeAll  = readAll | writeFile | landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile | landlock.AccessFSMakeDir |
		landlock.AccessFSMakeReg | landlock.AccessFSMakeSock | landlock.AccessFSMakeFifo | landlock.AccessFSMakeSym | landlock.AccessFSRefer
	deviceFile = landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
	deviceAll  = deviceFile | landlock.AccessFSReadDir
)

// rights are what a grant allows with a file, or with a folder.
func (a Access) rights(folder bool) uint64 {
	switch {
	case a == List && folder:
		return landlock.AccessFSReadDir
	case a == Read && folder:
		return readAll
	case a == Read:
		return readFile
	case a == Write && folder:
		return writeAll
	case a == Write:
		return writeFile
	case a == Device && folder:
		return deviceAll
	case a == Device:
		return deviceFile
	}
	return 0
}

// handled is all that a version of landlock can forbid, as far as these rules
// want it forbidden.
func (r Rules) handled(abi int) landlock.RulesetAttr {
	all := func(last uint64) uint64 { return last<<1 - 1 }
	attr := landlock.RulesetAttr{HandledAccessFS: all(landlock.AccessFSMakeSym)}
	add := func(since int, bits *uint64, rights uint64) {
		if abi >= since {
			*bits |= rights
		}
	}
	add(abiRefer, &attr.HandledAccessFS, landlock.AccessFSRefer)
	add(abiTruncate, &attr.HandledAccessFS, landlock.AccessFSTruncate)
	add(abiIoctl, &attr.HandledAccessFS, landlock.AccessFSIoctlDev)
	add(abiScope, &attr.Scoped, landlock.ScopeSignal)
	if r.Network {
		return attr
	}
	add(abiTCP, &attr.HandledAccessNet, landlock.AccessNetBindTCP|landlock.AccessNetConnectTCP)
	add(abiScope, &attr.Scoped, landlock.ScopeAbstractUnixSocket)
	add(abiUnix, &attr.HandledAccessFS, landlock.AccessFSResolveUnix)
	add(abiUDP, &attr.HandledAccessNet, landlock.AccessNetBindUDP|landlock.AccessNetConnectSendUDP)
	return attr
}

// landlocked restricts this thread, and what it becomes.
func (r Rules) landlocked(abi int) error {
	attr := r.handled(abi)
	ruleset, err := landlock.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return fmt.Errorf("make a landlock ruleset: %w", err)
	}
	defer unix.Close(ruleset)
	for _, g := range r.Grants(os.DirFS("/")) {
		if err := g.add(ruleset, attr.HandledAccessFS); err != nil {
			return fmt.Errorf("allow %s: %w", g.Path, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if err := landlock.LandlockRestrictSelf(ruleset, 0); err != nil {
		return fmt.Errorf("restrict with landlock: %w", err)
	}
	return nil
}

// add puts a grant into a ruleset. What has gone meanwhile, or cannot be reached,
// needs none; what became a link gets none.
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
	kind := stat.Mode & unix.S_IFMT
	rights := g.Access.rights(kind == unix.S_IFDIR) & handled
	if kind == unix.S_IFLNK || rights == 0 {
		return nil
	}
	return landlock.LandlockAddPathBeneathRule(ruleset, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}

// unreachable drops the errors of a place that this user cannot get at.
func unreachable(err error) error {
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) {
		return err
	}
	return nil
}
