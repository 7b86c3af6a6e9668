package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/tool"
)

// A Stopped is a conversation of this working tree whose newest turn was interrupted or
// waits for an answer.
type Stopped struct {
	Listing repo.Summary
	Words   string        // its state, in one line
	Action  action.Action // the command that resumes it
}

// Resumes reports whether the turn can be resumed here: other processes have left it.
func (s Stopped) Resumes() bool { return s.Listing.Status.PID == nil }

const (
	// mostStopped is how many conversations are named.
	mostStopped = 3
	// mostLooked is how many of the most recently held conversations are read, so that a command starts as
	// fast beside 10,000 conversations as beside one.
	mostLooked = 128
)

// StoppedHere is [StoppedOf] the conversations that jp held last.
func StoppedHere(ctx context.Context, r *repo.Repo, but conversation.ID) []Stopped {
	return stoppedAmong(ctx, r, r.Locks.Recent(mostLooked), but)
}

// StoppedOf finds the interrupted conversations of this working tree among some, the newest first. It leaves
// out running ones, delegates, foreign ones, and the conversation but.
func StoppedOf(ctx context.Context, r *repo.Repo, list []*repo.Summary, but conversation.ID) []Stopped {
	var ids []conversation.ID
	for _, l := range list {
		if l.Status.State != "idle" {
			ids = append(ids, conversation.ID(l.ID))
		}
	}
	return stoppedAmong(ctx, r, ids, but)
}

func stoppedAmong(ctx context.Context, r *repo.Repo, ids []conversation.ID, but conversation.ID) (found []Stopped) {
	here := conversation.Git{Repo: r.Standings().KnownWorkspaceID()}
	if r.At.GitDir != r.At.CommonDir {
		here.Worktree, here.WorktreeID = filepath.Base(r.At.GitDir), r.WorktreeID()
	}
	var stopped []conversation.Info
	for _, id := range ids {
		info, err := r.Store.Info(ctx, id)
		if err == nil && id != but && info.Summary.Status != conversation.StatusIdle && info.Summary.ArchivedAt == nil && info.Summary.Parent == "" {
			stopped = append(stopped, info)
		}
	}
	slices.SortFunc(stopped, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	for _, info := range stopped {
		place, asked := newestTurn(ctx, r, info)
		if !place.SameWorktree(here) {
			continue
		}
		l := r.States().List(ctx, info)
		if !l.Local || l.Status.State == "idle" || l.Status.State == "running" {
			continue
		}
		if found = append(found, stoppedIn(r, info, l, asked)); len(found) == mostStopped {
			break
		}
	}
	return found
}

// newestTurn has the place and the request of a conversation's newest turn, as far as they are recorded.
func newestTurn(ctx context.Context, r *repo.Repo, info conversation.Info) (place conversation.Git, asked string) {
	for e, err := range r.Store.Backward(ctx, info.Head) {
		if err != nil {
			break
		}
		if e.Git != nil && (e.Type() == conversation.TypeTurnStart || e.Type() == conversation.TypeForkOrigin) {
			return *e.Git, asked
		}
		if b, ok := e.Body.(*conversation.ChatRequest); ok && !b.Interrupt {
			asked = b.Content
		}
	}
	return conversation.Git{}, asked
}

// mostAsked is how much of a request names its turn, in bytes.
const mostAsked = 60

// turnName is the newest turn in words of its request, or the conversation's title for the first turn.
func turnName(asked string, l repo.Summary) string {
	if asked = problem.OneLine(asked); asked != "" && l.Turns > 1 {
		return conversation.Shorten(asked, mostAsked)
	}
	return problem.OneLine(repo.Title(l))
}

// failuresFile has the failures that jp has named, in the folder of sessions.
const failuresFile = "failures.json"

const mostNamedFailures = 128

// NamedOnce leaves out turns that an error ended and that it has returned before, in any terminal.
func NamedOnce(r *repo.Repo, stopped []Stopped) []Stopped {
	var named []conversation.Head
	if text, err := r.StateDir().ReadSealed(repo.SessionsFolder, failuresFile); err == nil {
		_ = json.Unmarshal(text, &named) // a damaged file names nothing
	}
	known := len(named)
	found := slices.DeleteFunc(stopped, func(s Stopped) bool {
		if s.Listing.Status.Reason == nil {
			return false
		}
		if slices.Contains(named, s.Listing.Head) {
			return true
		}
		named = append(named, s.Listing.Head)
		return false
	})
	if len(named) > known {
		if text, err := json.Marshal(named[max(0, len(named)-mostNamedFailures):]); err == nil {
			_ = r.StateDir().ReplaceSealed(repo.SessionsFolder, failuresFile, text, safefile.Options{Volatile: true}) // else they are named again
		}
	}
	return found
}

func stoppedIn(r *repo.Repo, info conversation.Info, l repo.Summary, asked string) Stopped {
	s := Stopped{Listing: l, Action: action.Continue(l.ShortID)}
	state, detail := "interrupted", ""
	if n := len(info.Summary.Open); n > 0 {
		detail = ", " + conversation.Count(n, "call") + " open"
	}
	if l.Status.State == "waiting_for_input" {
		state = "waiting"
		name := problem.OneLine(repo.Plain(l.Status.Tool))
		if detail = ", asks for " + tool.Verbs(name); tool.Verb(name) != name {
			detail = ", asks to " + tool.Verb(name)
		}
		if l.Status.PID != nil {
			s.Action = action.Answer(l.ShortID)
		}
	}
	s.Words = fmt.Sprintf("%s %s ago: %q (turn %d%s)", state, conversation.Ago(max(time.Second, r.Env.Now().Sub(l.Active()))), turnName(asked, l), info.Tip.Turn, detail)
	return s
}

// beforeNew names the interrupted conversations of this place before a new conversation begins without a
// word. At a terminal the user may first resume the newest. Otherwise the conversation is new, as with Enter.
func (t *target) beforeNew(ctx context.Context) error {
	if t.run.background != nil || t.run.delegation != nil {
		return nil
	}
	stopped := NamedOnce(t.run.repo, StoppedHere(ctx, t.run.repo, ""))
	if len(stopped) == 0 {
		return nil
	}
	text := ""
	for _, s := range stopped {
		text += s.Words + "   " + s.Action.String() + "\n"
	}
	first := slices.IndexFunc(stopped, Stopped.Resumes)
	if first >= 0 && !t.run.opts.unrecorded() && !t.run.opts.Detach && t.run.opts.Target.Title == "" {
		t.run.findUser()
	}
	if t.res.user == nil {
		for _, s := range stopped {
			t.run.env.Note("%s   %s", s.Words, s.Action)
		}
		return nil
	}
	id := conversation.ID(stopped[first].Listing.ID)
	key, err := t.res.user.Decide(ctx, UserDecision{
		Text: text, Enter: 'n',
		Choices: []UserChoice{{'c', "go on with " + id.Short() + " first"}, {'n', "new conversation (Enter)"}},
		Help: "c  jp resumes that turn. What you typed is asked there, when the turn has ended.\n" +
			"n  a new conversation begins. The other one stays as it is.\n" +
			"Esc leaves, and changes nothing.\n",
	})
	switch {
	case err == nil && key == 'c':
		t.id, t.fresh, t.resumes = id, false, true
		return nil
	case err == nil:
		return nil
	case errors.Is(err, ErrUserLeft):
		return t.keepText(problem.Unchanged(problem.ExitInterrupted, "interrupted"))
	case errors.Is(err, ErrUserSilent):
		return t.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn"))
	}
	return t.choiceError(err)
}
