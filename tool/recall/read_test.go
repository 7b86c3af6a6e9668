package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

func TestRead(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), journaltest.Sample(t).Events())
	read := s.reads(t, "conversation_read", `{"id":"`+ids(1)[0]+`"}`)
	require.Equal(t, map[string]string{"id": ids(1)[0], "title": "What does retry.go do?"}, read.attributes)
	require.Equal(t, []string{"1", "2", "3"}, read.values("turn", "index"))
	require.Equal(t, []string{"", "", "true"}, read.values("turn", "incomplete"))
	require.Equal(t, []string{"user", "reasoning", "assistant"}, read.all("turn")[0].values("event", "kind"))
	require.Equal(t, map[string]string{"kind": "user", "seq": "1", "timestamp": stamp(2)}, read.all("event")[0].attributes)
	require.Equal(t, "It retries.\n\nThree times, with a pause.", read.all("event")[2].text)
	tools := read.all("turn")[1].all("event")[3:9]
	require.Equal(t, "\n```json\n{\n  \"path\": \"auth/retry.go\"\n}\n```\n", tools[0].text)
	require.Equal(t, map[string]string{"kind": "tool-call", "seq": "9", "timestamp": stamp(10), "name": "fs_read_file"}, tools[0].attributes)
	require.Equal(t, "tool-result", tools[3].attributes["kind"])
	require.Equal(t, "package auth\n", tools[3].text)
	held := read.all("turn")[2].all("event")[2]
	require.Equal(t, "true", held.attributes["withheld"])
	require.Empty(t, held.text)
}

func TestReadTurns(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), takenBack(t).Events())
	for arguments, want := range map[string][]string{
		`{"id":"k3f9"}`:              {"1", "3"},
		`{"id":"k3f9","turn":3}`:     {"3"},
		`{"id":"k3f9","last":1}`:     {"3"},
		`{"id":"k3f9","last":2}`:     {"1", "3"},
		`{"id":"k3f9","last":9}`:     {"1", "3"},
		`{"id":"001","turn":null}`:   {"1", "3"},
		`{"id":"` + ids(1)[0] + `"}`: {"1", "3"},
		`{"id":"k3f9","include":[]}`: {"1", "3"},
		`{"id":"k3f9","turn":"1"}`:   {"1"},
	} {
		require.Equal(t, want, s.reads(t, "conversation_read", arguments).values("turn", "index"), arguments)
	}
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"k3f9","turn":4}`), "no such turn as 4; the last is 3")
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"k3f9","turn":2}`), "taken back")
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"k3f9","turn":1,"last":1}`), "exclude")
}

func TestReadArguments(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	for arguments, want := range map[string]string{
		`{}`:                              `missing argument "id"`,
		`{"id":"001","turn":0}`:           "at least",
		`{"id":"001","last":-1}`:          "at least",
		`{"id":"001","include":["tool"]}`: `one of "chat", "reasoning"`,
		`{"id":["001"]}`:                  `expected a string`,
	} {
		_, err := s.run("", "conversation_read", arguments)
		require.ErrorContains(t, err, want, arguments)
	}
}

func TestReadInclude(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), journaltest.Sample(t).Events())
	for include, want := range map[string][]string{
		`["chat"]`:         {"user", "assistant", "assistant"},
		`["reasoning"]`:    {"reasoning"},
		`["tool_calls"]`:   {"tool-call", "tool-call", "tool-call"},
		`["tool_results"]`: {"tool-result", "tool-result", "tool-result"},
	} {
		read := s.reads(t, "conversation_read", `{"id":"001","turn":2,"include":`+include+`}`)
		require.Equal(t, want, read.values("event", "kind"), include)
	}
}

func TestReadReleased(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), judged(t).Events())
	read := s.reads(t, "conversation_read", `{"id":"001","include":["tool_results"]}`)
	require.Equal(t, []string{"secret one", "", "my own words"}, []string{read.all("event")[0].text, read.all("event")[1].text, read.all("event")[2].text})
	require.Equal(t, []string{"", "true", ""}, read.values("event", "withheld"))
}

func TestReadCurrent(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	require.Contains(t, s.fails(t, journaltest.ID(1), "conversation_read", `{"id":"001"}`), "include_current")
	require.Equal(t, "true", s.within(t, journaltest.ID(1), "conversation_read", `{"id":"001","include_current":true}`).attributes["current"])
	require.NotContains(t, s.within(t, journaltest.ID(2), "conversation_read", `{"id":"001"}`).attributes, "current")
}

func TestReadIncomplete(t *testing.T) {
	s := newShelf(t)
	script := journaltest.NewScript(t).Turn("First").Says("Yes.").Turn("Second")
	m := script.Stream.CurrentTurn().AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "Well, I", Partial: true})
	require.NoError(t, m.Build(script.Commit))
	s.put(journaltest.ID(1), script.Events())
	last := s.reads(t, "conversation_read", `{"id":"001","last":1}`)
	require.Equal(t, []string{"true"}, last.values("turn", "incomplete"))
	require.Equal(t, []string{"", "true"}, last.values("event", "partial"))
}

func TestReadDamaged(t *testing.T) {
	s := newShelf(t)
	head := s.put(journaltest.ID(1), journaltest.Sample(t).Events())
	s.damaged[head] = 4
	read := s.reads(t, "conversation_read", `{"id":"001"}`)
	require.Equal(t, ids(1), read.values("unreadable", "id"))
	require.Equal(t, []string{"1"}, read.values("turn", "index"))
	s.damaged[head] = -1
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"001"}`), "nothing of it can be read: damaged")
}

func TestReadForeign(t *testing.T) {
	s := newShelf(t)
	head := s.put(journaltest.ID(1), journaltest.Turn(t, "Hello", "Hi."))
	s.remotes = []conversation.Info{{ID: journaltest.ID(7), Remote: "origin", Head: head}}
	s.foreign[journaltest.ID(1)] = true
	require.Equal(t, "true", s.reads(t, "conversation_read", `{"id":"001"}`).attributes["foreign"])
	remote := s.reads(t, "conversation_read", `{"id":"origin/`+ids(7)[0]+`"}`)
	require.Equal(t, map[string]string{"id": "origin/" + ids(7)[0], "title": "Hello", "foreign": "true"}, remote.attributes)
}

// TestReadTooLarge has a conversation that is too long for one answer.
func TestReadTooLarge(t *testing.T) {
	s := newShelf(t)
	script := journaltest.NewScript(t)
	for range 5 {
		script.Turn("Go on.").Says(strings.Repeat("word ", 4000))
	}
	s.put(journaltest.ID(1), script.Events())
	said := s.fails(t, "", "conversation_read", `{"id":"001"}`)
	require.Regexp(t, `has 5 turns: .*: 10[01]\d{3} bytes, and 65536 are allowed; .*turn.*last.*\(last=3 fits\)`, said)
	require.Len(t, s.reads(t, "conversation_read", `{"id":"001","last":3}`).all("turn"), 3)
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"001","last":4}`), "last=3 fits")

	script.Turn("More.").Calls("c1", "shell_run", "{}", true).Returns("c1", strings.Repeat("&", 20_000)).Says("Over.")
	s.put(journaltest.ID(2), script.Events())
	require.Contains(t, s.fails(t, "", "conversation_read", `{"id":"002","turn":6}`), "leave out tool_results")
	require.Len(t, s.reads(t, "conversation_read", `{"id":"002","turn":6,"include":["chat","tool_calls"]}`).all("event"), 3)
}

// TestReadAtTheLimit has answers of every size around the greatest.
func TestReadAtTheLimit(t *testing.T) {
	s := newShelf(t)
	fit := 0
	for i := range 40 {
		s.put(journaltest.ID(i), journaltest.Turn(t, "Go.", strings.Repeat("a", 65_100+10*i)))
		result, err := s.run("", "conversation_read", fmt.Sprintf(`{"id":%q}`, journaltest.ID(i)))
		require.NoError(t, err)
		if !result.IsError {
			fit++
		}
	}
	require.Greater(t, fit, 0)
	require.Less(t, fit, 40)
}
