package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestStandingOf(t *testing.T) {
	here := Home{Repo: "here", ID: "jp-c17528832001-k3f9"}
	source := ID("jp-c17528832000-aaaa")
	homed := func(text string) []*Event {
		events := words(text).events()
		for _, e := range events {
			e.Signed, e.Home = true, &Home{Repo: here.Repo, ID: here.ID}
		}
		return events
	}
	for name, tt := range map[string]struct {
		text   string
		change func(events []*Event)
		want   Standing
	}{
		"its own":                          {"T Q M. T Q", nil, StandingOwn},
		"unsigned":                         {"T Q M. T Q", func(e []*Event) { e[4].Signed = false }, StandingForeign},
		"newest of another repository":     {"T Q M. T Q", func(e []*Event) { e[4].Home.Repo = "there" }, StandingElsewhere},
		"last turn of another repository":  {"T Q M. T Q", func(e []*Event) { e[3].Home.Repo = "there" }, StandingElsewhere},
		"earlier turn of another one":      {"T Q M. T Q", func(e []*Event) { e[1].Home.Repo = "there" }, StandingOwn},
		"newest of another conversation":   {"T Q M. T Q", func(e []*Event) { e[4].Home.ID = source }, StandingRenamed},
		"record of another conversation":   {"T Q M. W", func(e []*Event) { e[3].Home.ID = source }, StandingRenamed},
		"no turn, of another conversation": {"G W", func(e []*Event) { e[1].Home.ID = source }, StandingRenamed},
		"before homes":                     {"T Q M.", func(e []*Event) { e[0].Home, e[1].Home, e[2].Home = nil, nil, nil }, StandingOwn},
		"before homes, here": {"T Q", func(e []*Event) {
			e[0].Home, e[1].Home, e[0].Git = nil, nil, &Git{Repo: "here"}
		}, StandingOwn},
		"before homes, elsewhere": {"T Q", func(e []*Event) {
			e[0].Home, e[1].Home, e[0].Git = nil, nil, &Git{Repo: "there"}
		}, StandingElsewhere},
		"a fork": {"T Q M. G", func(e []*Event) {
			e[0].Home.ID, e[1].Home.ID, e[2].Home.ID, e[3].Body = source, source, source, &ForkOrigin{Conversation: source}
		}, StandingOwn},
		"a fork of something else": {"T Q M. G", func(e []*Event) {
			e[0].Home.ID, e[1].Home.ID, e[2].Home.ID, e[3].Body = source, source, source, &ForkOrigin{Conversation: "jp-c17528832000-bbbb"}
		}, StandingRenamed},
		"a fork of another repository's": {"T Q M. G", func(e []*Event) {
			e[2].Home, e[3].Body = &Home{Repo: "there", ID: source}, &ForkOrigin{Conversation: source}
		}, StandingElsewhere},
		"an adopted one": {"T Q M. G", func(e []*Event) {
			e[2].Home, e[3].Body = &Home{Repo: "there", ID: source}, &ForkOrigin{Conversation: source, Adopted: true}
		}, StandingOwn},
		"behind the fork": {"T Q M. G W", func(e []*Event) { // the source's name counts before the fork only
			e[3].Body, e[4].Home.ID = &ForkOrigin{Conversation: source}, source
		}, StandingRenamed},
	} {
		t.Run(name, func(t *testing.T) {
			events := homed(tt.text)
			if tt.change != nil {
				tt.change(events)
			}
			require.Equal(t, tt.want, StandingOf(events, here))
			anywhere := StandingOf(events, Home{ID: here.ID})
			require.NotEqual(t, StandingElsewhere, anywhere)
		})
	}
	require.Equal(t, StandingForeign, StandingOf(nil, here))
}

func TestElsewhereOf(t *testing.T) {
	events := words("T Q M.").events()
	require.Empty(t, ElsewhereOf(events, "here"))
	events[0].Git = &Git{Repo: "old"}
	require.Equal(t, "old", ElsewhereOf(events, "here"))
	events[1].Home = &Home{Repo: "there"}
	events[2].Home = &Home{Repo: "here"}
	require.Equal(t, "there", ElsewhereOf(events, "here"))
}
