package gitstore

import (
	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// openSidecar opens a file to read, and says its size. It asks the system itself: a search
// opens thousands, and package os readies each of them for waiting.
func openSidecar(path string) (fd int, size int64, ok bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return 0, 0, false
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return 0, 0, false
	}
	return fd, info.Size, true
}

// readWhole reads a file as far as it can, and returns nothing of one that is too large.
func readWhole(path string, buffer []byte) []byte {
	fd, size, ok := openSidecar(path)
	if !ok {
		return buffer
	}
	defer unix.Close(fd)
	if size > maxLog {
		return buffer
	}
	if int64(cap(buffer)) <= size {
		buffer = make([]byte, 0, size+size/8+1)
	}
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, more := readAt(fd, buffer[len(buffer):cap(buffer)], int64(len(buffer)))
		buffer = buffer[:len(buffer)+n]
		if !more {
			return buffer
		}
	}
}

// readRange reads a part of a file, most bytes of it or as many as there are, into a
// buffer if that is large enough.
func readRange(path string, at, most int64, buffer []byte) []byte {
	fd, size, ok := openSidecar(path)
	if !ok {
		return buffer[:0]
	}
	defer unix.Close(fd)
	n := max(0, min(most, size-at))
	if int64(cap(buffer)) < n {
		buffer = make([]byte, n+n/8)
	}
	buffer = buffer[:n]
	return buffer[:readFull(fd, buffer, at)]
}

// readFull fills a buffer from a place of a file on, as far as there is something.
func readFull(fd int, buffer []byte, at int64) (done int) {
	for more := true; more && done < len(buffer); {
		var n int
		n, more = readAt(fd, buffer[done:], at+int64(done))
		done += n
	}
	return done
}

// readAt reads once; there is more until it meets the end or an error.
func readAt(fd int, buffer []byte, at int64) (n int, more bool) {
	n, err := unix.Pread(fd, buffer, at)
	for err == unix.EINTR {
		n, err = unix.Pread(fd, buffer, at)
	}
	return max(n, 0), err == nil && n > 0
}

// replaceSidecar puts a whole file in place. It does not flush it: a reader notices the damage that a crash
// leaves.
func replaceSidecar(path string, data []byte) error {
	return safefile.Replace(path, data, safefile.Options{FolderMode: 0o777, Volatile: true})
}
