package crashtest

import "golang.org/x/sys/unix"

// legacy has the calls that only old processors know.
var legacy = map[uint64]change{
	unix.SYS_OPEN:      {"open", opens(1, 0, noDir)},
	unix.SYS_CREAT:     {"creat", names(0, noDir)},
	unix.SYS_MKDIR:     {"mkdir", names(0, noDir)},
	unix.SYS_RMDIR:     {"rmdir", names(0, noDir)},
	unix.SYS_UNLINK:    {"unlink", names(0, noDir)},
	unix.SYS_SYMLINK:   {"symlink", names(1, noDir)},
	unix.SYS_LINK:      {"link", names(1, noDir)},
	unix.SYS_RENAME:    {"rename", names(1, noDir)},
	unix.SYS_CHMOD:     {"chmod", names(0, noDir)},
	unix.SYS_CHOWN:     {"chown", names(0, noDir)},
	unix.SYS_LCHOWN:    {"lchown", names(0, noDir)},
	unix.SYS_UTIME:     {"utime", names(0, noDir)},
	unix.SYS_UTIMES:    {"utimes", names(0, noDir)},
	unix.SYS_FUTIMESAT: {"futimesat", names(1, 0)},
	unix.SYS_FORK:      {"fork", func(call) (string, bool) { return "", true }},
	unix.SYS_VFORK:     {"vfork", func(call) (string, bool) { return "", true }},
}
