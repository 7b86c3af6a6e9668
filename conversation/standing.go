package conversation

import (
	"encoding/json"
	"slices"
)

// A Home is what an event was written for: a conversation of a repository.
type Home struct {
	Repo string // workspace id
	ID   ID
}

// A Standing says whether a conversation may act, and if not, why.
type Standing int

// The standings.
const (
	StandingOwn        Standing = iota
	StandingForeign             // events of its last turn are not signed by this user's jp
	StandingElsewhere           // they were written in another repository
	StandingRenamed             // they were written for another conversation
	StandingRolledBack          // its head is neither the one seen last here nor behind that
)

var standingNames = []string{"own", "foreign", "elsewhere", "renamed", "rolled_back"}

// String is the standing as JSON has it.
func (s Standing) String() string { return standingNames[s] }

// MarshalJSON writes the name.
func (s Standing) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// StandingOf tells whether the events of a conversation, by their own word, may act as the
// conversation at a place: every event of the last turn since the user last adopted it is
// signed by this user's jp, for this repository, and for this conversation, or for one that
// this one is a fork of. Events that were written before they named their home count as
// written here, unless they say in which repository they were.
//
// An empty repository is any. Whether a newer head was seen is not the events' to tell.
func StandingOf(events []*Event, here Home) Standing {
	if !Local(events) {
		return StandingForeign
	}
	names := []ID{here.ID}
	for i := len(events) - 1; i >= min(tailStart(events), len(events)-1); i-- {
		e := events[i]
		if s := e.standingOf(here.Repo, names); s != StandingOwn {
			return s
		}
		if b, ok := e.Body.(*ForkOrigin); ok {
			names = append(names, b.Conversation)
			if b.WrittenFor != "" {
				names = append(names, b.WrittenFor)
			}
		}
		if adopts(e) {
			break
		}
	}
	return StandingOwn
}

// standingOf is that of one event.
func (e *Event) standingOf(repo string, names []ID) Standing {
	switch {
	case repo == "":
	case e.Home != nil && e.Home.Repo != repo, e.Home == nil && e.Git != nil && e.Git.Repo != "" && e.Git.Repo != repo:
		return StandingElsewhere
	}
	if e.Home != nil && !slices.Contains(names, e.Home.ID) {
		return StandingRenamed
	}
	return StandingOwn
}

// ElsewhereOf is the newest repository but one that events name, "" where none does.
func ElsewhereOf(events []*Event, but string) string {
	for _, e := range slices.Backward(events) {
		switch {
		case e.Home != nil && e.Home.Repo != but:
			return e.Home.Repo
		case e.Home == nil && e.Git != nil && e.Git.Repo != "" && e.Git.Repo != but:
			return e.Git.Repo
		}
	}
	return ""
}
