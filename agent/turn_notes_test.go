package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func TestTakenBack(t *testing.T) {
	turn := func(bodies ...conversation.Body) conversation.Turn {
		events := []*conversation.Event{{Body: &conversation.TurnStart{}}, {Seq: 1, Body: &conversation.ChatRequest{Content: "Hello"}}}
		for _, b := range bodies {
			events = append(events, &conversation.Event{Seq: len(events), Body: b})
		}
		return conversation.Turn{Events: events}
	}
	require.False(t, discardedBefore(turn()))
	require.True(t, discardedBefore(turn(&conversation.TurnDiscarded{ToSeq: 1})))
	for finish, want := range map[conversation.Finish]bool{
		conversation.FinishStop: false, conversation.FinishLength: false, conversation.FinishRefusal: true, conversation.FinishFiltered: true,
	} {
		answer := &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, CallEnd: conversation.CallEnd{Finish: finish}}
		require.Equal(t, want, discardedBefore(turn(answer)), finish)
	}
}

// Changes that are recorded as the user's are no work of a tool.
func TestPerhapsWrittenBy(t *testing.T) {
	changed := func(paths ...string) []conversation.PathStat {
		var all []conversation.PathStat
		for _, p := range paths {
			all = append(all, conversation.PathStat{Path: p})
		}
		return all
	}
	start := &conversation.Event{Tree: "1", Body: &conversation.TurnStart{}}
	wrote := &conversation.Event{Tree: "2", Body: &conversation.ToolCallResponse{Changed: []conversation.FileChange{{Path: "a"}}}}
	users := &conversation.Event{Tree: "3", Body: &conversation.Workspace{Paths: changed("b")}}
	resumed := func(tree string) *conversation.Event {
		return &conversation.Event{Tree: tree, Body: &conversation.Resumed{Report: &conversation.Report{Changed: changed("a", "b")}}}
	}
	for _, tt := range []struct {
		name   string
		events []*conversation.Event
		want   []string
	}{
		{"nothing lost", []*conversation.Event{start, wrote, users, resumed("3")}, nil},
		{"a lost tool", []*conversation.Event{start, wrote, resumed("3")}, []string{"b"}},
		{"a lost tool of no result", []*conversation.Event{start, resumed("3")}, []string{"a", "b"}},
		{"only a resume", []*conversation.Event{resumed("3")}, nil},
		{"no report", []*conversation.Event{start, {Tree: "3", Body: &conversation.Resumed{}}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := conversation.Turn{Events: tt.events}
			require.Equal(t, tt.want, perhapsWrittenBy(turn, listedBy(turn)))
		})
	}
}
