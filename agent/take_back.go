package agent

import (
	"context"

	"jp/agent/drafts"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
)

// takeBack ends what still lives of the incomplete turn and takes it back, behind
// those of its delegates.
func (l *loaded) takeBack(ctx context.Context) error {
	if err := l.takeBackChildren(ctx); err != nil {
		return err
	}
	if err := l.endTools(ctx); err != nil {
		return err
	}
	files, err := l.filesOfTurn(ctx)
	if err != nil {
		return err
	}
	loop := l.recorder(files)
	if err := loop.Discard(ctx); err != nil {
		return err
	}
	l.head = loop.Head()
	l.events = l.stream.Events()
	_ = l.repo.StateDir().Remove(repo.DraftsFolder, snapshot.UntrackedName(l.id)) // one that stays is replaced
	return drafts.RemoveAnswer(l.repo.StateDir(), l.id)
}

// filesOfTurn is the working tree, if it is the one that the turn worked in; nil
// otherwise.
func (l *loaded) filesOfTurn(ctx context.Context) (*snapshot.Files, error) {
	f, err := l.openFiles(ctx)
	if err != nil || f.Tree == nil {
		return nil, err
	}
	here, err := f.Place(ctx)
	if err != nil {
		return nil, err
	}
	there := l.record().Place
	if !there.SameWorktree(*here) {
		return nil, nil
	}
	return f, nil
}

// endTools ends the tools of the earlier run that still live, says so, and removes
// the locks of all.
func (l *loaded) endTools(ctx context.Context) error {
	ended := 0
	defer func() {
		if ended > 0 { // whatever came of the others, these are gone
			l.env.Note("%s: ended %s that had outlived the process.", l.id, conversation.Count(ended, "tool"))
		}
	}()
	for _, call := range l.tail.Ledger().Open() {
		seq := call.Event.Seq
		if l.repo.Locks.ToolAlive(l.id, seq) {
			if err := l.repo.Locks.EndTool(ctx, l.id, seq); err != nil {
				return err
			}
			ended++
		}
		_, forget, err := l.repo.Locks.Tool(l.id, seq, "")
		if err != nil {
			return err
		}
		forget()
	}
	return nil
}
