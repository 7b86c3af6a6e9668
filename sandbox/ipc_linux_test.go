package sandbox_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	ipcStat    = 2
	posixQueue = "open a POSIX queue"
	private    = 0o600 | unix.IPC_CREAT // a new object, with the key 0
)

// objects are calls for System V objects of another process, each with the number of one of a kind.
func objects() map[string]func(int) error {
	return map[string]func(int) error{
		"attach memory":    func(id int) error { return raw(unix.SYS_SHMAT, id, 0, 0) },
		"ask about memory": func(id int) error { var into [256]byte; return raw(unix.SYS_SHMCTL, id, ipcStat, addressOf(&into)) },
		"remove memory":    func(id int) error { return raw(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0) },
		"make memory": func(int) error {
			return made(unix.SYS_SHMGET, [3]int{0, 4096, private}, func(id int) error { return raw(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0) })
		},
		"send to a queue": func(id int) error { m := [2]int{1, 0}; return raw6(unix.SYS_MSGSND, id, addressOf(&m), 1, 0, 0) },
		"make a queue": func(int) error {
			return made(unix.SYS_MSGGET, [3]int{0, private, 0}, func(id int) error { return raw(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
		},
		"make semaphores": func(int) error {
			return made(unix.SYS_SEMGET, [3]int{0, 1, private}, func(id int) error { return raw(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
		},
		"raise a semaphore": func(id int) error { op := [3]int16{0, 1, 0}; return raw(unix.SYS_SEMOP, id, addressOf(&op), 1) },
		"remove semaphores": func(id int) error { return raw(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) },
		posixQueue:          openQueue,
	}
}

// leaveObjects makes one of each kind under known names, and leaves them all.
func leaveObjects(int) error {
	const key, exclusive = 0x6a70, private | unix.IPC_EXCL
	keep := func(int) error { return nil }
	return errors.Join(made(unix.SYS_SHMGET, [3]int{key, 4096, exclusive}, keep), made(unix.SYS_MSGGET, [3]int{key, exclusive, 0}, keep),
		made(unix.SYS_SEMGET, [3]int{key, 1, exclusive}, keep))
}

// made makes an object and hands its number on.
func made(call uintptr, a [3]int, use func(id int) error) error {
	id, _, errno := unix.RawSyscall(call, uintptr(a[0]), uintptr(a[1]), uintptr(a[2]))
	if errno != 0 {
		return errno
	}
	return use(int(id))
}

func openQueue(int) error {
	name := append([]byte("jp-sandbox-test"), 0)
	fd, _, errno := unix.RawSyscall6(unix.SYS_MQ_OPEN, uintptr(addressOf(&name[0])), unix.O_RDWR|unix.O_CREAT, 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	unix.Close(int(fd))
	return raw(unix.SYS_MQ_UNLINK, addressOf(&name[0]), 0, 0)
}

// A program reaches no memory, semaphores or queues of other processes. In namespaces of its own it has its
// own. With the user's network it has System V objects, which a database server needs.
func TestObjectsOfOthers(t *testing.T) {
	object := func(call uintptr, a [3]int, control uintptr, second, third int) func() string {
		return func() (text string) {
			err := made(call, a, func(id int) error {
				text = strconv.Itoa(id)
				t.Cleanup(func() { _ = raw(control, id, second, third) })
				return nil
			})
			if err != nil {
				t.Skip("not possible without rules either: " + err.Error())
			}
			return text
		}
	}
	memory := object(unix.SYS_SHMGET, [3]int{0, 4096, private}, unix.SYS_SHMCTL, unix.IPC_RMID, 0)
	queue := object(unix.SYS_MSGGET, [3]int{0, private, 0}, unix.SYS_MSGCTL, unix.IPC_RMID, 0)
	semaphores := object(unix.SYS_SEMGET, [3]int{0, 1, private}, unix.SYS_SEMCTL, 0, unix.IPC_RMID)
	of := map[string]func() string{
		"attach memory": memory, "ask about memory": memory, "remove memory": memory, "send to a queue": queue,
		"raise a semaphore": semaphores, "remove semaphores": semaphores,
	}
	each(t, func(t *testing.T, own bool) {
		for name := range objects() {
			t.Run(name, func(t *testing.T) {
				id, other := "0", of[name]
				if other != nil {
					id = other()
				}
				g := newGround(t)
				argv := g.act(name, id)
				out, err := g.confined(t, argv...)
				switch {
				case own && other == nil && name != posixQueue:
					require.NoError(t, err, out)
				case own && other != nil:
					require.Error(t, err)
					require.Contains(t, out, "invalid argument")
				default:
					require.Error(t, err)
					require.Contains(t, out, "permission denied")
				}
				g.rules.Network = true
				out, err = g.confined(t, argv...)
				if name == posixQueue {
					require.Error(t, err)
					require.Contains(t, out, "permission denied")
					out, err = g.free(argv...)
				}
				require.NoError(t, err, out)
			})
		}
	})
}

// The System V objects of a program end with it: the next one starts without them.
func TestObjectsOfEarlierPrograms(t *testing.T) {
	requireOwnLoopback(t)
	g := newGround(t)
	argv := g.act("leave objects", "0")
	for range 3 {
		out, err := g.confined(t, argv...)
		require.NoError(t, err, out)
	}
}
