package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/process"
)

// answersWithin is how long a process has to say hello.
const answersWithin = 500 * time.Millisecond

// locks finds the holders of conversations, and the tools that outlived their jp.
func (c *checkup) locks(ctx context.Context) []Finding {
	entries, _ := os.ReadDir(c.repo.Locks.Dir) // without the folder there are no locks
	held := map[conversation.ID]process.Holder{}
	var tools []Tool
	for _, e := range entries {
		if id, seq, ok := process.ToolRun(e.Name()); ok && c.repo.Locks.ToolAlive(id, seq) {
			tools = append(tools, Tool{ID: id, Seq: seq})
		}
		stem, isLock := strings.CutSuffix(e.Name(), ".lock")
		id, err := conversation.ParseID(stem)
		if !isLock || err != nil {
			continue
		}
		if holder, is := c.repo.Locks.Held(id); is {
			held[id] = holder
		}
	}
	outlived := tools[:0]
	for _, t := range tools {
		if _, is := c.repo.Locks.Held(t.ID); !is && c.repo.Locks.ToolAlive(t.ID, t.Seq) {
			outlived = append(outlived, t)
		}
	}
	all := append(Holders(c.holders(ctx, held)), Tools(outlived)...)
	return append(all, treeLock(c.repo.At.GitDir).Findings()...)
}

// treeLock examines the lock for changing files. It leaves the lock file as it is.
func treeLock(gitDir string) TreeLock {
	l := TreeLock{Path: filepath.Join(gitDir, safefile.StateDirName, "mutation.lock")}
	f, err := os.OpenFile(l.Path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return l
	}
	l.Held = errors.Is(safefile.TryShare(f), safefile.ErrLocked)
	info, err := f.Stat()
	f.Close()
	if l.Held && err == nil {
		by, _ := process.OpenedBy([]os.FileInfo{info})
		l.PIDs = by[0]
	}
	return l
}

// holders asks all of them at once whether they can be reached.
func (c *checkup) holders(ctx context.Context, held map[conversation.ID]process.Holder) []Holder {
	holders := make([]Holder, 0, len(held))
	var mu sync.Mutex
	var asking sync.WaitGroup
	for id, holder := range held {
		asking.Go(func() {
			h := Holder{ID: id, PID: holder.PID, Ended: ended(holder), Err: c.reaches(ctx, id)}
			if !holder.Started.IsZero() {
				h.For = max(c.env.Now().Sub(holder.Started), time.Second)
			}
			mu.Lock()
			defer mu.Unlock()
			holders = append(holders, h)
		})
	}
	asking.Wait()
	return SortHolders(holders)
}

// reaches returns the error of reaching the process that holds a conversation. A hello attaches to nothing.
func (c *checkup) reaches(ctx context.Context, id conversation.ID) error {
	registry, ok := c.repo.States().ToldRegistry()
	if !ok {
		return errors.New("it has told nothing of itself")
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if c.repo.Store != nil {
		id = c.repo.States().AskedIn(ctx, id)
	}
	client, err := repo.Dial(ctx, registry, id)
	if client != nil {
		client.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has no socket here")
	}
	return err
}

// ended reports whether the process that took a lock is gone.
func ended(h process.Holder) bool {
	if h.PID <= 0 {
		return false
	}
	if start := process.StartOf(h.PID); h.Start != "" && start != "" {
		return start != h.Start
	}
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}

// A Holder is the process that holds a conversation.
type Holder struct {
	ID    conversation.ID
	PID   int
	For   time.Duration // since it took the lock, 0 if unknown
	Ended bool          // the process that took the lock is gone
	Err   error         // of reaching it, or nil
}

// Holders judges the holders of conversations.
func Holders(holders []Holder) (all []Finding) {
	if len(holders) == 0 {
		return []Finding{found(OK, "locks", "no conversation is held")}
	}
	for _, h := range holders {
		all = append(all, h.finding())
	}
	return all
}

// SortHolders sorts holders for the output.
func SortHolders(holders []Holder) []Holder {
	slices.SortFunc(holders, func(a, b Holder) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return holders
}

func (h Holder) finding() Finding {
	who := fmt.Sprintf("%s is held by pid %d", h.ID, h.PID)
	if h.PID == 0 {
		who = fmt.Sprintf("%s is held by a process that has not said its number", h.ID)
	}
	if h.For > 0 {
		who += " for " + conversation.Ago(h.For)
	}
	switch {
	case h.Ended:
		return found(Warn, "locks", "%s, which has ended: something that it started keeps the lock", who).
			advise("%s again in a moment; else find out with lsof who has jp/locks/%s.lock open", action.Doctor, h.ID)
	case h.Err != nil:
		return found(Warn, "locks", "%s, which cannot be reached: %v", who, h.Err).advise("%s ends it; its turn can be resumed", action.Kill(h.ID.Short()))
	}
	return found(OK, "locks", "%s, which can be reached: %s", who, action.Attach(h.ID.Short()))
}

// A TreeLock is the lock for changing files of a working tree.
type TreeLock struct {
	Path string
	Held bool
	PIDs []int // the processes that have it open, as far as the system tells
}

// Findings names its holder.
func (l TreeLock) Findings() []Finding {
	if !l.Held {
		return nil
	}
	var pids []string
	for _, pid := range l.PIDs {
		pids = append(pids, strconv.Itoa(pid))
	}
	what := l.Path + " is locked: a tool or an undo changes files of this working tree, and others wait; "
	switch len(pids) {
	case 0:
		return []Finding{found(Note, "locks", "%sjp cannot see which process holds it", what).advise("wait for that process")}
	case 1:
		return []Finding{found(Note, "locks", "%spid %s has it open", what, pids[0]).advise("wait for that process; kill %s ends it", pids[0])}
	}
	return []Finding{found(Note, "locks", "%spids %s have it open, and one of them holds it", what, strings.Join(pids, ", ")).advise("wait for them; ps -p %s names them", strings.Join(pids, ","))}
}

// A Tool is a run that lives on without its jp.
type Tool struct {
	ID  conversation.ID
	Seq int // the event that asked for it
}

// Tools judges the runs that outlived their jp.
func Tools(tools []Tool) (all []Finding) {
	for _, t := range tools {
		all = append(all, found(Warn, "tools", "a tool of %s (@%d) runs on without its jp", t.ID, t.Seq).
			advise("%s goes on when it has ended; %s ends it", action.Continue(t.ID.Short()), action.Kill(t.ID.Short())))
	}
	return all
}
