package sidecar

import (
	"os"

	"golang.org/x/sys/unix"

	"jp/internal/wholefile"
)

// readInto reads what can be read of a file. It asks the system itself: a search
// opens thousands, and package os readies each of them for waiting.
func readInto(path string, buffer []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return buffer
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		return buffer
	}
	if int64(cap(buffer)) <= info.Size {
		buffer = make([]byte, 0, info.Size+info.Size/8+1)
	}
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := unix.Read(fd, buffer[len(buffer):cap(buffer)])
		switch {
		case err == unix.EINTR:
		case err != nil || n <= 0:
			return buffer
		default:
			buffer = buffer[:len(buffer)+n]
		}
	}
}

// replace puts a file in place as a whole. It is not made durable: what a crash
// leaves is found out when it is read.
func replace(path string, data []byte) error {
	return wholefile.Replace(path, data, wholefile.Options{FolderMode: 0o777, Volatile: true})
}

// lock takes the file for this process, unless another one has it.
func lock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
