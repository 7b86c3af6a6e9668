package repo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/conversation"
)

func known(id conversation.ID, title string, active time.Time) conversation.Info {
	return conversation.Info{ID: id, Summary: conversation.Summary{Title: title, LastEventAt: active}}
}

var conversations = []conversation.Info{
	known("jp-c17952552000-k3f9", "Cap the login retries", noon.Add(3*time.Hour)),
	known("jp-c17952588000-a4b5", "Login, once more", noon.Add(time.Hour)),
	known("jp-c17952564400", "A 552000 in the title", noon),
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := map[string]conversation.ID{
		"k3f9":                 "jp-c17952552000-k3f9",
		"3f9":                  "jp-c17952552000-k3f9",
		"52000-k3f9":           "jp-c17952552000-k3f9",
		"552000":               "jp-c17952552000-k3f9", // the end of an id before a title
		"400":                  "jp-c17952564400",
		"jp-c17952588000-a4b5": "jp-c17952588000-a4b5",
		"RETRIES":              "jp-c17952552000-k3f9",
		"once":                 "jp-c17952588000-a4b5",
	}
	for word, want := range tests {
		got, err := match(conversations, word)
		require.NoError(t, err, word)
		require.Equal(t, want, got, word)
		if found := endingIn(conversations, word); len(found) > 0 {
			require.Equal(t, []conversation.ID{want}, []conversation.ID{found[0].ID}, word)
			require.Len(t, found, 1)
		}
	}
}

func TestMatchFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ code, message string }{
		"4711":                 {"not_found", `no conversation matches "4711".`},
		"f9":                   {"not_found", `no conversation matches "f9".`}, // too short for the end of an id
		"jp-c17952552000-zzzz": {"not_found", `no conversation matches "jp-c17952552000-zzzz".`},
		"000":                  {"ambiguous", `"000" could be 2 conversations:`},
		"login":                {"ambiguous", `"login" could be 2 conversations:`},
	}
	for word, want := range tests {
		_, err := match(conversations, word)
		f := ProblemOf(err)
		require.Equal(t, problem.ExitNotFound, f.Exit)
		require.Equal(t, want.code, f.Code, word)
		require.Equal(t, want.message, f.Message)
	}
}

func TestNewestOf(t *testing.T) {
	t.Parallel()
	later := conversation.ID("jp-c17952588000-a4b5").Created().Add(time.Hour)
	future := conversation.Info{ID: "jp-c22089888000-zzzz"} // of 2040
	future.Summary.LastEventAt = future.ID.Created()
	conversations := append([]conversation.Info{future}, conversations...)
	recent, err := newestOf(conversations, "recent", later)
	require.NoError(t, err)
	require.Equal(t, conversation.ID("jp-c17952552000-k3f9"), recent)
	newest, err := newestOf(conversations, "newest", later)
	require.NoError(t, err)
	require.Equal(t, conversation.ID("jp-c17952588000-a4b5"), newest)
	_, err = newestOf(nil, "newest", later)
	require.Equal(t, problem.ExitNotFound, ProblemOf(err).Exit)
}

func TestSplitTarget(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][2]string{
		"": {}, "4400": {"4400", ""}, "@14": {"", "14"}, "4400@turn:2": {"4400", "turn:2"}, "-@-1": {"-", "-1"},
	} {
		target, event := SplitTarget(word)
		require.Equal(t, want, [2]string{target, event}, word)
	}
}
