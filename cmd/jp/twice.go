package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore"
)

// twice refuses to choose between two conversations of one id.
func twice(t *gitstore.TwiceError) *failure {
	return fail(exitDecision, "twice", "%s.", capitalized(t.Error())).about(t.ID).makeTwo(t)
}

// makeTwo hints at how an id that is there twice becomes two.
func (f *failure) makeTwo(t *gitstore.TwiceError) *failure {
	return f.hint(fmt.Sprintf("jp fork %s@%.12s", t.ID.Short(), t.Archived), "makes the archived one a conversation of its own, if it is still wanted").
		hint(fmt.Sprintf("git update-ref -d refs/jp/archive/%s %s", t.ID, t.Archived), "then takes it away here, and leaves the live one")
}

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// twiceOf is what stands in the way where an id is there twice, nil where it is not.
func (r *repo) twiceOf(id conversation.ID) (t *gitstore.TwiceError) {
	if second, err := r.store.Second(id); err == nil && second != nil { // who reads the conversation is told of an error
		errors.As(second.Err, &t)
	}
	return t
}

// notTwice leaves conversations out that are there twice, where a filter found them;
// one that the user named is refused.
func (r *repo) notTwice(e *host, infos []conversation.Info, filtered bool) (left []conversation.Info, err error) {
	for _, info := range infos {
		switch t := r.twiceOf(info.ID); {
		case t == nil:
			left = append(left, info)
		case !filtered:
			return nil, t
		default:
			e.note("%s is live and archived, with events of its own in each, and left alone: jp verify %s", info.ID, info.ID.Short())
		}
	}
	return left, nil
}

// noteHidden tells of archived conversations that are not listed because a live one
// has their id.
func (r *repo) noteHidden(e *host) error {
	seconds, err := r.store.Seconds()
	for _, s := range seconds {
		if s.Err != nil {
			e.note("%s is live, too, with events of its own, and not listed: jp verify %s", s.ID, s.ID.Short())
		}
	}
	return err
}

// secondView is the view where the commit stands that a word names: v's own, or that
// of what else has the id of v's conversation.
func (v *view) secondView(ctx context.Context, word string) (*view, error) {
	word = strings.TrimPrefix(word, "@")
	has := func(e *conversation.Event) bool { return strings.HasPrefix(e.Commit, word) }
	if v.remote != "" || !commitPrefix().MatchString(word) || slices.ContainsFunc(v.events, has) {
		return v, nil
	}
	second, err := v.repo.store.Second(v.id)
	if err != nil || second == nil {
		return v, err
	}
	other := *v
	other.head, other.events, other.broken = second.Head, nil, nil
	if o, err := other.whole(ctx); err == nil && slices.ContainsFunc(o.events, has) {
		return o, nil
	}
	return v, nil
}
