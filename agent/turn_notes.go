package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/internal/safetext"
	"jp/reconcile"
)

// note is the news for the model at the start of a turn: that an earlier turn was taken back, or ended in a
// refusal, although its tools had changed files, and that the user put files back, or made a working tree
// that lacks some. It is nil without news.
func (l *history) note(ctx context.Context) *conversation.Event {
	last := conversation.NewestTurn(l.stream.Events())
	var parts []string
	if discardedBefore(last) {
		wrote := WrittenBy(ctx, l.run.repo, last)
		if perhaps := perhapsWrittenBy(last, wrote); len(wrote)+len(perhaps) > 0 {
			parts = append(parts, reconcile.DiscardNote(last.Number, wrote, perhaps))
		}
	}
	if paths := putBackSince(last); len(paths) > 0 {
		parts = append(parts, reconcile.RestoredNote(paths))
	}
	if paths := snapshot.LeftBehind(l.stream.Events()).Paths(); len(paths) > 0 {
		parts = append(parts, reconcile.LeftBehindNote(paths))
	}
	if len(parts) == 0 {
		return nil
	}
	return &conversation.Event{Body: &conversation.Note{Content: strings.Join(parts, "\n\n")}}
}

// discardedBefore reports whether all of a turn is excluded from requests.
func discardedBefore(t conversation.Turn) bool {
	ledger := t.Ledger()
	call := ledger.LastCall()
	return ledger.Discarded || call != nil && call.Finish.Refused()
}

// perhapsWrittenBy are the files that moved while a tool of the turn was lost, except those that its tools
// are known to have changed. A resume without lost tools has no tree of its own: earlier changes were
// recorded before it, as the user's.
func perhapsWrittenBy(t conversation.Turn, wrote []string) []string {
	paths := map[string]bool{}
	for i, e := range t.Events {
		b, ok := e.Body.(*conversation.Resumed)
		if !ok || b.Report == nil || i == 0 || e.Tree == t.Events[i-1].Tree {
			continue
		}
		for _, c := range b.Report.Changed {
			paths[c.Path] = true
		}
	}
	for _, path := range wrote {
		delete(paths, path)
	}
	return slices.Sorted(maps.Keys(paths))
}

// WrittenBy are the files that a turn's tools changed, quoted. A result lists only so many. The snapshots
// have the rest, if they are here.
func WrittenBy(ctx context.Context, r *repo.Repo, t conversation.Turn) []string {
	listed := listedBy(t)
	if len(listed) == 0 {
		return nil
	}
	var ids []string
	for _, e := range t.Events {
		ids = append(ids, e.Tree)
	}
	steps, err := trees.DiffChain(ctx, r.Trees, ids)
	if err != nil {
		return listed
	}
	for i, moves := range steps {
		if t.Events[i+1].Type() != conversation.TypeToolCallResponse {
			continue
		}
		for _, m := range moves {
			listed = append(listed, conversation.QuotePath(m.Path))
		}
	}
	slices.Sort(listed)
	return slices.Compact(listed)
}

func listedBy(t conversation.Turn) []string {
	paths := map[string]bool{}
	for _, e := range t.Events {
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			for _, c := range b.Changed {
				paths[c.Path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// putBackSince are the files that were put back behind the last action of the model in a turn.
func putBackSince(t conversation.Turn) []string {
	paths := map[string]bool{}
	for _, e := range t.Events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse, *conversation.ToolCallResponse:
			clear(paths)
		case *conversation.Restored:
			for _, f := range b.Files {
				if f.Done {
					paths[f.Path] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// instructionsForTurn are the records of a turn that give its model the files of instructions: one, or none
// if the model knows them. decide, nil without a user to ask, lets the user decide about files that another
// program changed.
func instructionsForTurn(ctx context.Context, from *contextfiles.Instructions, events []*conversation.Event, decide decider, out Output) ([]*conversation.Event, error) {
	var ask contextfiles.Ask
	if decide != nil {
		ask = func(ctx context.Context, d contextfiles.Difference) (use, decided bool, err error) {
			return askInstructions(ctx, decide, d)
		}
	}
	turn, err := from.Turn(ctx, events, ask)
	if err != nil {
		return nil, err
	}
	for _, line := range turn.Notices {
		out.Noticed(line)
	}
	if turn.Told == nil {
		return nil, nil
	}
	return []*conversation.Event{{Body: turn.Told}}, nil
}

type decider func(ctx context.Context, d UserDecision) (rune, error)

// askInstructions lets the user decide about one file. Silence decides nothing.
func askInstructions(ctx context.Context, decide decider, d contextfiles.Difference) (use, decided bool, err error) {
	how, no := "is not committed", "do not give it to the model"
	if d.Committed != nil {
		how, no = "differs from what is committed", "give the model what is committed"
	}
	key, err := decide(ctx, UserDecision{
		Text: fmt.Sprintf("%s tells the model how to work. It %s, and jp has no edit of yours on record.\n%s",
			safetext.Show(d.File.Path), how, d.Short()),
		Choices: []UserChoice{{'y', "give it to the model as it is"}, {'n', no}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return false, false, problem.Unchanged(problem.ExitInterrupted, "interrupted")
	case errors.Is(err, ErrUserSilent), errors.Is(err, ErrUserGone):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	return key == 'y', true, nil
}
