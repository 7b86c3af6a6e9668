package agent

import (
	"context"

	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
)

// takeBack ends the tools of the incomplete turn that still run, and takes it back, behind those of its
// delegates.
func (l *history) takeBack(ctx context.Context) error {
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
	_ = l.run.repo.StateDir().Remove(repo.DraftsFolder, snapshot.UntrackedName(l.target.id)) // one that stays is replaced
	return live.RemoveAnswer(l.run.repo.StateDir(), l.target.id)
}

// filesOfTurn is the working tree if the turn worked in it, else nil.
func (l *history) filesOfTurn(ctx context.Context) (*snapshot.Files, error) {
	f, err := l.run.openFiles(ctx)
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

// endTools ends the tools of the earlier run that still run, tells the user, and removes the locks of all.
func (l *history) endTools(ctx context.Context) error {
	ended := 0
	defer func() {
		if ended > 0 { // these are gone, even if others failed
			l.run.env.Note("%s: ended %s that had outlived the process.", l.target.id, conversation.Count(ended, "tool"))
		}
	}()
	for _, call := range l.tail.Ledger().Open() {
		seq := call.Event.Seq
		if l.run.repo.Locks.ToolAlive(l.target.id, seq) {
			if err := l.run.repo.Locks.EndTool(ctx, l.target.id, seq); err != nil {
				return err
			}
			ended++
		}
		_, forget, err := l.run.repo.Locks.Tool(l.target.id, seq, "")
		if err != nil {
			return err
		}
		forget()
	}
	return nil
}
