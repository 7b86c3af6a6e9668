package repo

import (
	"cmp"
	"context"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// AnyRemote stands for all remotes.
const AnyRemote = "*"

// fetched finds the conversation of REMOTE/ID, if any conversations of that remote were fetched.
func (r Finder) fetched(ctx context.Context, word string) (info conversation.Info, found bool, err error) {
	slash := strings.LastIndexByte(word, '/')
	if slash < 1 {
		return info, false, nil
	}
	heads, err := r.repo.Store.Heads(conversation.ScopeRemotes)
	if err != nil || len(ofRemote(heads, word[:slash])) == 0 {
		return info, false, err
	}
	all, err := r.repo.Store.List(ctx, conversation.ScopeRemotes)
	if err != nil {
		return info, false, err
	}
	info, err = matching(ofRemote(all, word[:slash]), word[slash+1:])
	return info, err == nil, err
}

// ofRemote are the conversations that were fetched from one remote.
func ofRemote(infos []conversation.Info, remote string) (theirs []conversation.Info) {
	for _, i := range infos {
		if remote == AnyRemote || i.Remote == remote {
			theirs = append(theirs, i)
		}
	}
	return theirs
}

// LookOnly refuses any action but reading on a fetched conversation.
func LookOnly(i conversation.Info) error {
	return problem.New(problem.ExitDecision, "untrusted", "%s was fetched from a remote; it can be read only.", i.Name()).
		Hint(action.Print(i.Name()), "read it").Hint(action.Adopt(i.Name()), "make a fork of it that is yours")
}

// Known is the head and summary of the conversation that a word stands for, fetched ones included. For an
// unreadable one it returns the facts of its ref with the error.
func (r Finder) Known(ctx context.Context, e *Host, word string) (conversation.Info, error) {
	if info, found, err := r.fetched(ctx, word); found || err != nil {
		return info, cmp.Or(err, info.Err)
	}
	id, err := r.Resolve(ctx, e, word)
	if err != nil {
		return conversation.Info{}, err
	}
	return r.repo.Store.Info(ctx, id)
}

// Names are the names of the conversations that words stand for, fetched ones included.
func (r Finder) Names(ctx context.Context, e *Host, words []string) (names []string, err error) {
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words {
		info, found, err := r.fetched(ctx, word)
		if !found && err == nil {
			info.ID, err = r.Resolve(ctx, e, word)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, info.Name())
	}
	return names, nil
}
