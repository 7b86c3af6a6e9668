package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// clocked is a jp that starts at a time, which makes its id.
func (p *workspace) clocked(at string, args ...string) result {
	p.t.Helper()
	there := *p
	there.environ = append(p.environ[:len(p.environ):len(p.environ)], clockVariable+"="+at)
	out := there.jp(args...)
	require.Zero(p.t, out.exit, out.stderr)
	return out
}

// targets is a repository with three conversations: "first" is active last, "third" is newest, and
// archived; the session was about "second" before "first". Another conversation is there as fetched.
func targets(t *testing.T) (*repo.Repo, *ui.Env, map[string]conversation.ID) {
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
	e := ui.NewEnv(&repo.Host{Dir: p.dir, Environ: p.environ, Now: time.Now}, nil, nil, os.Stderr)
	r, err := repo.Open(t.Context(), e.Host)
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
		got, err := r.Find().Resolve(t.Context(), e.Host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, ids[want], got, "%q", word)
		v, err := r.Find().View(t.Context(), e.Host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, ids[want], v.ID)
		require.Empty(t, v.Remote)
	}
	for word, code := range map[string]string{
		"talk": "ambiguous", "000": "ambiguous", "nosuch": "not_found", "jp-c17952552000-zzzz": "not_found",
		"jp-c1795255": "not_found", "../conversations/x": "not_found", "origin/nosuch": "not_found",
		"origin/" + ids["first"].Short(): "untrusted",
	} {
		_, err := r.Find().Resolve(t.Context(), e.Host, word)
		require.Error(t, err, "%q", word)
		require.Equal(t, code, repo.ProblemOf(err).Code, "%q", word)
	}
	for _, word := range []string{"origin/" + string(ids["first"]), "origin/" + ids["first"].Short(), "origin/first"} {
		v, err := r.Find().View(t.Context(), e.Host, word)
		require.NoError(t, err, "%q", word)
		require.Equal(t, [2]string{string(ids["first"]), "origin"}, [2]string{string(v.ID), v.Remote})
	}
}
