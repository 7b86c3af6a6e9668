package turnloop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// The paths in an event are bounded by their number and by the bytes of their names, so that they always fit.
const (
	maxPaths     = 200
	maxPathBytes = 20 << 10
)

// fitting is how many of the paths an event can list.
func fitting[T any](items []T, path func(T) string) int {
	size := 0
	for i, item := range items {
		if size += len(word(path(item))); i == maxPaths || size > maxPathBytes {
			return i
		}
	}
	return len(items)
}

// files looks at the files, and keeps their state by the events: the newest tree, the repository's place, and
// the control files of git.
type files struct {
	workspace Workspace // optional
	tree      string
	git       conversation.Git
	control   []conversation.NamedFile // before the newest tool that could change them
}

func (f *files) follow(events []*conversation.Event) {
	for _, e := range events {
		if e.Tree != "" {
			f.tree = e.Tree
		}
		if e.Git != nil {
			f.git = *e.Git
		}
		if b, ok := e.Body.(*conversation.ToolStarted); ok && len(b.ControlFiles) > 0 {
			f.control = b.ControlFiles
		}
	}
}

// moved is the repository's place if it differs from the events, else nil.
func (f *files) moved(now conversation.Git) *conversation.Git {
	if f.git.SamePlace(now) {
		return nil
	}
	g := now
	if f.git.Head != now.Head {
		g.HeadWas = f.git.Head
	}
	if f.git.Branch != now.Branch {
		g.BranchWas = f.git.Branch
	}
	return &g
}

// refsMoved describes in one line how refs moved: HEAD if its branch changed, or its commit if it has no
// branch, and other refs.
func (f *files) refsMoved(now *SnapshotResult) string {
	var said []string
	before := headName(f.git)
	if after := headName(now.Git); before != "" && after != "" && before != after {
		said = append(said, "HEAD "+before+" → "+after)
	}
	if now.Refs != "" {
		said = append(said, now.Refs)
	}
	if len(said) == 0 {
		return ""
	}
	return "git: " + strings.Join(said, ", ")
}

// headName is the branch, or the commit of a detached HEAD.
func headName(g conversation.Git) string {
	if g.Branch != "" {
		return g.Branch
	}
	return g.Head[:min(len(g.Head), 7)]
}

// look compares the files with the newest event's tree.
func (f *files) look(ctx context.Context, at SnapshotRequest) (SnapshotResult, error) {
	at.Tree = f.tree
	if f.workspace == nil {
		return SnapshotResult{Tree: at.Tree, Git: f.git}, nil
	}
	sight, err := f.workspace.Look(ctx, at)
	if err != nil {
		return SnapshotResult{Obeyed: sight.Obeyed, LeftOut: sight.LeftOut}, fmt.Errorf("look at the files: %w", err)
	}
	return sight, nil
}

// lookGrace is how long a look after a tool goes on when the turn is to end.
const lookGrace = 10 * time.Second

// lookAfter looks at a tool's changes, even if the turn is to end. It then bounds the time: git may wait for
// something that the tool put in the place of a file.
func (f *files) lookAfter(ctx context.Context, at SnapshotRequest) (SnapshotResult, error) {
	ctx, cancel := extend(ctx, lookGrace)
	defer cancel()
	return f.look(ctx, at)
}

// extend is a context that ends some time after another one.
func extend(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
			cancel(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel(context.Canceled)
	}
}

// drift is the event that records outside changes, nil if there are none. It also records the untracked
// files of the names, which its words do not call changes.
func (f *files) drift(sight SnapshotResult, named ...string) *conversation.Event {
	if sight.Tree == f.tree || f.tree == "" {
		return nil
	}
	b := &conversation.Workspace{Paths: sight.Stat}
	n := fitting(b.Paths, func(p conversation.PathStat) string { return p.Path })
	b.Paths, b.More = b.Paths[:n], len(b.Paths)-n
	words := conversation.OutsideWords(sight.Stat, func(path string, p conversation.PathStat) bool {
		return p.Status == "A" && slices.Contains(named, path)
	})
	return &conversation.Event{Body: b, Tree: sight.Tree, Objects: sight.Objects, Git: f.moved(sight.Git), Subject: words}
}

// requestLost also looks for changes by lost tools: those that started and have no result.
func (o *Options) requestLost(ledger *conversation.Ledger, event int) SnapshotRequest {
	calls, since := ledger.Lost()
	at := SnapshotRequest{Lost: since, Event: event}
	for _, call := range calls {
		at.Call = &CallPlace{Conversation: o.Conversation.ID, Turn: call.Event.Turn, Seq: call.Event.Seq} // one that changes files runs alone
		if def := lookup(o.Tools.Registry, call.Request.Name); def != nil && def.Paths != nil {
			named, _ := def.Paths(call.Arguments())
			at.Named = append(at.Named, named...)
		}
	}
	return at
}

// addLost adds the changes of files since the start of a tool without a result. Their
// author is unknown.
func (f *files) addLost(ctx context.Context, t *conversation.TurnBuilder, opts *Options, ledger *conversation.Ledger) error {
	sight, err := f.look(ctx, opts.requestLost(ledger, t.Next()))
	if err != nil {
		return err
	}
	moved := f.drift(sight)
	if moved == nil && len(sight.LostUnseen) == 0 {
		return nil
	}
	report, with, words := &conversation.Report{}, []conversation.Draft{conversation.WithGit(&sight.Git)}, "files that no snapshot has"
	if moved != nil {
		outside := moved.Body.(*conversation.Workspace)
		report.Changed, report.More = outside.Paths, outside.More
		words = conversation.ChangedWords(outside.Paths, outside.More)
		with = append(with, conversation.WithTree(moved.Tree, moved.Objects...))
	}
	t.AddRecord(&conversation.Resumed{Phase: conversation.PhaseExecuting, Report: report},
		append(with, conversation.WithSubject("by a lost tool, or outside: "+words))...)
	return nil
}

// allControl stands for all control files where an event cannot list them.
const allControl = ".git"

// listedControl are control files as an event lists them: one code stands for all if there are too many.
func listedControl(all []conversation.NamedFile) []conversation.NamedFile {
	if fitting(all, func(f conversation.NamedFile) string { return f.Path + f.Digest }) == len(all) {
		return all
	}
	code := sha256.New()
	for _, file := range all {
		fmt.Fprintf(code, "%s\x00%s\x00", file.Path, file.Digest)
	}
	return []conversation.NamedFile{{Path: allControl, Digest: hex.EncodeToString(code.Sum(nil))}}
}

// controlChanged are the control files that differ from those on record, in order.
func (f *files) controlChanged(now SnapshotResult) []string {
	is := listedControl(now.Control)
	if len(f.control) == 0 || len(is) == 0 {
		return nil // one of the two is unknown
	}
	states := map[string]string{}
	for _, file := range f.control {
		states[file.Path] = file.Digest
	}
	var names []string
	for _, file := range is {
		if was, there := states[file.Path]; !there || was != file.Digest {
			names = append(names, file.Path)
		}
		delete(states, file.Path)
	}
	for gone := range states {
		names = append(names, gone)
	}
	slices.Sort(names)
	return names
}
