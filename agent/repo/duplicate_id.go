package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
)

// duplicateProblem is the error of an id that two conversations have.
func duplicateProblem(t *gitstore.DuplicateIDError) *problem.Error {
	return MakeTwo(problem.New(problem.ExitDecision, "twice", "%s.", capitalized(t.Error())).About(t.ID), t)
}

// MakeTwo adds the hint that makes two ids of a duplicate one.
func MakeTwo(f *problem.Error, t *gitstore.DuplicateIDError) *problem.Error {
	return f.Hint(action.ForkAt(t.ID.Short(), fmt.Sprintf("%.12s", t.Archived)), "makes the archived one a conversation of its own, if it is still wanted").
		Hint(action.DropArchived(string(t.ID), string(t.Archived)), "then takes it away here, and leaves the live one")
}

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// TwiceOf is the error of a duplicate id, or nil.
func (r Finder) TwiceOf(id conversation.ID) (t *gitstore.DuplicateIDError) {
	if second, err := r.repo.Store.DuplicateOf(id); err == nil && second != nil { // other readers of the conversation report an error
		errors.As(second.Err, &t)
	}
	return t
}

// NotTwice leaves out conversations with a duplicate id if a filter found them, and fails if the user named
// them.
func (r Finder) NotTwice(e *Host, infos []conversation.Info, filtered bool) (left []conversation.Info, err error) {
	for _, info := range infos {
		switch t := r.TwiceOf(info.ID); {
		case t == nil:
			left = append(left, info)
		case !filtered:
			return nil, t
		default:
			e.Note("%s is live and archived, with events of its own in each, and left alone: %s", info.ID, action.Verify(info.ID.Short()))
		}
	}
	return left, nil
}

// NoteHidden names the archived conversations that are left out of lists because a live one has their id.
func (r Finder) NoteHidden(e *Host) error {
	seconds, err := r.repo.Store.Duplicates()
	for _, s := range seconds {
		if s.Err != nil {
			e.Note("%s is live, too, with events of its own, and not listed: %s", s.ID, action.Verify(s.ID.Short()))
		}
	}
	return err
}

// SecondView is the view with the commit that a word names: v, or the other conversation with v's id.
func (v *View) SecondView(ctx context.Context, word string) (*View, error) {
	word = strings.TrimPrefix(word, "@")
	has := func(e *conversation.Event) bool { return strings.HasPrefix(e.Commit, word) }
	if v.Remote != "" || !commitPrefix().MatchString(word) || slices.ContainsFunc(v.Events, has) {
		return v, nil
	}
	second, err := v.Repo.Store.DuplicateOf(v.ID)
	if err != nil || second == nil {
		return v, err
	}
	other := *v
	other.Head, other.Events, other.Broken = second.Head, nil, nil
	if o, err := other.whole(ctx); err == nil && slices.ContainsFunc(o.Events, has) {
		return o, nil
	}
	return v, nil
}
