package agent

import (
	"jp/agent/contextfiles"
	"jp/agent/live"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/process"
	"jp/usage"
)

// resources are the things that a run opens and has to close. Each is nil until it is opened.
type resources struct {
	user     User // nil before the search, and if there is no user to ask
	files    *snapshot.Files
	slot     *live.Slot      // of the draft of a new conversation
	held     *process.Lock   // of the conversation; a new one is locked when its turn begins
	spent    *usage.TurnCost // of the newest turn
	servers  *toolset.Servers
	skills   *contextfiles.Skills
	presence *live.Presence
	messages *live.Queue // to the turn
	drafts   *live.AnswerKeeper
	listed   *snapshot.UntrackedKeeper
}

// close lets go of the user, and of the conversation after its files are written.
func (r *resources) close() {
	if r.user != nil {
		r.user.Close()
	}
	r.held.Release()
}

// closeKeepers writes the files that follow a turn for the last time.
func (r *resources) closeKeepers() {
	r.drafts.Close()
	r.listed.Close()
	r.drafts, r.listed = nil, nil
}
