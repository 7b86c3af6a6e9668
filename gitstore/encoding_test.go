package gitstore_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

var update = flag.Bool("update", false, "write the golden commits anew")

// sha1Repositories gives the test's repositories the object format of the golden commits.
func sha1Repositories(t *testing.T) {
	gitenv.Isolate(t)
	t.Setenv("GIT_DEFAULT_HASH", "sha1")
}

// Each type's commit, to the byte: every later jp must read it.
func TestGoldenCommits(t *testing.T) {
	sha1Repositories(t)
	dir := gitenv.Repo(t)
	s := openStore(t, dir, gitstore.Options{Durability: odb.Off, Zone: time.FixedZone("", -(3*3600 + 1800))})
	for i, e := range everyType() {
		e.Seq = 0
		head, err := s.Create(t.Context(), journaltest.ID(i), "", []*conversation.Event{e})
		require.NoError(t, err)
		got := rawObject(t, dir, string(head))
		file := filepath.Join("testdata", fmt.Sprintf("%02d_%s.commit", i, e.Type()))
		if *update {
			require.NoError(t, os.WriteFile(file, got, 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), file)
	}
}

// A golden commit reads as the event that it was made of, and is this user's.
func TestGoldenCommitsAreRead(t *testing.T) {
	sha1Repositories(t)
	f := newFixture(t)
	for i, want := range everyType() {
		want.Seq = 0
		data, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("%02d_%s.commit", i, want.Type())))
		require.NoError(t, err)
		got, err := f.Load(t.Context(), conversation.Head(f.put("commit", data)))
		require.NoError(t, err)
		require.Equal(t, want.Body, got[0].Body)
		require.Equal(t, want.Git, got[0].Git)
		require.True(t, want.Time.Equal(got[0].Time))
		require.True(t, got[0].Signed)
	}
}

func TestGitShowsTheStory(t *testing.T) {
	f := newFixture(t)
	events := everyType()
	f.create(1, events)
	ref := refs + string(journaltest.ID(1))
	fsck(t, f.dir)

	subjects := strings.Split(f.git("log", "--reverse", "--format=%s", ref), "\n")
	for i, e := range events {
		require.Equal(t, e.Subject, subjects[i])
	}
	require.Equal(t, []string{
		"turn 1 on main 6f71f08 with fixed, approved in advance: fs_read_file", "prompt: 5 words", "note: be brief", "user: Give it a deadline.",
		"assistant thinks: Read, then edit.", "assistant: I will", `assistant returns: {"answer":true}`, "call fs_modify_file",
	}, subjects[:8])

	for i, seq := range f.trailersOf(1, "Jp-Seq") {
		require.Equal(t, fmt.Sprint(i), seq)
	}
	for i, kind := range f.trailersOf(1, "Jp-Event") {
		require.Equal(t, string(events[i].Type()), kind)
	}
	require.Equal(t, "call_2", f.trailersOf(1, "Jp-Call")[7])
	require.Empty(t, f.trailersOf(1, "Jp-Call")[6])

	shown := f.git("cat-file", "-p", events[5].Commit)
	require.Contains(t, shown, "\njp-data {")
	require.Contains(t, shown, "\njp-state {")
	require.Contains(t, shown, "\njp-provider {\"api\":\"script\",\"item\":{\"n\":1.0}}\n")
	require.Contains(t, shown, "\n\nassistant: I will\n\nI will\nedit it.\n\nJp-Event: chat_response\nJp-Turn: 1\nJp-Seq: 5")
	require.NotContains(t, f.git("log", ref), "jp-data")
}

func TestAuthorsSayWhoActed(t *testing.T) {
	f := newFixture(t)
	f.create(1, everyType())
	const ada, jp = "Ada Lovelace <ada@example.com>", "jp <jp@jp.invalid>"
	const model = "anthropic/claude-sonnet-4-5 <assistant@jp.invalid>"
	want := []string{
		ada, jp, jp, ada, model, model, model, model, jp, ada, jp,
		"fs_modify_file <tool+claude-sonnet-4-5@jp.invalid>",
		ada, ada, ada, ada, ada, ada, jp, jp, ada, jp, jp, jp, jp, jp, jp,
	}
	ref := refs + string(journaltest.ID(1))
	require.Equal(t, want, strings.Split(f.git("log", "--reverse", "--format=%an <%ae>", ref), "\n"))
	for line := range strings.SplitSeq(f.git("log", "--format=%cn <%ce>", ref), "\n") {
		require.Equal(t, ada, line)
	}
}

// Every way that git carries history carries events to the byte.
func TestTransportsKeepEveryByte(t *testing.T) {
	f := newFixture(t)
	events := append(everyType(), bigEvent(len(bodies()), strings.Repeat("x\n", 60<<10)))
	f.create(1, events)
	want := map[string]string{}
	for _, e := range events {
		want[e.Commit] = string(f.raw(e.Commit))
	}
	same := func(dir string) {
		t.Helper()
		for oid, bytes := range want {
			require.Equal(t, bytes, string(rawObject(t, dir, oid)))
		}
		fsck(t, dir)
		s := openStore(t, dir, gitstore.Options{Durability: odb.Off})
		got, err := s.Load(t.Context(), conversation.Head(events[len(events)-1].Commit))
		require.NoError(t, err)
		require.Equal(t, commits(events), commits(got))
		require.True(t, got[len(got)-1].Signed)
	}
	server := t.TempDir()
	gitenv.Git(t, server, "init", "-q", "--bare")
	gitenv.Git(t, server, "config", "receive.fsckObjects", "true")
	f.git("push", "-q", server, "refs/jp/*:refs/jp/*")
	same(server)

	reader := gitenv.Repo(t)
	gitenv.Git(t, reader, "-c", "transfer.fsckObjects=true", "fetch", "-q", server, "refs/jp/conversations/*:refs/jp/remotes/o/*", "refs/jp/payloads/*:refs/jp/payloads/*")
	same(reader)
	infos, err := openStore(t, reader, gitstore.Options{}).List(t.Context(), conversation.ScopeRemotes)
	require.NoError(t, err)
	require.Len(t, infos, 1)
	require.Equal(t, "o", infos[0].Remote)

	mirror := filepath.Join(t.TempDir(), "mirror")
	gitenv.Git(t, f.dir, "clone", "-q", "--mirror", f.dir, mirror)
	same(mirror)

	bundle := filepath.Join(t.TempDir(), "all.bundle")
	f.git("bundle", "create", "-q", bundle, "--all")
	unbundled := gitenv.Repo(t)
	gitenv.Git(t, unbundled, "fetch", "-q", bundle, "refs/jp/*:refs/jp/*")
	same(unbundled)

	f.git("repack", "-adq")
	f.git("gc", "-q", "--prune=now")
	same(f.dir)
}

// bigEvent is a tool's result with a long text.
func bigEvent(seq int, text string) *conversation.Event {
	return &conversation.Event{
		Seq: seq, Turn: 1, Time: when, Model: "script/fixed",
		Body: &conversation.ToolCallResponse{For: 7, ID: "call_9", Name: "fs_read_file", Content: text},
	}
}

// git's set arithmetic on commits goes wrong if dates go backwards.
func TestCommitterTimeNeverGoesBack(t *testing.T) {
	f := newFixture(t)
	events := everyType()
	for i, e := range events {
		e.Time = when.Add(-time.Duration(i*i) * time.Hour)
	}
	events[9].Time = when.Add(time.Hour)
	head, err := f.Create(t.Context(), journaltest.ID(1), f.git("rev-parse", "HEAD"), events[:5])
	require.NoError(t, err)
	_, err = f.again().Append(t.Context(), journaltest.ID(1), head, events[5:])
	require.NoError(t, err)
	last := ""
	for line := range strings.SplitSeq(f.git("log", "--reverse", "--format=%ct %at", refs+string(journaltest.ID(1))), "\n") {
		committed, _, _ := strings.Cut(line, " ")
		require.GreaterOrEqual(t, committed, last)
		last = committed
	}
	got, err := f.load(1)
	require.NoError(t, err)
	for i := range got {
		require.True(t, events[i].Time.Equal(got[i].Time), "what the clock said is kept")
	}
}
