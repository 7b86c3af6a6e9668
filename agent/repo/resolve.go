package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
)

// Resolve finds the conversation that a word stands for: a full id, the end of one, a part of a title, "."
// for the session's, "-" for the one before it, "recent" or "newest". Without a word it is the session's.
// Resolve refuses REMOTE/ID: only [Finder.Known] and [Finder.View] read fetched conversations.
func (r Finder) Resolve(ctx context.Context, e *Host, word string) (conversation.ID, error) {
	if word != "" && problem.Blank(word) {
		return "", problem.Usage("%q is blank; it names no conversation.", word).Hint(action.List, "the conversations there are")
	}
	switch word {
	case "":
		id, err := r.Visited(ctx, e, 0)
		if err == nil || IsGone(err) {
			return id, err
		}
		return r.Pick(ctx, e)
	case ".":
		return r.Visited(ctx, e, 0)
	case "-":
		return r.Visited(ctx, e, 1)
	}
	if id, err := conversation.ParseID(word); err == nil {
		if _, err := r.repo.Store.Head(ctx, id); !errors.Is(err, conversation.ErrNotFound) {
			return id, nil // reading it reports that it is unreadable
		}
	}
	for _, id := range append([]conversation.ID{conversation.ID(word)}, r.repo.Session(e).conversations()...) {
		if _, err := conversation.ParseID(string(id)); err != nil || !(conversation.Info{ID: id}).EndsIn(word) || len(r.EndingIn(word)) > 0 {
			continue
		}
		if f := r.Gone(id); f != nil {
			return "", f
		}
	}
	if info, found, err := r.fetched(ctx, word); found || err != nil {
		return "", cmp.Or(err, LookOnly(info))
	}
	if id, found := r.endingIn(word); found {
		return id, nil
	}
	infos, err := r.EveryInfo(ctx)
	if err != nil {
		return "", err
	}
	if word == "recent" || word == "newest" {
		return newestOf(infos, word, r.repo.Env.Now())
	}
	return match(infos, word)
}

// Gone is the error of a conversation whose ref another program deleted, with the command that brings it
// back. It is nil if unknown.
func (r Finder) Gone(id conversation.ID) *problem.Error {
	last, there, err := r.repo.Store.SeenRefs().Gone(id)
	if err != nil || last == "" {
		return nil
	}
	f := problem.New(problem.ExitNotFound, "not_found", "conversation %s is gone: its ref was deleted, and not by jp. Its last event is commit %s.", id, last).About(id)
	f.Gone = true
	if !there {
		f.Details = append(f.Details, "That commit is not in this repository any more.")
		return f
	}
	return f.Hint(action.SetRef(RefOf(id), string(last)), "bring it back, before git gc deletes it").
		Hint(action.Doctor, "whether a setting of git deletes refs")
}

// RefBack are the commands that bring back the ref of a conversation that another program deleted or set
// back, none for a ref that jp wrote.
func (r Finder) RefBack(ctx context.Context, id conversation.ID) []problem.Hint {
	if gone := r.Gone(id); gone != nil {
		return gone.Hints
	}
	var back *problem.Error
	if info, err := r.repo.Store.Info(ctx, id); err == nil && errors.As(r.repo.Standings().NotSetBack(ctx, []conversation.Info{info}), &back) {
		return back.Hints
	}
	return nil
}

// IsGone reports whether an error says that.
func IsGone(err error) bool {
	var f *problem.Error
	return errors.As(err, &f) && f.Gone
}

// endingIn is the one local conversation whose id ends in a word.
func (r Finder) endingIn(word string) (conversation.ID, bool) {
	if found := r.EndingIn(word); len(found) == 1 {
		return found[0], true
	}
	return "", false // match lists them in its error
}

// EndingIn are the local conversations whose id ends in a word, as far as their refs can be listed. It reads
// no conversations.
func (r Finder) EndingIn(word string) (found []conversation.ID) {
	live, _ := r.repo.Store.IDs(conversation.ScopeLive)
	archived, _ := r.repo.Store.IDs(conversation.ScopeArchived)
	for _, id := range append(live, archived...) {
		if (conversation.Info{ID: id}).EndsIn(word) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

func endingIn(infos []conversation.Info, word string) (found []conversation.Info) {
	for _, i := range infos {
		if i.EndsIn(word) {
			found = append(found, i)
		}
	}
	return found
}

// Visited is the n-th conversation of the session that still exists.
func (r Finder) Visited(ctx context.Context, e *Host, n int) (conversation.ID, error) {
	visited := r.repo.Session(e).conversations()
	if start := r.repo.startsOn(); start != "" && !slices.Contains(visited, start) {
		visited = append(visited, start)
	}
	for _, id := range visited {
		if _, err := r.repo.Store.Head(ctx, id); errors.Is(err, conversation.ErrNotFound) {
			if f := r.Gone(id); f != nil && n == 0 {
				return "", f.Hint(action.AskNew, "start another one")
			}
			continue
		}
		if n == 0 {
			return id, nil
		}
		n--
	}
	return "", problem.New(problem.ExitNotFound, "not_found", "this session has no such conversation.").
		Hint(action.List, "the conversations there are").Hint(action.Ask, "start one")
}

// EveryInfo reads the heads and summaries of all local conversations.
func (r Finder) EveryInfo(ctx context.Context) ([]conversation.Info, error) {
	live, err := r.repo.Store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return nil, err
	}
	archived, err := r.repo.Store.List(ctx, conversation.ScopeArchived)
	return append(live, archived...), err
}

// mostAhead is how far another machine's clock may be ahead.
const mostAhead = 24 * time.Hour

// newestOf is the last conversation by a time. A time in the future, by a wrong clock, counts as the oldest.
func newestOf(infos []conversation.Info, by string, now time.Time) (conversation.ID, error) {
	if len(infos) == 0 {
		return "", problem.New(problem.ExitNotFound, "not_found", "there is no conversation yet.").Hint(action.Ask, "start one")
	}
	past := func(at time.Time) time.Time {
		if at.After(now.Add(mostAhead)) {
			return time.Time{}
		}
		return at
	}
	best := slices.MaxFunc(infos, func(a, b conversation.Info) int {
		if by == "newest" {
			return past(a.ID.Created()).Compare(past(b.ID.Created()))
		}
		return past(a.Summary.LastEventAt).Compare(past(b.Summary.LastEventAt))
	})
	return best.ID, nil
}

// match finds the one conversation whose id ends in a word, or whose title has
// it.
func match(infos []conversation.Info, word string) (conversation.ID, error) {
	info, err := matching(infos, word)
	return info.ID, err
}

func matching(infos []conversation.Info, word string) (conversation.Info, error) {
	found := endingIn(infos, word)
	if len(found) == 0 {
		found = titledLike(infos, word)
	}
	switch len(found) {
	case 0:
		return conversation.Info{}, nothingLike(infos, word)
	case 1:
		return found[0], nil
	}
	f := problem.New(problem.ExitNotFound, "ambiguous", "%q could be %d conversations:", word, len(found))
	for _, i := range found[:min(len(found), 10)] {
		f.Hint(action.Show(i.Name()), problem.OneLine(i.Summary.Title))
	}
	if more := len(found) - 10; more > 0 {
		f.Details = append(f.Details, fmt.Sprintf("The first 10 of them, and %d more:", more))
	}
	return conversation.Info{}, f
}

func titledLike(infos []conversation.Info, word string) (found []conversation.Info) {
	for _, i := range infos {
		if strings.Contains(strings.ToLower(i.Summary.Title), strings.ToLower(word)) {
			found = append(found, i)
		}
	}
	return found
}

// nothingLike is the error of a word without a conversation. It lists the similar ids.
func nothingLike(infos []conversation.Info, word string) *problem.Error {
	f := problem.New(problem.ExitNotFound, "not_found", "no conversation matches %q.", word)
	if seq, err := strconv.Atoi(strings.TrimPrefix(word, "@")); err == nil && slices.ContainsFunc(infos, func(i conversation.Info) bool { return 0 <= seq && seq < i.Summary.Events }) {
		f.Hint(action.ShowEvent(strconv.Itoa(seq)), "this event of the session's conversation")
	}
	if target, event := SplitTarget(word); target != "" && event != "" {
		if found, err := matching(infos, target); err == nil {
			return f.Hint(action.ForkAtAndUse(found.ID.Short(), event), "goes on from this event, in a fork")
		}
	}
	if strings.HasPrefix(word, "HEAD") {
		f.Hint(action.Why(word), "the conversations of the commit's lines")
	}
	for _, i := range infos {
		if i.Resembles(word) && len(f.Hints) < 3 {
			f.Hint(action.Show(i.Name()), problem.OneLine(i.Summary.Title))
		}
	}
	return f.Hint(action.List, "the conversations there are")
}

// SplitTarget takes [ID][@E] apart.
func SplitTarget(word string) (target, event string) {
	target, event, _ = strings.Cut(word, "@")
	return target, event
}

// ErrNoChoice means that the user could not choose a conversation.
var ErrNoChoice = errors.New("no conversation can be chosen")

// Pick lets the user choose a conversation. Otherwise its error explains how to name one.
func (r Finder) Pick(ctx context.Context, e *Host) (conversation.ID, error) {
	return r.PickFrom(ctx, e, noneYet(), conversation.ScopeLive)
}

func noneYet() *problem.Error {
	return problem.Usage("this session has no conversation yet.").
		Hint(action.List, "the conversations there are; name one by its last digits").Hint(action.Ask, "start one")
}

// Single is the one conversation of the user's own in a state that the command is meant for. It is false
// unless there is exactly one.
func (r Finder) Single(ctx context.Context, meant func(Status) bool) (conversation.ID, bool) {
	fit, err := r.fitting(ctx, meant)
	if err != nil || len(fit) != 1 {
		return "", false
	}
	return fit[0].ID, true
}

func (r Finder) fitting(ctx context.Context, meant func(Status) bool) (fit []conversation.Info, err error) {
	infos, err := r.repo.Store.List(ctx, conversation.ScopeLive)
	for _, i := range infos {
		if _, held := r.repo.Locks.Held(i.ID); i.Err != nil || !held && i.Summary.Status == conversation.StatusIdle {
			continue // commands are never meant for it, and more facts take time
		}
		if l := r.repo.States().List(ctx, i); l.Local && meant(l.Status) {
			fit = append(fit, i)
		}
	}
	return fit, err
}

// PickOf is Pick among the user's own conversations in a state that the command is meant for. It takes a
// single one without a question.
func (r Finder) PickOf(ctx context.Context, e *Host, meant func(Status) bool) (conversation.ID, error) {
	errOnly := errors.New("there is only one")
	var only conversation.ID
	id, err := r.pick(ctx, e, noneYet(), func() (fit []conversation.Info, err error) {
		fit, err = r.fitting(ctx, meant)
		if err == nil && len(fit) == 1 {
			only, err = fit[0].ID, errOnly
		}
		return fit, err
	})
	if errors.Is(err, errOnly) {
		return only, nil
	}
	return id, err
}

// PickFrom lets the user choose among the conversations of some scopes. It returns the error none if the user
// cannot, or the scopes are empty.
func (r Finder) PickFrom(ctx context.Context, e *Host, none error, scopes ...conversation.Scope) (conversation.ID, error) {
	return r.pick(ctx, e, none, func() (infos []conversation.Info, err error) {
		for _, scope := range scopes {
			listed, err := r.repo.Store.List(ctx, scope)
			if err != nil {
				return nil, err
			}
			infos = append(infos, listed...)
		}
		return infos, nil
	})
}

// pick lets the user choose among conversations, those that were active last first.
func (r Finder) pick(ctx context.Context, e *Host, none error, candidates func() ([]conversation.Info, error)) (conversation.ID, error) {
	if e.Choose == nil {
		return "", none
	}
	id, err := e.Choose(ctx, func() ([]Choice, error) {
		infos, err := candidates()
		slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
		choices := make([]Choice, min(len(infos), mostChoices))
		for i := range choices {
			choices[i] = Choice{infos[i], r.lastLine(ctx, infos[i])}
		}
		return choices, err
	})
	if errors.Is(err, ErrNoChoice) {
		err = none
	}
	return id, err
}

// A Finder finds conversations and events by the words that users have for them.
type Finder struct{ repo *Repo }

func (r *Repo) Find() Finder { return Finder{r} }

// IncompleteFailure is the error of an incomplete turn, with the event that it waits for.
func IncompleteFailure(id conversation.ID, tail *conversation.IncompleteTurn) *problem.Error {
	f := problem.New(problem.ExitDecision, "incomplete_turn", "Conversation %s has an incomplete turn (turn %d).", id, tail.Number).About(id)
	for _, q := range tail.Ledger().Live() {
		f.Details = append(f.Details, "Waiting for input: "+AskedWords(q.Call.Request.Name, "", q.Request.Question.Text))
	}
	return f.Hint(action.Resume(string(id)), "resume it ("+action.Continue(id.Short()).String()+")").
		Hint(action.DiscardTurn(string(id)), "discard it ("+action.Discard(id.Short()).String()+")")
}

// AboutConversation adds the conversation to an error.
func AboutConversation(err error, id conversation.ID) error {
	return AboutInfo(err, conversation.Info{ID: id})
}

// AboutInfo is AboutConversation for one that may have been fetched.
func AboutInfo(err error, of conversation.Info) error {
	if errors.Is(err, gitstore.ErrShallow) {
		return Partial(of)
	}
	f, id := ProblemOf(err), of.ID
	if f.Code != "damaged" {
		return f.About(id)
	}
	var damage *gitstore.DamageError
	if !errors.As(err, &damage) {
		return f.About(id) // its ref, which the message names
	}
	f.Message = fmt.Sprintf("%s is damaged at %s", of.Name(), f.Message)
	name := id.Short()
	if of.Remote != "" {
		name = of.Name()
	}
	if errors.Is(err, gitstore.ErrStripped) {
		f.Hint(action.Print(name), "its commit messages, as text that is not verified")
	}
	if damage.Good > 0 {
		f.Hint(action.ForkAt(name, problem.Itoa(damage.Good-1)), "go on from the last good event")
	}
	return f.About(id).Hint(action.Verify(name), "all that is wrong with it")
}

// AboutDamage adds to the error of a conversation whose newest event is unreadable how much of it is
// readable.
func (r *Repo) AboutDamage(ctx context.Context, err error, info conversation.Info) error {
	if info.Head == "" {
		return AboutInfo(err, info) // its ref is unreadable
	}
	if _, found := r.Store.Load(ctx, info.Head); found != nil {
		err = found
	}
	return AboutInfo(err, info)
}

const (
	mostChoices = 200 // that are offered
	nearEvents  = 12  // that are searched for the last line
)

// lastLine is the last line that the model said in the newest turn.
func (r Finder) lastLine(ctx context.Context, info conversation.Info) string {
	read := 0
	for e, err := range r.repo.Store.Backward(ctx, info.Head) {
		if read++; err != nil || read > nearEvents {
			break
		}
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			return ""
		case *conversation.ChatResponse:
			lines := strings.Split(strings.TrimSpace(b.Text), "\n")
			if last := problem.OneLine(lines[len(lines)-1]); b.Part == conversation.PartMessage && last != "" {
				return last
			}
		}
	}
	return ""
}
