package main

import (
	"cmp"
	"context"
	"strings"

	"jp/conversation"
)

// anyRemote stands for all remotes.
const anyRemote = "*"

// fetched finds the conversation that REMOTE/ID stands for. It is not found
// where nothing was fetched from such a remote.
func (r finder) fetched(ctx context.Context, word string) (info conversation.Info, found bool, err error) {
	slash := strings.LastIndexByte(word, '/')
	if slash < 1 {
		return info, false, nil
	}
	heads, err := r.store.Heads(conversation.ScopeRemotes)
	if err != nil || len(ofRemote(heads, word[:slash])) == 0 {
		return info, false, err
	}
	all, err := r.store.List(ctx, conversation.ScopeRemotes)
	if err != nil {
		return info, false, err
	}
	info, err = matching(ofRemote(all, word[:slash]), word[slash+1:])
	return info, err == nil, err
}

// ofRemote are the conversations that were fetched from one remote.
func ofRemote(infos []conversation.Info, remote string) (theirs []conversation.Info) {
	for _, i := range infos {
		if remote == anyRemote || i.Remote == remote {
			theirs = append(theirs, i)
		}
	}
	return theirs
}

// lookOnly refuses to do more than look at a conversation that was fetched.
func lookOnly(i conversation.Info) error {
	return fail(exitDecision, "untrusted", "%s was fetched from a remote; it can be read only.", i.Name()).
		hint("jp print "+i.Name(), "read it").hint("jp fork "+i.Name()+" --adopt -a", "make a fork of it that is yours")
}

// known reads what is known of the conversation that a word stands for, also of
// one that was fetched. Of an unreadable one the error comes with what its ref says.
func (r finder) known(ctx context.Context, e *host, word string) (conversation.Info, error) {
	if info, found, err := r.fetched(ctx, word); found || err != nil {
		return info, cmp.Or(err, info.Err)
	}
	id, err := r.resolve(ctx, e, word)
	if err != nil {
		return conversation.Info{}, err
	}
	return r.store.Info(ctx, id)
}

// names are what the conversations are called that words stand for, also those
// that were fetched.
func (r finder) names(ctx context.Context, e *host, words []string) (names []string, err error) {
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words {
		info, found, err := r.fetched(ctx, word)
		if !found && err == nil {
			info.ID, err = r.resolve(ctx, e, word)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, info.Name())
	}
	return names, nil
}
