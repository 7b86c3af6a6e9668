package gitstore

import (
	"strings"

	"jp/conversation"
)

// Refs of conversations.
const (
	refRoot     = "refs/jp/"
	refLive     = refRoot + "conversations/"
	refArchive  = refRoot + "archive/"
	refPayloads = refRoot + "payloads/"
	refRemotes  = refRoot + "remotes/"
)

// belowRemote is the place of a remote's payload refs, in the namespace of that remote.
const belowRemote = "/payloads/"

// PayloadRefs are the refs that keep a conversation's payload: at a remote, and here once
// it was fetched from there.
func PayloadRefs(remote string, id conversation.ID) (there, here string) {
	return refPayloads + string(id), refRemotes + remote + belowRemote + string(id)
}

// keepsPayload reports whether the commits of a ref keep payload, and so are not events.
func keepsPayload(ref string) bool {
	if strings.HasPrefix(ref, refPayloads) {
		return true
	}
	rest, ok := strings.CutPrefix(ref, refRemotes)
	i := strings.LastIndexByte(rest, '/')
	return ok && i >= 0 && strings.HasSuffix(rest[:i+1], belowRemote)
}

// RefOf is the ref of a live conversation.
func RefOf(id conversation.ID) string { return refLive + string(id) }

// owner is the conversation of this repository that a ref belongs to: its own, or
// that of its payload.
func owner(ref string) (id conversation.ID, ok bool) {
	for _, prefix := range []string{refLive, refArchive, refPayloads} {
		if name, found := strings.CutPrefix(ref, prefix); found {
			id, err := conversation.ParseID(name)
			return id, err == nil
		}
	}
	return "", false
}

// names reports whether a ref is a conversation's in a scope.
func names(ref string, scope conversation.Scope) bool {
	rest, ok := strings.CutPrefix(ref, refRoot+string(scope)+"/")
	if keepsPayload(ref) {
		return false
	}
	if i := strings.LastIndexByte(rest, '/'); i >= 0 && scope == conversation.ScopeRemotes {
		rest = rest[i+1:]
	}
	_, err := conversation.ParseID(rest)
	return ok && err == nil
}

// named is the part of an Info that the name of a conversation's ref tells.
func named(ref string) conversation.Info {
	i := strings.LastIndexByte(ref, '/')
	info := conversation.Info{ID: conversation.ID(ref[i+1:]), Ref: ref}
	if remote, ok := strings.CutPrefix(ref[:i], refRemotes); ok {
		info.Remote = remote
	}
	return info
}
