package sandbox

import (
	"errors"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Supported asks this system for the rules that it enforces.
func Supported() Support {
	abi, err := landlock.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return Support{Reason: "this kernel has no landlock"}
	case errors.Is(err, unix.EOPNOTSUPP):
		return Support{Reason: "landlock is switched off in this kernel"}
	case err != nil:
		return Support{Reason: "landlock cannot be used: " + err.Error()}
	}
	return Support{ABI: abi, Calls: filters()}
}
