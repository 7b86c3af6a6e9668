package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// aged stores conversations 1 to n. The clock of each continues from the one before, but the first is active
// last.
func aged(t *testing.T, n int) *shelf {
	s := newShelf(t)
	for i := range n {
		events := journaltest.Turn(t, fmt.Sprintf("Question %d", i+1), "Answer.")
		for _, e := range events {
			e.Time = e.Time.Add(time.Duration(i+1) * time.Hour)
		}
		if i == 0 {
			events[len(events)-1].Time = events[0].Time.Add(24 * time.Hour)
		}
		s.put(journaltest.ID(i+1), events)
	}
	return s
}

func ids(numbers ...int) []string {
	list := []string{}
	for _, n := range numbers {
		list = append(list, string(journaltest.ID(n)))
	}
	return list
}

func TestList(t *testing.T) {
	s := aged(t, 4)
	for arguments, want := range map[string][]string{
		`{}`:                                    ids(1, 4, 3, 2),
		`{"sort":"updated","descending":false}`: ids(2, 3, 4, 1),
		`{"sort":"created"}`:                    ids(4, 3, 2, 1),
		`{"limit":2}`:                           ids(1, 4),
		`{"limit":2,"offset":1}`:                ids(4, 3),
		`{"offset":4}`:                          nil,
		`{"offset":99,"limit":3}`:               nil,
		`{"title_contains":"QUESTION 3"}`:       ids(3),
		`{"title_contains":"nothing"}`:          nil,
		`{"archived":true}`:                     nil,
	} {
		list := s.reads(t, "conversation_list", arguments)
		require.Equal(t, want, list.values("conversation", "id"), arguments)
		total := "4"
		if strings.Contains(arguments, "title") || strings.Contains(arguments, "archived") {
			total = fmt.Sprint(len(want))
		}
		require.Equal(t, total, list.attributes["total"], arguments)
	}
	require.Equal(t, "99", s.reads(t, "conversation_list", `{"offset":99}`).attributes["offset"])
}

func TestListAttributes(t *testing.T) {
	s := newShelf(t)
	expires := &conversation.OptionalTime{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	script := journaltest.NewScript(t).Turn(`Is 1 < 2 & "so" on?`).Says("Yes.").Records(&conversation.Metadata{ExpiresAt: expires})
	s.put(journaltest.ID(1), script.Events())
	s.turns(journaltest.ID(2), 1)
	s.foreign[journaltest.ID(2)] = true

	list := s.within(t, journaltest.ID(1), "conversation_list", `{"descending":false,"sort":"created"}`)
	require.Equal(t, map[string]string{
		"id": ids(1)[0], "title": `Is 1 < 2 & "so" on?`, "events_count": "4", "current": "true",
		"created_at": stamp(1), "last_event_at": stamp(4), "expires_at": "2026-01-02T03:04:05Z",
	}, list.children[0].attributes)
	require.Equal(t, "true", list.children[1].attributes["foreign"])
	require.NotContains(t, list.children[1].attributes, "current")
}

func TestListArchived(t *testing.T) {
	s := aged(t, 2)
	head, err := s.Head(t.Context(), journaltest.ID(1))
	require.NoError(t, err)
	at := conversation.OptionalTime{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	_, err = s.Archive(t.Context(), journaltest.ID(1), head, &conversation.Event{Seq: 3, Turn: 1, Body: &conversation.Metadata{ArchivedAt: &at}}, true)
	require.NoError(t, err)
	require.Equal(t, ids(2), s.reads(t, "conversation_list", `{}`).values("conversation", "id"))
	archived := s.reads(t, "conversation_list", `{"archived":true}`)
	require.Equal(t, ids(1), archived.values("conversation", "id"))
	require.Equal(t, "2026-01-02T03:04:05Z", archived.children[0].attributes["archived_at"])
	require.Empty(t, s.reads(t, "conversation_grep", `{"pattern":"Question 1"}`).children)
	require.Len(t, s.reads(t, "conversation_grep", `{"pattern":"Question 1","scopes":["user"],"ids":["001"]}`).children, 1)
	require.Len(t, s.reads(t, "conversation_read", `{"id":"001"}`).all("turn"), 1)
}

// TestListDamaged has an unreadable conversation among others.
func TestListDamaged(t *testing.T) {
	s := aged(t, 3)
	head, err := s.Head(t.Context(), journaltest.ID(2))
	require.NoError(t, err)
	s.damaged[head] = -1
	list := s.reads(t, "conversation_list", `{}`)
	require.Equal(t, "3", list.attributes["total"])
	require.Len(t, list.all("conversation"), 2)
	require.Equal(t, ids(2), list.values("unreadable", "id"))
	require.Equal(t, []string{"damaged"}, list.values("unreadable", "reason"))
	require.Empty(t, s.reads(t, "conversation_list", `{"title_contains":"Question 2"}`).children)
}

// TestListFits has a page that would be too large: it ends early, and the rest
// can be asked for.
func TestListFits(t *testing.T) {
	s := newShelf(t)
	title := strings.Repeat(`"`, 500)
	for i := range 120 {
		events := journaltest.NewScript(t).Turn("Hi").Says("Hi.").Records(&conversation.Metadata{Title: &title, TitleSource: "user"}).Events()
		s.put(journaltest.ID(i), events)
	}
	first := s.reads(t, "conversation_list", `{"limit":1000}`)
	require.Equal(t, "120", first.attributes["total"])
	require.Greater(t, len(first.children), 50)
	rest := s.reads(t, "conversation_list", fmt.Sprintf(`{"limit":1000,"offset":%d}`, len(first.children)))
	require.Len(t, append(first.children, rest.children...), 120)
}
