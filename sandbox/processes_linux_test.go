package sandbox_test

import (
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/sandbox"
)

// onProcess are calls that change another process, or read from it. Each leaves a process
// as it is.
func onProcess() map[string]func(pid int) error {
	page := make([]byte, 1)
	return map[string]func(pid int) error{
		"limit":      func(pid int) error { return setLimit(pid, syscall.RLIMIT_CORE, &unix.Rlimit{}) },
		"nice":       func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 0) },
		"nice group": func(pid int) error { return unix.Setpriority(unix.PRIO_PGRP, pid, 0) },
		"nice user":  func(int) error { return unix.Setpriority(unix.PRIO_USER, 0, 0) },
		"affinity": func(pid int) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(pid, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(pid, &set)
		},
		"scheduler": func(pid int) error { return raw(unix.SYS_SCHED_SETSCHEDULER, pid, 0, addressOf(new(int32))) },
		"parameter": func(pid int) error { return raw(unix.SYS_SCHED_SETPARAM, pid, addressOf(new(int32)), 0) },
		"attributes": func(pid int) error {
			return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0)
		},
		"io":       func(pid int) error { return raw(unix.SYS_IOPRIO_SET, 1, pid, 2<<13) },
		"io group": func(pid int) error { return raw(unix.SYS_IOPRIO_SET, 2, pid, 2<<13) },
		"io user":  func(int) error { return raw(unix.SYS_IOPRIO_SET, 3, 0, 2<<13) },
		"migrate pages": func(pid int) error {
			node := uint64(1)
			return raw6(unix.SYS_MIGRATE_PAGES, pid, 2, addressOf(&node), addressOf(&node), 0)
		},
		"move pages": func(pid int) error { return raw(unix.SYS_MOVE_PAGES, pid, 0, 0) },
		"compare":    func(pid int) error { return raw(unix.SYS_KCMP, pid, pid, 1) },
		"robust list": func(pid int) error {
			return raw(unix.SYS_GET_ROBUST_LIST, pid, addressOf(new(uintptr)), addressOf(new(uintptr)))
		},
		"read memory":    func(pid int) error { return readMemory(pid, page) },
		"trace":          trace,
		"a descriptor":   ofPidfd(func(fd int) error { got, err := unix.PidfdGetfd(fd, 0, 0); unix.Close(got); return err }),
		"signal a pidfd": ofPidfd(func(fd int) error { return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0) }),
		"signal":         func(pid int) error { return unix.Kill(pid, unix.SIGCONT) },
		"queue a signal": func(pid int) error { return queue(pid) },
	}
}

func addressOf[T any](p *T) int { return int(uintptr(unsafe.Pointer(p))) }

func raw(call uintptr, a, b, c int) error {
	if _, _, errno := unix.RawSyscall6(call, uintptr(a), uintptr(b), uintptr(c), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func setLimit(pid, resource int, limit *unix.Rlimit) error {
	return unix.Prlimit(pid, resource, limit, nil)
}

func readMemory(pid int, into []byte) error {
	local := []unix.Iovec{{Base: &into[0], Len: 1}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
	if err == unix.EFAULT { // allowed, but the address is invalid
		return nil
	}
	return err
}

func trace(pid int) error {
	const seize = 0x4206
	return raw(unix.SYS_PTRACE, seize, pid, 0)
}

func ofPidfd(do func(fd int) error) func(int) error {
	return func(pid int) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return do(fd)
	}
}

// queue sends a signal with data.
func queue(pid int) error {
	info := struct {
		signal, errno, code int32
		rest                [116]byte
	}{signal: int32(unix.SIGCONT), code: -1}
	return raw(unix.SYS_RT_SIGQUEUEINFO, pid, int(unix.SIGCONT), addressOf(&info))
}

// itself are calls that a program makes for itself, as nice, taskset, ionice and ulimit do.
func itself() map[string]func(int) error {
	all := onProcess()
	own := map[string]func(int) error{
		"read the limits of another process": func(pid int) error {
			var limit unix.Rlimit
			return unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit)
		},
	}
	for _, name := range []string{"limit", "nice", "affinity", "scheduler", "parameter", "attributes", "io"} {
		own[name+" of itself"] = func(int) error { return all[name](0) }
	}
	return own
}

// keyrings are calls that use the keys that the kernel holds for the user.
func keyrings() map[string]func(int) error {
	const userSession = -5
	text := append([]byte("user"), 0)
	return map[string]func(int) error{
		"find a keyring": func(int) error { return raw(unix.SYS_KEYCTL, 0, userSession, 1) },
		"add a key": func(int) error {
			return raw6(unix.SYS_ADD_KEY, addressOf(&text[0]), addressOf(&text[0]), addressOf(&text[0]), 4, userSession)
		},
		"request a key": func(int) error {
			err := raw6(unix.SYS_REQUEST_KEY, addressOf(&text[0]), addressOf(&text[0]), 0, 0, 0)
			if err == unix.ENOKEY {
				return nil
			}
			return err
		},
	}
}

func raw6(call uintptr, a, b, c, d, e int) error {
	if _, _, errno := unix.RawSyscall6(call, uintptr(a), uintptr(b), uintptr(c), uintptr(d), uintptr(e), 0); errno != 0 {
		return errno
	}
	return nil
}

// victim is another process of this user.
func victim(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strconv.Itoa(cmd.Process.Pid)
}

// With the network or without, a program reaches only processes that it has started.
func TestOtherProcesses(t *testing.T) {
	if s := sandbox.Supported(); !s.Calls || s.ABI < 6 {
		t.Skip("no filter of system calls, or no rule for signals here")
	}
	for name := range onProcess() {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			argv := g.act(name, victim(t))
			if out, err := g.free(argv...); err != nil {
				t.Skip("not possible without rules either: " + out)
			}
			for _, network := range []bool{false, true} {
				g.rules.Network = network
				out, err := g.confined(t, argv...)
				require.Error(t, err, "network: %v", network)
				require.Regexp(t, "permission denied|not permitted", out)
			}
		})
	}
	for name := range itself() {
		g := newGround(t)
		g.requireAllowed(t, g.act(name, victim(t))...)
	}
}

func TestKeyrings(t *testing.T) {
	if !sandbox.Supported().Calls {
		t.Skip("no filter of system calls here")
	}
	for name := range keyrings() {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			argv := g.act(name, "0")
			out, err := g.confined(t, argv...)
			require.Error(t, err)
			require.Contains(t, out, "permission denied")
			if out, err := g.free(argv...); err != nil {
				t.Skip("not possible without rules either: " + out)
			}
		})
	}
}

// Programs that set their own limits and priorities go on.
func TestOwnPriorities(t *testing.T) {
	for _, argv := range [][]string{
		{"nice", "-n", "5", "true"}, {"taskset", "-c", "0", "true"}, {"ionice", "-c3", "true"}, {"chrt", "--batch", "0", "true"},
		{"prlimit", "--nofile=64", "true"}, {"sh", "-c", "ulimit -n 64 && ulimit -c 0 && ulimit -S -t 60 && true"},
	} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		g := newGround(t)
		g.requireAllowed(t, argv...)
	}
}
