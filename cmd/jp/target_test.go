package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// known is what is known of a conversation by its title.
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
		f := failureOf(err)
		require.Equal(t, exitNotFound, f.exit)
		require.Equal(t, want.code, f.code, word)
		require.Equal(t, want.message, f.message)
	}
}

func TestNewestOf(t *testing.T) {
	t.Parallel()
	recent, err := newestOf(conversations, "recent")
	require.NoError(t, err)
	require.Equal(t, conversation.ID("jp-c17952552000-k3f9"), recent)
	newest, err := newestOf(conversations, "newest")
	require.NoError(t, err)
	require.Equal(t, conversation.ID("jp-c17952588000-a4b5"), newest)
	_, err = newestOf(nil, "newest")
	require.Equal(t, exitNotFound, failureOf(err).exit)
}

func TestSplitTarget(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][2]string{
		"": {}, "4400": {"4400", ""}, "@14": {"", "14"}, "4400@turn:2": {"4400", "turn:2"}, "-@-1": {"-", "-1"},
	} {
		target, event := splitTarget(word)
		require.Equal(t, want, [2]string{target, event}, word)
	}
}

// clocked is a jp that starts at a time, which makes its id.
func (p *place) clocked(at string, args ...string) {
	p.t.Helper()
	there := *p
	there.environ = append(p.environ[:len(p.environ):len(p.environ)], clockVariable+"="+at)
	require.Zero(p.t, there.jp(args...).exit)
}

// targets is a repository with three conversations: "first" is active last,
// "third" is newest, and archived; the session was about "second" before
// "first". Of another one there is what was fetched.
func targets(t *testing.T) (*repo, *env, map[string]conversation.ID) {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	ask := []string{"query", "-m", "script/../talk.toml", "--title"}
	ids := map[string]conversation.ID{}
	for i, title := range []string{"first", "second", "third"} {
		p.clocked(noon.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), append(ask, title+" talk", "--new", "Hello")...)
		ids[title] = conversation.ID(p.jp("show", "--json").field(t, "id"))
	}
	p.clocked(noon.Add(3*time.Hour).Format(time.RFC3339), "archive", "third")
	p.clocked(noon.Add(4*time.Hour).Format(time.RFC3339), "use", "second")
	p.clocked(noon.Add(5*time.Hour).Format(time.RFC3339), "query", "-i", "first", "More")
	p.git("update-ref", "refs/jp/remotes/origin/"+string(ids["first"]), "refs/jp/conversations/"+string(ids["first"]))
	e := newEnv(&host{dir: p.dir, environ: p.environ, now: time.Now}, nil, nil, os.Stderr)
	r, err := openRepo(t.Context(), e.host)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r, e, ids
}

func TestTargets(t *testing.T) {
	t.Parallel()
	r, e, ids := targets(t)
	digits, _, _ := strings.Cut(strings.TrimPrefix(string(ids["second"]), "jp-c"), "-")
	for word, want := range map[string]string{
		"":                        "first", // the session's
		".":                       "first",
		"-":                       "second",
		"recent":                  "first",
		"newest":                  "third",
		string(ids["first"]):      "first",
		string(ids["third"]):      "third", // archived
		ids["second"].Short():     "second",
		ids["second"].Short()[1:]: "second",
		digits[len(digits)-5:]:    "second",
		digits:                    "second",
		"SECOND t":                "second",
		"ird":                     "third",
	} {
		got, err := r.find().resolve(t.Context(), e.host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, ids[want], got, "%q", word)
		v, err := r.find().view(t.Context(), e.host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, ids[want], v.id)
		require.Empty(t, v.remote)
	}
	for word, code := range map[string]string{
		"talk": "ambiguous", "000": "ambiguous", "nosuch": "not_found", "jp-c17952552000-zzzz": "not_found",
		"jp-c1795255": "not_found", "../conversations/x": "not_found", "origin/nosuch": "not_found",
		"origin/" + ids["first"].Short(): "untrusted",
	} {
		_, err := r.find().resolve(t.Context(), e.host, word)
		require.Error(t, err, "%q", word)
		require.Equal(t, code, failureOf(err).code, "%q", word)
	}
	for _, word := range []string{"origin/" + string(ids["first"]), "origin/" + ids["first"].Short(), "origin/first"} {
		v, err := r.find().view(t.Context(), e.host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, [2]string{string(ids["first"]), "origin"}, [2]string{string(v.id), v.remote})
	}
}
