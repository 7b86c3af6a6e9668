package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/action"
)

// besideNote goes to the model with a question that is asked beside a conversation.
const besideNote = `The user asks this beside the conversation, whose context you have. Answer it from that context. No tool runs here, and the conversation goes on without this question.`

// AskBeside asks the question of a request with the context of a conversation, which stays as it is. It
// records question, answer and cost in a fork in the archive, and returns its id, "" if nothing was recorded.
// No tool runs. The fork leaves an incomplete turn out.
func AskBeside(ctx context.Context, r *repo.Repo, of conversation.ID, o Request, front Frontend) (conversation.ID, error) {
	id, head, err := forkBeside(ctx, r, of)
	if err != nil {
		return "", err
	}
	title := "Beside: " + conversation.Shorten(problem.OneLine(strings.Join(o.Input.Text, " ")), conversation.TitleColumns)
	o.Target, o.Turn.Beside = Target{ID: string(id), Title: title}, true
	err = Ask(ctx, r, o, front)
	ctx = context.WithoutCancel(ctx)
	if now, gone := r.Store.Head(ctx, id); gone == nil && now == head {
		return "", errors.Join(err, r.Store.Delete(ctx, id, head))
	}
	return id, err
}

// forkBeside makes an archived fork up to the newest complete turn.
func forkBeside(ctx context.Context, r *repo.Repo, of conversation.ID) (conversation.ID, conversation.Head, error) {
	var cut fork.ForkCut
	v, err := cut.View(ctx, r, string(of))
	if err != nil {
		return "", "", err
	}
	if v.Tail != nil && len(v.Tail.Events) > 0 {
		before := v.Tail.Events[0].Seq - 1
		if before < 0 {
			return "", "", problem.Usage("the first turn of %s is not complete; it has no context yet.", v.Name()).About(v.ID)
		}
		cut.Until = problem.Itoa(before)
		if v, err = cut.View(ctx, r, string(of)); err != nil {
			return "", "", err
		}
	}
	f, err := fork.New(v, cut)
	if err != nil {
		return "", "", err
	}
	if s := f.SourceStanding(); s != conversation.StandingOwn {
		return "", "", problem.New(problem.ExitDecision, "untrusted", "Conversation %s %s; it can be read, not continued.", v.Name(), r.Standings().StandingWords(s, r.Standings().Elsewhere(f.Kept))).About(v.ID).
			Hint(action.AdoptAt(v.Name(), problem.Itoa(f.At.Seq)), "make a fork of it that is yours")
	}
	place, err := snapshot.Here(ctx, r)
	if err != nil {
		return "", "", err
	}
	if err := f.Create(ctx, place); err != nil {
		return "", "", err
	}
	info, err := r.Store.Info(ctx, f.ID)
	if err != nil {
		return "", "", err
	}
	now := r.Env.Now()
	head, err := r.Store.Archive(ctx, f.ID, info.Head, repo.Record(info, &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: now.UTC()}}, now), true)
	return f.ID, head, err
}
