package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// How often a tool that outlived jp is looked at, and how long it has to end
// after it was asked to.
const (
	toolPoll  = 50 * time.Millisecond
	toolGrace = 5 * time.Second
)

// ToolRun reads the name of a tool run's lock.
func ToolRun(name string) (id conversation.ID, seq int, ok bool) {
	stem, number, found := strings.Cut(name, ".")
	id, err := conversation.ParseID(stem)
	if !found || err != nil {
		return "", 0, false
	}
	seq, err = strconv.Atoi(number)
	return id, seq, err == nil
}

// Working reports whether a tool of a conversation still runs.
func (l Locks) Working(id conversation.ID) bool {
	entries, _ := os.ReadDir(l.Dir) // empty without the folder
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		of, seq, ok := ToolRun(e.Name())
		return ok && of == id && l.ToolAlive(id, seq)
	})
}

// OrphanedTools are the conversations with a tool that still runs in a working tree although their jp has
// ended. A tool of an unknown place may be anywhere, and so may place "".
func (l Locks) OrphanedTools(place string) (ids []conversation.ID) {
	entries, _ := os.ReadDir(l.Dir) // empty without the folder
	for _, e := range entries {
		id, seq, ok := ToolRun(e.Name())
		if !ok || slices.Contains(ids, id) || !l.ToolAlive(id, seq) {
			continue
		}
		if _, held := l.Held(id); held {
			continue // its jp knows its tools
		}
		if at, err := l.placeOf(id, seq); err == nil && (at == "" || place == "" || at == place) {
			ids = append(ids, id)
		}
	}
	return ids
}

// maxPlace is as much of a lock's text as a place can have, in bytes.
const maxPlace = 4096

// placeOf is the working tree in a tool's lock.
func (l Locks) placeOf(id conversation.ID, seq int) (string, error) {
	f, err := openLock(l.toolPath(id, seq))
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPlace))
	return string(text), err
}

// AwaitTool waits until all processes of an earlier tool run have ended.
func (l Locks) AwaitTool(ctx context.Context, id conversation.ID, seq int) error {
	for l.ToolAlive(id, seq) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(toolPoll):
		}
	}
	return nil
}

// EndTool ends the processes of an earlier tool run: it asks them, and kills them after five seconds. It
// signals only processes that hold the run's own lock file open, whatever their number.
func (l Locks) EndTool(ctx context.Context, id conversation.ID, seq int) error {
	path := l.toolPath(id, seq)
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		if err := signalHolders(path, signal); err != nil {
			return fmt.Errorf("end the tool of event %d: %w", seq, err)
		}
		limited, cancel := context.WithTimeout(ctx, toolGrace)
		err := l.AwaitTool(limited, id, seq)
		cancel()
		if err == nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("%w: the tool of event %d does not end", ErrToolAlive, seq)
}
