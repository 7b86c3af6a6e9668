package secondstage

import (
	"syscall"
	"unsafe"
)

func init() {
	// During initialisation this goroutine stays on the main thread, which is the one that
	// is confined and becomes the program.
	args := arguments()
	if len(args) <= Args || args[1] != Word {
		return
	}
	if spec, found := take(); found {
		syscall.Exit(become(spec, args[Args:]))
	}
}

// arguments are those of this process, read before package os is initialised.
func arguments() (args []string) {
	data := read("/proc/self/cmdline")
	for start, i := 0, 0; i < len(data); i++ {
		if data[i] == 0 {
			args = append(args, string(data[start:i]))
			start = i + 1
		}
	}
	return args
}

// read is the content of a file, as far as it can be read.
func read(name string) (data []byte) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	return readAll(fd)
}

// readAll reads from the beginning, and leaves the place alone at which others read on.
func readAll(fd int) (data []byte) {
	buffer := make([]byte, 4096)
	for {
		n, err := syscall.Pread(fd, buffer, int64(len(data)))
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return data
		}
		data = append(data, buffer[:n]...)
	}
}

const getSeals = 1034 // F_GET_SEALS

// take reads the spec and closes its file. found is false if there is none.
func take() (data []byte, found bool) {
	has, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, Spec, getSeals, 0)
	if errno != 0 || has&Seals != Seals {
		return nil, false
	}
	data = readAll(Spec)
	syscall.Close(Spec)
	return data, true
}

// become confines this thread and makes it the program. If that fails, it prints the reason, and returns
// the exit code of the process.
func become(data []byte, argv []string) (code int) {
	spec, ok := Decode(data)
	if !ok {
		say("jp starts this command itself: its rules are not whole.")
		return ExitUsage
	}
	if what, err := spec.confine(); err != nil {
		say("the program was not run, because it could not be confined: " + what + ": " + err.Error())
		return ExitNotRun
	}
	if spec.Program == "" {
		return tryLoopback()
	}
	err := syscall.Exec(spec.Program, argv, syscall.Environ())
	text := "fork/exec " + argv[0] + ": " + err.Error()
	switch err {
	case syscall.ENOENT:
		say("no such program: " + text)
		return ExitNoProgram
	case syscall.EACCES, syscall.EPERM:
		text = "not a program that can be run: " + text
	}
	say(text)
	return ExitNotRun
}

func say(text string) { _, _ = syscall.Write(2, []byte(text+"\n")) }

// System calls and their arguments that package syscall lacks.
const (
	sysRestrictSelf = 446
	setNoNewPrivs   = 38
	setSeccomp      = 22
	modeFilter      = 2
	capabilities3   = 0x20080522 // _LINUX_CAPABILITY_VERSION_3
)

// confine gives up the rights in the spec. what is the step that failed.
func (s *ChildSpec) confine() (what string, err error) {
	if s.Left != 0 {
		if err := s.ownLoopback(); err != nil {
			return "bring up a loopback interface of its own", err
		}
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return "give up new privileges", errno
	}
	if _, _, errno := syscall.RawSyscall(sysRestrictSelf, Ruleset, 0, 0); errno != 0 {
		return "restrict with landlock", errno
	}
	syscall.Close(Ruleset)
	if what, err := s.drop(); err != nil {
		return what, err
	}
	if len(s.Filter) == 0 {
		return "", nil
	}
	program := struct {
		length uint16
		filter *uint64
	}{uint16(len(s.Filter)), &s.Filter[0]}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, modeFilter, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return "filter system calls", errno
	}
	return "", nil
}

// drop takes all other privileges from this thread, which has given up new ones.
func (s *ChildSpec) drop() (what string, err error) {
	header := struct {
		version uint32
		pid     int32
	}{version: capabilities3}
	var has [2]struct{ effective, permitted, inheritable uint32 }
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&has)), 0); errno != 0 {
		return "read the privileges", errno
	}
	for i := range has {
		has[i].effective &= s.Capabilities[i]
		has[i].permitted &= s.Capabilities[i]
		has[i].inheritable = 0
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&has)), 0); errno != 0 {
		return "give up privileges", errno
	}
	return "", nil
}
