package gitstore_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

const refs = "refs/jp/conversations/"

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

var ids = gitstore.IDLen(testFormat.Size())

// seal makes the codes that the fixture's key makes.
func seal(parts ...[]byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, []byte("0123456789abcdef0123456789abcdef"))
	mac.Write([]byte("jp-words\x00"))
	for _, p := range parts {
		mac.Write(p)
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// fixture is a repository with a store.
type fixture struct {
	*gitstore.Store
	t   testing.TB
	dir string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir := gitenv.Repo(t)
	return &fixture{Store: openStore(t, dir, gitstore.Options{Durability: odb.Off}), t: t, dir: dir}
}

// again is a second store of the same repository, with empty caches.
func (f *fixture) again() *fixture {
	f.t.Helper()
	return &fixture{Store: openStore(f.t, f.dir, gitstore.Options{Durability: odb.Off}), t: f.t, dir: f.dir}
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	return gitenv.Git(f.t, f.dir, args...)
}

// create stores events as a new conversation.
func (f *fixture) create(n int, events []*conversation.Event) conversation.Head {
	f.t.Helper()
	head, err := f.Create(f.t.Context(), journaltest.ID(n), "", events)
	require.NoError(f.t, err)
	return head
}

// raw is an object to the byte, as git has it.
func (f *fixture) raw(oid string) []byte { return rawObject(f.t, f.dir, oid) }

func rawObject(t testing.TB, dir, oid string) []byte {
	t.Helper()
	cmd := exec.Command("git", "cat-file", "commit", oid)
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// put stores any bytes as an object, without git's opinion of them.
func (f *fixture) put(kind string, data []byte) string {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "object")
	require.NoError(f.t, os.WriteFile(file, data, 0o600))
	return f.git("hash-object", "-w", "-t", kind, "--literally", file)
}

// rewrite replaces a conversation's newest commit by a changed copy.
func (f *fixture) rewrite(n int, edit func(commit string) string) conversation.Head {
	f.t.Helper()
	ref := refs + string(journaltest.ID(n))
	oid := f.put("commit", []byte(edit(string(f.raw(ref)))))
	f.git("update-ref", ref, oid)
	return conversation.Head(oid)
}

// fsck asserts that git fsck prints nothing.
func fsck(t testing.TB, dir string) {
	t.Helper()
	require.Empty(t, gitenv.Git(t, dir, "fsck", "--strict", "--no-dangling", "--no-progress"))
}

// problems are the faults in a conversation's storage. It does not check the conversation's sense: many of
// these tests store events that make none.
func (f *fixture) problems(n int) []conversation.Problem {
	f.t.Helper()
	v, err := f.Verify(f.t.Context(), journaltest.ID(n))
	require.NoError(f.t, err)
	events, _ := f.load(n)
	senseless := conversation.Audit(events)
	return slices.DeleteFunc(v.Problems, func(p conversation.Problem) bool { return slices.Contains(senseless, p) })
}

// verified asserts that the store finds no problem in a conversation.
func (f *fixture) verified(n int) {
	f.t.Helper()
	require.Empty(f.t, f.problems(n))
}

// load reads the newest state of a conversation.
func (f *fixture) load(n int) ([]*conversation.Event, error) {
	f.t.Helper()
	head, err := f.Head(f.t.Context(), journaltest.ID(n))
	require.NoError(f.t, err)
	return f.Load(f.t.Context(), head)
}

// commits are the ids of the commits that events are stored in.
func commits(events []*conversation.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.Commit
	}
	return out
}

var (
	when  = time.Date(2025, 7, 19, 14, 0, 0, 123456789, time.UTC)
	title = "Deadlines"
	seven = 7
	ended = conversation.CallEnd{
		Finish: conversation.FinishStop, Prefix: "5f1d",
		Usage: &conversation.Usage{Input: 120, Output: 34, CacheRead: 7, CostUSD: "0.0021", DurationMS: 900},
	}
)

// bodies are one of every type, and of every part of a chat response.
func bodies() []conversation.Body {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []conversation.Body{
		&conversation.TurnStart{Model: "script/fixed", JP: "1.0", Approved: conversation.Approval{"fs_read_file"}},
		&conversation.Prompt{System: "You are careful.\nYou test."},
		&conversation.Note{Content: "be brief"},
		&conversation.ChatRequest{Content: "Give it a deadline.", Author: "Ada", Schema: raw(`{"type":"object"}`), Replaces: &seven},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: "Read, then edit."},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "I will\nedit it.", CallEnd: ended},
		&conversation.ChatResponse{Call: 2, Part: conversation.PartData, Text: `{"answer":true}`},
		&conversation.ToolCallRequest{Call: 2, ID: "call_2", Name: "fs_modify_file", Arguments: raw("{\n  \"path\": \"a.go\"\n}"), CallEnd: ended},
		&conversation.InquiryRequest{
			For: 7, Kind: conversation.KindRunTool, QuestionID: "run_tool", Attempt: 1,
			Question: conversation.Question{Text: "run it?", AnswerType: conversation.AnswerType{Type: "boolean"}, Default: raw("false")},
		},
		&conversation.InquiryResponse{For: 8, Outcome: conversation.OutcomeAnswered, Answer: raw(`"run"`), By: conversation.ByUser},
		&conversation.ToolStarted{For: 7, Attempt: 1, PGID: 4242},
		&conversation.ToolCallResponse{
			For: 7, ID: "call_2", Name: "fs_modify_file", Content: "--- a.go\n+++ a.go\n", DurationMS: 12,
			Changed:    []conversation.FileChange{{Path: "a.go", After: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}},
			Unrecorded: []string{"a.go"}, UnrecordedMore: 1,
			LeftOut: []conversation.SkippedPath{{Path: ".env", Why: "looks like a secret"}},
		},
		&conversation.ConfigDelta{Delta: raw(`{"model":"openai/gpt-5.1"}`)},
		&conversation.Metadata{Title: &title, TitleSource: "user", PinnedAt: &conversation.OptionalTime{Time: when}, Labels: map[string]string{"b": "", "a": "1"}},
		&conversation.ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 15, Commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		&conversation.Workspace{Paths: []conversation.PathStat{{Path: "a.go", Status: "M", Added: 1, Deleted: 1}}, More: 2},
		&conversation.TurnDiscarded{FromSeq: 3, ToSeq: 8, By: conversation.ByUser},
		&conversation.TurnStopped{By: conversation.ByUser},
		&conversation.TurnInterrupted{By: conversation.BySignal, Signal: "SIGTERM", Phase: "executing"},
		&conversation.Resumed{Phase: "executing", Call: 2, AgeMS: 7_200_000, Message: "[SESSION_RESUMED] turn 2\n", Report: &conversation.Report{HeadIs: "6f71f08"}},
		&conversation.Restored{AsOf: 18, Files: []conversation.RestoredFile{{Path: "a.go", Done: true}}},
		&conversation.WorkState{Plan: "first", OpenTasks: []string{"one", "two"}},
		&conversation.TurnDone{Calls: 4, Input: 8900, Output: 544, CostUSD: "0.04", DurationMS: 41_000, Files: []string{"a.go"}},
		&conversation.Withholding{For: 3, Attachments: []string{"a.png"}, Reason: "no images"},
		&conversation.Instructions{
			Files:   []conversation.InstructionFile{{Path: "AGENTS.md", OID: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Bytes: 9, From: 6, To: 15}},
			Content: "begin\nBe brief.\nend\n",
		},
		&conversation.Compaction{
			Kind: conversation.CompactSummary, ToSeq: 12, Keep: 4, Items: []conversation.SummaryItem{{Kind: conversation.ItemUser, Cites: []int{3}}},
			Dropped: 1, Window: 200_000, Before: 160_000, After: 21_000, By: conversation.ByUser, Focus: "deadlines",
			Model: "anthropic/claude-sonnet-4-5", Usage: ended.Usage, Content: "The user wants a deadline.",
		},
		&conversation.CompactionUndone{For: 25},
	}
}

// everyType is a chain of all types of events. Together they make no sense.
func everyType() []*conversation.Event {
	var events []*conversation.Event
	for i, b := range bodies() {
		events = append(events, &conversation.Event{
			Seq: i, Turn: 1, Time: when.Add(time.Duration(i) * time.Second), Body: b, Model: "anthropic/claude-sonnet-4-5",
		})
	}
	events[5].Provider = json.RawMessage(`{"api": "script", "item": {"n": 1.0}}`)
	events[0].Git = &conversation.Git{Head: "6f71f08aa0b2d4b2e5c8b42b2a7b0a6a33b2e1c9", Branch: "main"}
	return events
}

// trailersOf are the values of a trailer along a conversation, oldest first.
func (f *fixture) trailersOf(n int, key string) []string {
	f.t.Helper()
	out := f.git("log", "--first-parent", "--reverse", "--format=%(trailers:key="+key+",valueonly,separator=%x2C)", refs+string(journaltest.ID(n)))
	return strings.Split(out, "\n")
}
