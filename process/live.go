package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// leftoverAge is the age at which a temporary name is a leftover.
const leftoverAge = 10 * time.Minute

// Live are the entries of this repository's conversations that a process holds. It removes stale entries of
// any repository: those whose conversation is free, with their sockets. The error names an unreadable entry.
// The result is valid in any case.
func (r Registry) Live(ctx context.Context) (map[conversation.ID]Entry, error) {
	all, err := r.all(ctx)
	live := map[conversation.ID]Entry{}
	for _, e := range all {
		if sameFolder(e.Repository, r.Repository) {
			live[e.ConversationID] = e
		}
	}
	return live, err
}

// all are the entries of Live and those of copies of the repository.
func (r Registry) all(ctx context.Context) (live []Entry, err error) {
	d, err := r.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	defer d.close()
	names, err := d.dir.Readdirnames(-1)
	errs := []error{err}
	for _, name := range names {
		if ctx.Err() != nil {
			return live, context.Cause(ctx)
		}
		if strings.HasPrefix(name, temporaryPrefix) {
			errs = append(errs, d.removeLeftover(name))
			continue
		}
		e, held, err := d.judge(name)
		errs = append(errs, err)
		if held {
			live = append(live, e)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return live, fmt.Errorf("read the registry: %w", err)
	}
	return live, nil
}

// judge reads the entry of this name, and reports whether its conversation is
// held. If it is free, it removes the entry and its socket.
func (d *folder) judge(name string) (e Entry, held bool, err error) {
	stem, isEntry := strings.CutSuffix(name, ".json")
	id, err := conversation.ParseID(stem)
	if !isEntry || err != nil {
		return Entry{}, false, nil
	}
	e, err = d.entry(id)
	if errors.Is(err, errBlank) {
		return Entry{}, false, d.removeBlank(id)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil // its process ended
	}
	if err != nil {
		return Entry{}, false, err
	}
	var removed error
	free, err := LocksIn(e.Repository).IfFree(id, func() {
		removed = d.removeOf(id, e.Repository, socketName(id), entryName(id))
	})
	return e, !free && err == nil, errors.Join(err, removed)
}

// removeLeftover removes the file of a process that ended before it could give it a name.
func (d *folder) removeLeftover(name string) error {
	var stat unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil // it has its name
	}
	if time.Since(time.Unix(stat.Mtim.Unix())) < leftoverAge {
		return nil
	}
	return d.remove(name)
}
