package ui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

// A ShownConversation is a conversation for programs.
type ShownConversation struct {
	repo.Summary
	Context     *agent.ContextShare `json:"context"`
	BackupBytes int64               `json:"backup_bytes,omitempty"`
}

// ShowConversation writes the facts about a conversation.
func ShowConversation(ctx context.Context, r *repo.Repo, target string, e *Env) error {
	r.States().Sweep(ctx, e.Host)
	info, err := r.Find().Known(ctx, e.Host, target)
	if err != nil && info.Head != "" {
		return r.AboutDamage(ctx, err, info)
	}
	if err != nil {
		return err
	}
	l := r.States().List(ctx, info)
	newest, newestErr := r.Find().ViewBack(ctx, e.Host, l.ID, agent.KnowsContext)
	if e.Format.Structured() {
		shown := ShownConversation{Summary: l}
		if newestErr == nil {
			shown.Context = agent.ContextOf(ctx, r, newest.Events)
		}
		return WriteJSON(e.Results(), shown)
	}
	facts := [][2]string{
		{"Conversation", l.ID}, {"Title", repo.Title(l)}, {"Status", l.Status.Words()},
		{"Turns", fmt.Sprintf("%d (%s)", l.Turns, conversation.Count(l.Events, "event"))}, {"Model", repo.Plain(l.Model)},
		{"Created", l.Created.In(e.Now().Location()).Format(time.DateTime)},
		{"Last event", l.Active().In(e.Now().Location()).Format(time.DateTime)},
		{"Ref", l.Ref}, {"Head", string(l.Head)},
	}
	if l.ForkedFrom != nil {
		facts = append(facts, [2]string{"Fork of", fmt.Sprintf("%s@%d", l.ForkedFrom.ID, l.ForkedFrom.Seq)})
	}
	if l.Parent != nil {
		facts = append(facts, [2]string{"Works for", string(*l.Parent)})
	}
	facts = append(facts, marks(l, e.Now())...)
	if words := r.Standings().Origin(ctx, info, l); words != "" {
		facts = append(facts, [2]string{"Origin", words + ": it can be read, not continued"})
	}
	if l.Usage.Input+l.Usage.Output > 0 {
		facts = append(facts, [2]string{"Usage", conversation.Tokens(l.Usage.Input) + " in, " + conversation.Tokens(l.Usage.Output) + " out"})
	}
	if newestErr == nil {
		if used := agent.ContextUsed(ctx, r, newest.Events); used != "" {
			facts = append(facts, [2]string{"Context", used})
		}
	}
	p := e.Palette(e.Stdout)
	for _, f := range facts {
		if f[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(e.Results(), "%s %s\n", p.Dim(fmt.Sprintf("%-13s", f[0])), problem.OneLine(f[1])); err != nil {
			return err
		}
	}
	return nil
}

// marks are the user's own data of a conversation.
func marks(l repo.Summary, now time.Time) (facts [][2]string) {
	for _, m := range []struct {
		name string
		at   *time.Time
	}{{"Pinned", l.Pinned}, {"Archived", l.Archived}, {"Expires", l.Expires}} {
		if m.at == nil {
			continue
		}
		text := m.at.In(now.Location()).Format(time.DateTime)
		if m.name == "Expires" && m.at.Before(now) {
			text += " (expired)"
		}
		facts = append(facts, [2]string{m.name, text})
	}
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		facts = append(facts, [2]string{"Label", key + "=" + l.Labels[key]})
	}
	return facts
}
