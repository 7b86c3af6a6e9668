package worktree

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A folderWatch tells which paths in some folders changed since it began. The kernel notes a change before
// the system call that makes it returns. It does not note writes through a mapping.
type folderWatch struct {
	fd      int                 // of inotify, if it is open
	open    runtime.Cleanup     // closes it
	folders map[int32]string    // by the kernel's number
	watched map[string]struct{} // the same folders, and those that were absent
	changed map[string]bool     // paths; true: the last file there has another name among them
	whole   bool                // changed has all of them
	off     bool                // the file system or the kernel has no watch
}

const (
	watchedEvents = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	endingEvents  = unix.IN_Q_OVERFLOW | unix.IN_IGNORED | unix.IN_UNMOUNT | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	mostNoted     = 100 // paths
	// watchShare is the part of the user's watches that one working tree may use: editors need them too.
	watchShare = 8
)

// begin forgets what changed until now. Folders come after the folder that contains them: its watch tells
// their fate.
func (f *folderWatch) begin(top string, folders []string) {
	f.read()
	if f.off || !f.add(top, folders) {
		f.end()
		return
	}
	f.changed, f.whole = map[string]bool{}, true
}

// since are the paths that changed, with whether the last file there has another name among them. ok is
// false if there may be others, or are many.
func (f *folderWatch) since() (changed map[string]bool, ok bool) {
	f.read()
	return f.changed, f.whole
}

func (f *folderWatch) add(top string, folders []string) (ok bool) {
	if f.folders == nil {
		if f.off = !watchable(top, len(folders)); f.off {
			return false
		}
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if f.off = err != nil; f.off {
			return false
		}
		f.fd, f.folders, f.watched = fd, map[int32]string{}, map[string]struct{}{}
		f.open = runtime.AddCleanup(f, func(fd int) { unix.Close(fd) }, fd)
	}
	for _, folder := range folders {
		if _, known := f.watched[folder]; known {
			continue
		}
		number, err := unix.InotifyAddWatch(f.fd, filepath.Join(top, folder), watchedEvents|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
		switch _, twice := f.folders[int32(number)]; {
		case err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP:
		case err != nil || twice:
			f.off = true
			return false
		default:
			f.folders[int32(number)] = folder
		}
		f.watched[folder] = struct{}{}
	}
	return true
}

// watchable reports whether the kernel notes all changes in the file system of a folder and has room for a watch of so many.
func watchable(top string, folders int) bool {
	var st unix.Statfs_t
	if unix.Statfs(top, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
	default:
		return false
	}
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	most, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && folders <= most/watchShare
}

// read notes the events that wait. It ends the watch if a watched folder is another one, or if the kernel dropped events.
func (f *folderWatch) read() {
	const head = unix.SizeofInotifyEvent
	var from struct { // the move in the event before
		move uint32 // the kernel's number of it
		path string
	}
	for buffer := make([]byte, 16<<10); f.folders != nil; {
		n, err := unix.Read(f.fd, buffer)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN {
			return
		}
		if err != nil || n < head {
			f.end()
			return
		}
		for rest := buffer[:n]; len(rest) >= head; {
			number, mask := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:])
			move, length := binary.NativeEndian.Uint32(rest[8:]), head+int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[head:length], []byte{0})
			rest = rest[length:]
			path := filepath.Join(f.folders[number], string(name))
			if _, folder := f.watched[path]; folder || len(name) == 0 || mask&endingEvents != 0 {
				f.end()
				return
			}
			if f.whole = f.whole && len(f.changed) < mostNoted; !f.whole {
				continue
			}
			if f.changed[path] = false; mask&unix.IN_MOVED_TO != 0 && move == from.move {
				f.changed[from.path] = true
			}
			if from.move = 0; mask&unix.IN_MOVED_FROM != 0 {
				from.move, from.path = move, path
			}
		}
	}
}

// end closes the watch.
func (f *folderWatch) end() {
	if f.folders != nil {
		f.open.Stop()
		unix.Close(f.fd)
	}
	*f = folderWatch{off: f.off}
}
