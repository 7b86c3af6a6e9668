package recall_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/tool"
	"jp/tool/recall"
)

// A shelf is a journal in which some conversations are damaged or foreign.
type shelf struct {
	*journaltest.Memory
	t       testing.TB
	foreign map[conversation.ID]bool
	damaged map[conversation.Head]int // events that can be read, by head
	owner   map[conversation.Head]conversation.ID
	remotes []conversation.Info
}

func newShelf(t testing.TB) *shelf {
	return &shelf{Memory: journaltest.NewMemory(), t: t, foreign: map[conversation.ID]bool{}, damaged: map[conversation.Head]int{}, owner: map[conversation.Head]conversation.ID{}}
}

func (s *shelf) put(id conversation.ID, events []*conversation.Event) conversation.Head {
	head, err := s.Create(s.t.Context(), id, "", events)
	require.NoError(s.t, err)
	s.owner[head] = id
	return head
}

// turns stores a conversation of that many turns.
func (s *shelf) turns(id conversation.ID, n int) *journaltest.Script {
	script := journaltest.NewScript(s.t)
	for range n {
		script.Turn("Ask " + string(id)).Says("Answer.")
	}
	s.put(id, script.Events())
	return script
}

func (s *shelf) List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error) {
	if scope == conversation.ScopeRemotes {
		return s.remotes, nil
	}
	infos, err := s.Memory.List(ctx, scope)
	for i := range infos {
		infos[i].Tip.Signed = !s.foreign[infos[i].ID]
		if good, ok := s.damaged[infos[i].Head]; ok && good < 0 {
			infos[i] = conversation.Info{ID: infos[i].ID, Head: infos[i].Head, Err: conversation.ErrDamaged}
		}
	}
	return infos, err
}

func (s *shelf) Load(ctx context.Context, at conversation.Head) ([]*conversation.Event, error) {
	events, err := s.Memory.Load(ctx, at)
	for _, e := range events {
		e.Signed = !s.foreign[s.owner[at]]
	}
	if good, ok := s.damaged[at]; ok && err == nil {
		return events[:max(0, good)], conversation.ErrDamaged
	}
	return events, err
}

// Scan returns the events that the prefilter passes, and all discards.
func (s *shelf) Scan(ctx context.Context, of conversation.Info, filter conversation.Prefilter) ([]*conversation.Event, error) {
	events, err := s.Load(ctx, of.Head)
	return slices.DeleteFunc(events, func(e *conversation.Event) bool {
		return e.Type() != conversation.TypeTurnDiscarded && !passes(s.t, e, filter)
	}), err
}

func passes(t testing.TB, e *conversation.Event, filter conversation.Prefilter) bool {
	stored, err := conversation.ViewJSON(e, "", false)
	require.NoError(t, err)
	has := func(text string) bool {
		return strings.Contains(string(stored), text) || filter.Fold && strings.Contains(strings.ToUpper(string(stored)), strings.ToUpper(text))
	}
	return len(filter.Any) == 0 || slices.ContainsFunc(filter.Any, has)
}

// run calls a tool as the turn loop does: with arguments that were checked.
func (s *shelf) run(current conversation.ID, name, arguments string) (tool.Result, error) {
	registry, err := tool.NewRegistry(recall.Tools(s)...)
	require.NoError(s.t, err)
	t, ok := registry.Lookup(name)
	require.True(s.t, ok)
	checked, err := tool.Check(t.Definition(), json.RawMessage(arguments))
	if err != nil {
		return tool.Result{}, err
	}
	result, err := t.Run(s.t.Context(), tool.Call{Conversation: current, Arguments: checked})
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, len(result.Content), recall.MaxOutput)
	require.Equal(s.t, result.IsError, result.WrittenFiles == nil, "nothing is written")
	return result, nil
}

// reads calls a tool that must succeed, outside of any conversation.
func (s *shelf) reads(t require.TestingT, name, arguments string) element {
	return s.within(t, "", name, arguments)
}

// within calls a tool that must succeed in a conversation.
func (s *shelf) within(t require.TestingT, current conversation.ID, name, arguments string) element {
	result, err := s.run(current, name, arguments)
	require.NoError(t, err)
	require.False(t, result.IsError, "%s", result.Content)
	return parsed(t, string(result.Content))
}

// fails calls a tool that must fail.
func (s *shelf) fails(t *testing.T, current conversation.ID, name, arguments string) string {
	t.Helper()
	result, err := s.run(current, name, arguments)
	require.NoError(t, err)
	require.True(t, result.IsError, "%s", result.Content)
	return string(result.Content)
}

func TestDefinitions(t *testing.T) {
	for i, rt := range recall.Tools(newShelf(t)) {
		def := rt.Definition()
		require.Equal(t, recall.Names()[i], def.Name)
		require.Equal(t, tool.Reads, def.Effect)
		require.Equal(t, tool.Unattended, def.Run)
		require.Equal(t, tool.Unattended, def.Result)
		require.True(t, def.Idempotent)
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		require.NoError(t, json.Unmarshal(def.Parameters, &schema))
		for name, p := range schema.Properties {
			require.NotEmpty(t, p.Description, "%s %s", def.Name, name)
		}
	}
}

// TestDefaults checks the documented defaults of omitted arguments.
func TestDefaults(t *testing.T) {
	for i, want := range []string{
		`{"limit":20,"offset":0,"sort":"activity","descending":true,"archived":false}`,
		`{"ignore_case":true,"context":0,"limit":50,"include_current":false,"include_recall":false,"pattern":"p"}`,
		`{"include":["chat","reasoning","tool_calls","tool_results"],"include_current":false,"include_recall":false,"id":"i"}`,
	} {
		given := []string{`{}`, `{"pattern":"p"}`, `{"id":"i"}`}[i]
		checked, err := tool.Check(recall.Tools(newShelf(t))[i].Definition(), json.RawMessage(given))
		require.NoError(t, err)
		require.JSONEq(t, want, string(checked))
	}
}

func TestSubject(t *testing.T) {
	tools := recall.Tools(newShelf(t))
	require.Equal(t, "two words", tools[1].Definition().Subject(json.RawMessage(`{"pattern":"two\nwords"}`)))
	require.Equal(t, "k3f9", tools[2].Definition().Subject(json.RawMessage(`{"id":"k3f9"}`)))
	require.Empty(t, tools[0].Definition().Subject(json.RawMessage(`{}`)))
}

func TestRunEndsWithItsContext(t *testing.T) {
	s := newShelf(t)
	s.turns(journaltest.ID(1), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, rt := range recall.Tools(s) {
		_, err := rt.Run(ctx, tool.Call{Arguments: json.RawMessage(`{"pattern":"a","limit":1,"id":"x"}`)})
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestHostileContent checks that any text of people, models and tools stays inside its element: one for each
// event, each hit and each conversation.
func TestHostileContent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) string { return hostileText().Draw(rt, label) }
		arguments, err := json.MarshalIndent(map[string]string{"path": draw("argument")}, "", "  ")
		require.NoError(rt, err)
		title := draw("title")
		script := journaltest.NewScript(t)
		script.Turn("needle " + draw("request")).Thinks("needle " + draw("reasoning")).Mentions("needle " + draw("message"))
		script.Calls("c1", "fs_read_file", string(arguments), true).Returns("c1", "needle "+draw("result")).Says("Over.")
		script.Records(&conversation.Metadata{Title: &title, TitleSource: "user"})
		s := newShelf(t)
		s.put(journaltest.ID(1), script.Events())

		read := s.reads(rt, "conversation_read", `{"id":"k3f9"}`)
		require.Len(rt, read.all("turn"), 1)
		require.Equal(rt, []string{"user", "reasoning", "assistant", "tool-call", "tool-result", "assistant"}, read.values("event", "kind"))
		hits := s.reads(rt, "conversation_grep", `{"pattern":"needle","scopes":["chat","reasoning","tool-result"]}`)
		require.GreaterOrEqual(rt, len(hits.children), 4)
		require.Len(rt, hits.all("hit"), len(hits.children))
		list := s.reads(rt, "conversation_list", `{}`)
		require.Len(rt, list.children, 1)
		for _, e := range append(read.all("event"), hits.children...) {
			requireVisible(rt, e.text)
		}
	})
}

// stamp is the clock of a script at its n-th look.
func stamp(n int) string {
	return time.Date(2025, 7, 19, 14, 0, n, 0, time.UTC).Format(time.RFC3339)
}

func TestIsARecallTool(t *testing.T) {
	for name, want := range map[string]bool{
		"conversation_grep": true, "conversation_read": true, "conversation_list": true,
		"mcp__jp__conversation_grep": true, "mcp__my_jp__conversation_read": true,
		"fs_grep_files": false, "conversation_grepper": false, "mcp__conversation_grep": false, "mcp____conversation_grep": false,
		"my__conversation_grep": false, "mcp__a__b__conversation_grep": false, "": false,
	} {
		require.Equal(t, want, recall.Is(name), name)
	}
}

// recalled is a conversation that was asked about retries and looked into others.
func recalled(t *testing.T, name string) []*conversation.Event {
	return journaltest.NewScript(t).Turn("What about the pauses?").
		Calls("call_1", name, `{"pattern":"retries"}`, true).Returns("call_1", `<hit>Cap the retries at five.</hit>`).
		Says("Five retries.").Events()
}

func TestRecallIsNotRecalled(t *testing.T) {
	for _, name := range append(recall.Names(), "mcp__jp__conversation_grep", "fs_grep_files") {
		s := newShelf(t)
		s.put(journaltest.ID(1), recalled(t, name))
		found := texts(s.reads(t, "conversation_grep", `{"pattern":"retries"}`))
		all := texts(s.reads(t, "conversation_grep", `{"pattern":"retries","include_recall":true}`))
		require.Len(t, all, 3)
		result := s.reads(t, "conversation_read", `{"id":"`+ids(1)[0]+`"}`).all("event")[2]
		if !recall.Is(name) {
			require.Equal(t, all, found)
			require.Contains(t, result.text, "Cap the retries")
			continue
		}
		require.Equal(t, []string{"Five retries."}, found, name)
		require.Empty(t, texts(s.reads(t, "conversation_grep", `{"pattern":"retries","scopes":["tool"]}`)))
		require.Equal(t, "1", s.reads(t, "conversation_grep", `{"pattern":"retries"}`).attributes["total"])
		require.Empty(t, result.text)
		require.Equal(t, "true", result.attributes["left_out"])
		result = s.reads(t, "conversation_read", `{"id":"`+ids(1)[0]+`","include_recall":true}`).all("event")[2]
		require.Contains(t, result.text, "Cap the retries")
		require.Empty(t, result.attributes["left_out"])
	}
}
