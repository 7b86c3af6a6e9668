package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func TestFind(t *testing.T) {
	s := newShelf(t)
	const one, two, old = "jp-c17952552000-k3f9", "jp-c17952588000-d3hk", "jp-c1752883200"
	for _, id := range []conversation.ID{one, two, old} {
		s.turns(id, 1)
	}
	for word, want := range map[string]string{
		one: one, "k3f9": one, "2000": one, "552000": one, "17952552000": one, "000-k3f9": one,
		two: two, "d3hk": two, "8000": two,
		old: old, "3200": old, "883200": old,
	} {
		require.Equal(t, want, s.reads(t, "conversation_read", `{"id":"`+word+`"}`).attributes["id"], word)
	}
	for word, want := range map[string]string{
		"000":                  `several conversations have such an id: "000" can be ` + two + ", " + one,
		"zz":                   "no such conversation as \"zz\"; conversation_list lists them",
		"k3f8":                 "near it are " + one,
		"2010":                 "near it are " + one,
		"jp-c17952588000-d3hx": "near it are " + two,
		"ask jp-c1752":         "a title has it: " + old,
		"nothing":              "conversation_list lists them",
		"":                     "no such conversation",
		"../../etc/passwd":     "no conversation yet",
		`k\u0000\u202e3f9`:     "no such conversation",
	} {
		said := s.fails(t, "", "conversation_read", `{"id":"`+word+`"}`)
		require.Contains(t, said, want, word)
		requireVisible(t, said)
	}
	require.Contains(t, newShelf(t).fails(t, "", "conversation_read", `{"id":"k3f9"}`), "there is no conversation yet")
}
