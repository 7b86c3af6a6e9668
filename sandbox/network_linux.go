package sandbox

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/sandbox/secondstage"
)

// OwnLoopback reports whether programs without the network have a loopback interface of their
// own here.
func OwnLoopback() bool { return ownLoopback() }

// ownLoopback has a confined process try it, once: some systems let a network be made, and
// refuse to bring up its loopback interface.
var ownLoopback = sync.OnceValue(func() bool {
	support, network := Supported(), here()
	if !support.Calls || network == 0 { // without these a program can reach sockets in the file system
		return false
	}
	start := Start{Argv: []string{self, secondstage.Word, "loopback"}}
	defer start.Close()
	return start.confine(Rules{}, Rules{}.spec(support, "", network), support) == nil && start.command().Run() == nil
})

// here is the number of this process's network, 0 if unknown.
func here() uint64 {
	var stat unix.Stat_t
	if unix.Stat(secondstage.OwnNetwork, &stat) != nil {
		return 0
	}
	return stat.Ino
}

// own are the namespaces that a program without the network has for itself: a network, with all interfaces
// down, and System V objects. The kernel makes both or neither.
const own = unix.CLONE_NEWNET | unix.CLONE_NEWIPC

// leave starts a process in namespaces of its own. Only root can make them: others first become root in a user namespace
// that has them and their group. Such a process keeps the privilege to bring up the loopback interface, and gives that up
// before the program.
func leave() *syscall.SysProcAttr {
	if os.Geteuid() == 0 {
		return &syscall.SysProcAttr{Cloneflags: own}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  own | unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
	}
}

// command is the process, without streams and environment.
func (s *Start) command() *exec.Cmd {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	if s.Path != "" {
		cmd.Path = s.Path
	}
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = []string{}, s.Files, s.Attr
	return cmd
}
