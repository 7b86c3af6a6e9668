package recall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// texts are the texts of hits, a context line with a dash before it.
func texts(hits element) []string {
	var found []string
	for _, h := range hits.all("hit") {
		mark := map[string]string{"false": "-"}[h.attributes["is_match"]]
		found = append(found, mark+h.text)
	}
	return found
}

func TestGrep(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), journaltest.Sample(t).Events())
	for arguments, want := range map[string][]string{
		`{"pattern":"RETRIES"}`:                               {"It retries."},
		`{"pattern":"RETRIES","ignore_case":false}`:           nil,
		`{"pattern":"retr.*"}`:                                nil,
		`{"pattern":"retry.go","scopes":["user"]}`:            {"What does retry.go do?"},
		`{"pattern":"retry.go","scopes":["title","chat"]}`:    {"What does retry.go do?"},
		`{"pattern":"retry.go","scopes":["title"]}`:           {"What does retry.go do?"},
		`{"pattern":"auth/retry.go","scopes":["tool-call"]}`:  {`  "path": "auth/retry.go"`, `  "path": "auth/retry.go"`},
		`{"pattern":"overwrite","scopes":["inquiry"]}`:        {"Overwrite existing file?"},
		`{"pattern":"It retries","context":2}`:                {"It retries.", "-", "-Three times, with a pause."},
		`{"pattern":"retry.go","limit":2,"scopes":["tool"]}`:  {`  "path": "auth/retry.go"`, `--- auth/retry.go`}, // first what is new
		`{"pattern":"published 1.2"}`:                         nil,                                                // the result waits for its delivery
		`{"pattern":"read","scopes":[],"ids":[],"limit":1}`:   {"Read, then edit."},
		`{"pattern":"Look first","scopes":["reasoning"]}`:     {"Look first."},
		`{"pattern":"first","scopes":["chat","tool-result"]}`: nil,
	} {
		require.Equal(t, want, texts(s.reads(t, "conversation_grep", arguments)), arguments)
	}
	hits := s.reads(t, "conversation_grep", `{"pattern":"retry.go","limit":1,"scopes":["title","tool"]}`)
	require.Equal(t, "5", hits.attributes["total"], "all matches count")
	require.Equal(t, map[string]string{
		"id": ids(1)[0], "title": "What does retry.go do?", "scope": "title", "is_match": "true",
	}, hits.children[0].attributes)
	hits = s.reads(t, "conversation_grep", `{"pattern":"deadline"}`)
	require.Equal(t, map[string]string{
		"id": ids(1)[0], "title": "What does retry.go do?", "turn": "2", "seq": "6", "scope": "user", "is_match": "true",
	}, hits.children[0].attributes)
}

func TestGrepArguments(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	for arguments, want := range map[string]string{
		`{}`:                               `missing argument "pattern"`,
		`{"pattern":""}`:                   "an empty one",
		`{"pattern":"a","scopes":["bad"]}`: `one of "chat", "user"`,
		`{"pattern":"a","limit":0}`:        "at least",
		`{"pattern":"a","context":-1}`:     "at least",
		`{"pattern":"a","before":1}`:       `unknown argument "before"`,
		`{"pattern":"` + strings.Repeat("é", 1001) + `"}`: "at most 1000 characters, got 1001",
	} {
		_, err := s.run("", "conversation_grep", arguments)
		require.ErrorContains(t, err, want, arguments)
	}
	require.Contains(t, s.fails(t, "", "conversation_grep", `{"pattern":"a\nb"}`), "several lines")
	require.Contains(t, s.fails(t, "", "conversation_grep", `{"pattern":"a","ids":["4711"]}`), "no such conversation")
}

func TestGrepCurrent(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	s.turns(journaltest.ID(2), 1)
	found := func(current conversation.ID, arguments string) []string {
		return s.within(t, current, "conversation_grep", arguments).values("hit", "id")
	}
	const chat = `"pattern":"ask jp","scopes":["user"]`
	require.ElementsMatch(t, ids(2), found(journaltest.ID(1), `{`+chat+`}`))
	require.ElementsMatch(t, ids(1, 2), found(journaltest.ID(1), `{`+chat+`,"include_current":true}`))
	require.ElementsMatch(t, ids(1, 2), found("", `{`+chat+`}`))
	require.ElementsMatch(t, ids(1), found(journaltest.ID(1), `{`+chat+`,"include_current":true,"ids":["001","001"]}`))
	require.Contains(t, s.fails(t, journaltest.ID(1), "conversation_grep", `{`+chat+`,"ids":["001"]}`), "include_current")
}

// TestGrepReleased has results that the user withheld, or replaced by words.
func TestGrepReleased(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), judged(t).Events())
	require.Equal(t, []string{"secret one"}, texts(s.reads(t, "conversation_grep", `{"pattern":"secret"}`)))
	require.Equal(t, []string{"my own words"}, texts(s.reads(t, "conversation_grep", `{"pattern":"my own","scopes":["tool-result"]}`)))
}

// judged is a conversation with three held results: delivered, withheld and
// replaced.
func judged(t *testing.T) *journaltest.Script {
	s := journaltest.NewScript(t).Turn("Look.")
	for i, call := range []struct{ result, answer string }{
		{"secret one", conversation.AnswerDeliver}, {"secret two", conversation.AnswerWithhold}, {"secret three", conversation.AnswerEdit},
	} {
		id := fmt.Sprintf("c%d", i)
		s.Calls(id, "shell_run", "{}", true).Holds(id, call.result).Asks(id, conversation.KindDeliverResult, "Let the model see it?")
		m := s.Stream.CurrentTurn()
		answer, err := json.Marshal(call.answer)
		require.NoError(t, err)
		require.NoError(t, m.AddInquiryResponse(conversation.InquiryResponse{
			For: s.Stream.Last().Seq, Outcome: conversation.OutcomeAnswered, Answer: answer, Arguments: json.RawMessage(`"my own words"`), By: conversation.ByUser,
		}).Build(s.Commit))
	}
	return s.Says("Done.")
}

func TestGrepDiscarded(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), takenBack(t).Events())
	require.Equal(t, []string{"Keep this."}, texts(s.reads(t, "conversation_grep", `{"pattern":"this","scopes":["user"]}`)))
}

// takenBack is a conversation whose second of three turns was discarded.
func takenBack(t *testing.T) *journaltest.Script {
	s := journaltest.NewScript(t).Turn("Keep this.").Says("Kept.").Turn("Drop this.").Mentions("Half")
	s.Records(&conversation.TurnDiscarded{FromSeq: 3, ToSeq: s.Stream.Last().Seq})
	return s.Turn("Third").Says("Said.")
}

func TestGrepDamaged(t *testing.T) {
	s := newShelf(t)
	for i, good := range []int{2, -1, 3} {
		head := s.put(journaltest.ID(i), journaltest.Turn(t, fmt.Sprintf("needle %d", i), "Another needle."))
		if good < 3 {
			s.damaged[head] = good
		}
	}
	hits := s.reads(t, "conversation_grep", `{"pattern":"needle","scopes":["chat"]}`)
	require.Equal(t, "3", hits.attributes["total"])
	require.ElementsMatch(t, ids(0, 2, 2), hits.values("hit", "id"))
	require.ElementsMatch(t, ids(0, 1), hits.values("unreadable", "id"))
}

func TestGrepForeign(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	s.foreign[journaltest.ID(1)] = true
	require.Equal(t, []string{"true"}, s.reads(t, "conversation_grep", `{"pattern":"answer"}`).values("hit", "foreign"))
}

func TestGrepCutsLines(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), journaltest.Turn(t, strings.Repeat("<", 9000)+"needle"+strings.Repeat("é", 9000), "Yes."))
	hits := texts(s.reads(t, "conversation_grep", `{"pattern":"needle"}`))
	require.Equal(t, []string{"…" + strings.Repeat("<", 199) + "needle" + strings.Repeat("é", 193) + "…"}, hits)
}

func TestGrepFits(t *testing.T) {
	s := newShelf(t)
	s.put(journaltest.ID(1), journaltest.Turn(t, strings.Repeat(strings.Repeat("&", 390)+"\n", 400), "Yes."))
	hits := s.reads(t, "conversation_grep", `{"pattern":"&","limit":1000}`)
	require.Equal(t, "400", hits.attributes["total"], "with the title")
	require.Greater(t, len(hits.children), 20)
}

// A question that was asked many times must not hide the answer.
func TestGrepFindsTheFactAmongQuestions(t *testing.T) {
	for name, answer := range map[string]func(i int) string{
		"no answer has it":  func(int) string { return "I do not know." },
		"one answer":        func(int) string { return "I do not know the deploy port." },
		"other answers":     func(i int) string { return fmt.Sprintf("After %d files: the deploy port is unknown.", i) },
		"many lines":        func(i int) string { return strings.Repeat(fmt.Sprintf("%d: deploy port?\n", i), 9) },
		"in a longer title": func(int) string { return strings.Repeat("x", 200) + " deploy port" },
	} {
		for _, at := range []int{1, 9, 18} { // which conversation has the fact: the oldest, one among the others, the newest
			s := newShelf(t)
			question := "What is the deploy port?"
			if name == "in a longer title" {
				question = "What is the deploy port of " + strings.Repeat("each of the machines and ", 20) + "this one?"
			}
			for i := range 18 {
				events := journaltest.Turn(t, question, answer(i))
				if i+1 == at {
					events = journaltest.Turn(t, "Set up the machine.", "The deploy port is 4711.")
				}
				for _, e := range events {
					e.Time = e.Time.Add(time.Duration(i) * time.Hour)
				}
				s.put(journaltest.ID(i+1), events)
			}
			hits := s.reads(t, "conversation_grep", `{"pattern":"deploy port"}`)
			found := texts(hits)
			require.Contains(t, found[:min(len(found), 10)], "The deploy port is 4711.", "%s, conversation %d", name, at)
			for _, h := range hits.all("hit") {
				require.NotEqual(t, "title", h.attributes["scope"])
			}
		}
	}
}
