package gitstore_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

var hostileNames = map[string]string{ // with the names that an author line makes of them
	"gpt<script> <":            "gptscript",
	"a/b <x>":                  "a/b x",
	"<x>":                      "x",
	"nul\x00name":              "nulname",
	"line\nfeed\r":             "linefeed",
	"\x1b[31mred":              "[31mred",
	"\u202egnp.exe\u2066":      "gnp.exe",
	"tag\U000e0041s":           "tags",
	"zero\u200bwidth":          "zerowidth",
	"":                         "unknown",
	" .,:;<>\"\\' ":            "unknown",
	"\xff\xfe":                 "unknown",
	"C1\u009b31m":              "C131m",
	"emoji \U0001f600 name":    "emoji \U0001f600 name",
	strings.Repeat("é", 5<<10): strings.Repeat("é", 50),
	strings.Repeat("x", 10000): strings.Repeat("x", 100),
}

// A name that a server refuses would keep a conversation from being pushed for
// ever.
func TestHostileNames(t *testing.T) {
	f := newFixture(t)
	n := 0
	for name, want := range hostileNames {
		n++
		f.create(n, []*conversation.Event{
			{Seq: 0, Turn: 1, Time: when, Model: name, Body: &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "x"}},
			{Seq: 1, Turn: 1, Time: when, Model: name, Body: &conversation.ToolCallResponse{ID: name, Name: name, Content: "x"}},
		})
		ref := refs + string(journaltest.ID(n))
		require.Equal(t, want+"\n"+want, f.git("log", "--format=%an", ref), "%.40q", name)
		email := f.git("log", "-1", "--format=%ae", ref)
		require.Regexp(t, `^tool(\+[A-Za-z0-9._-]{1,64})?@jp\.invalid$`, email)
		got, err := f.load(n)
		require.NoError(t, err)
		if utf8.ValidString(name) {
			require.Equal(t, name, got[1].Body.(*conversation.ToolCallResponse).Name, "the exact name is kept")
		}
	}
	fsck(t, f.dir)
	server := t.TempDir()
	gitenv.Git(t, server, "init", "-q", "--bare")
	gitenv.Git(t, server, "config", "transfer.fsckObjects", "true")
	f.git("push", "-q", server, "refs/jp/*:refs/jp/*")
}

func TestHostileUser(t *testing.T) {
	dir := gitenv.Repo(t)
	users := []gitstore.Person{{}, {Name: "<x>", Email: "a> 1 +0000\nparent x"}, {Name: "\x00", Email: "\x1b"}, {Name: "A", Email: "a b@c\td"}}
	for i, user := range users {
		s := openStore(t, dir, gitstore.Options{Durability: odb.Off, User: func() gitstore.Person { return user }})
		_, err := s.Create(t.Context(), journaltest.ID(i), "", journaltest.Turn(t, "hello", "hi"))
		require.NoError(t, err)
	}
	fsck(t, dir)
	ref := refs + string(journaltest.ID(0))
	require.Equal(t, "jp <jp@jp.invalid>", gitenv.Git(t, dir, "log", "-1", "--format=%cn <%ce>", ref))
}

// Any name at all is one that git accepts.
func TestAnyNamePassesFsck(t *testing.T) {
	f := newFixture(t)
	var events []*conversation.Event
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("<> .\n\x00\x1b\u202e@ab")))).Draw(r, "name")
		events = append(events, &conversation.Event{
			Seq: len(events), Time: when, Model: name, Body: &conversation.ChatResponse{Part: conversation.PartMessage, Text: "x"},
		})
	})
	f.create(1, events)
	fsck(t, f.dir)
}

// Ids come from providers and end up in trailers.
func TestHostileIDs(t *testing.T) {
	ids := []string{"a\nJp-Event: turn_start", "a\n\nb", "", strings.Repeat("i", 129), "é", "a b", "\x1b", "a\\b"}
	f := newFixture(t)
	var events []*conversation.Event
	for i, id := range ids {
		events = append(events, &conversation.Event{
			Seq: i, Turn: 1, Time: when, Body: &conversation.ToolCallRequest{ID: id, Name: "fs_read_file", Arguments: []byte("{}")},
		})
	}
	f.create(1, events)
	for i, kind := range f.trailersOf(1, "Jp-Event") {
		require.Equal(t, "tool_call_request", kind)
		require.Empty(t, f.trailersOf(1, "Jp-Call")[i])
	}
	got, err := f.load(1)
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, id, got[i].Body.(*conversation.ToolCallRequest).ID)
	}
	fsck(t, f.dir)
}

func TestUserIdentity(t *testing.T) {
	dir := gitenv.Repo(t)
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	git := gitcmd.At(repo, gitcmd.Options{})
	identity := func(environ map[string]string) gitstore.Person {
		return gitstore.UserIdentity(func(name string) string { return environ[name] }, func() gitcmd.User {
			user, _, err := git.User(t.Context())
			require.NoError(t, err)
			return user
		})
	}
	gitenv.Git(t, dir, "config", "user.name", "Grace Hopper")
	gitenv.Git(t, dir, "config", "--add", "user.name", "Grace <B> Hopper\nand more")
	gitenv.Git(t, dir, "config", "user.email", "grace@example.com")
	gitenv.Git(t, dir, "config", "user.namesake", "nobody")
	require.Equal(t, gitstore.Person{Name: "Grace B Hopperand more", Email: "grace@example.com"}, identity(nil))
	require.Equal(t, gitstore.Person{Name: "Ada", Email: "grace@example.com"}, identity(map[string]string{"GIT_AUTHOR_NAME": "Ada"}))
	require.Equal(t, gitstore.Person{Name: "Ada", Email: "ada@example.com"},
		identity(map[string]string{"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}))

	email := map[string]string{"EMAIL": "mail@example.com"}
	require.Equal(t, "grace@example.com", identity(email).Email)
	gitenv.Git(t, dir, "config", "author.name", "Jean")
	require.Equal(t, gitstore.Person{Name: "Jean", Email: "grace@example.com"}, identity(nil))
	gitenv.Git(t, dir, "config", "author.email", "jean@example.com")
	require.Equal(t, gitstore.Person{Name: "Jean", Email: "jean@example.com"}, identity(email))
	gitenv.Git(t, dir, "config", "--remove-section", "author")
	require.Equal(t, gitstore.Person{Email: "mail@example.com"},
		gitstore.UserIdentity(func(name string) string { return email[name] }, func() gitcmd.User { return gitcmd.User{} }))
}
