package process

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// Recent are the conversations that jp held here, at most n of them, those that it took last
// first. It reads the names and times of lock files only.
func (l Locks) Recent(n int) []conversation.ID {
	dir, err := os.Open(l.Dir)
	if err != nil {
		return nil // there are no locks
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	type held struct {
		name string
		at   int64 // nanoseconds since the epoch
	}
	all := make([]held, 0, len(names))
	for _, name := range names {
		var stat unix.Stat_t
		if strings.HasSuffix(name, lockSuffix) && unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) == nil {
			all = append(all, held{name, stat.Mtim.Nano()})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(b.at, a.at) })
	var ids []conversation.ID
	for _, h := range all {
		if len(ids) == n {
			break
		}
		if id, err := conversation.ParseID(strings.TrimSuffix(h.name, lockSuffix)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
