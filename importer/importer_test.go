package importer

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

var update = flag.Bool("update", false, "write testdata/*.txt anew")

// A stored has the results of imports: the events of conversations.
type stored map[conversation.ID][]*conversation.Event

// ids are the conversations in the order in which they were made.
func (s stored) ids() []conversation.ID { return slices.Sorted(maps.Keys(s)) }

// importText imports a session text into the stored events.
func importText(t testing.TB, f Format, text, path string, there stored) (*Report, stored, error) {
	t.Helper()
	file := strings.NewReader(text)
	s, ok, err := identify(f, file, path)
	require.NoError(t, err)
	if !ok {
		return nil, there, nil
	}
	rep := &Report{Format: f.Name(), Session: s.ID, Started: s.Started, ID: IDOf(f.Name(), s.ID, s.Started), Dir: s.Dir}
	now, had := stored{}, map[conversation.ID][]mark{}
	for id, events := range there {
		now[id] = slices.Clone(events)
		for _, e := range events {
			had[id] = append(had[id], markOf(e, f.Name()))
		}
	}
	im := &importing{ctx: t.Context(), rep: rep, test: &testJournal{had: had, replace: func(id conversation.ID, seq int) { now[id] = now[id][:seq+1] }, emit: func(id conversation.ID, e *conversation.Event) {
		if origin, is := e.Body.(*conversation.ForkOrigin); is {
			require.Empty(t, now[id])
			now[id] = slices.Clone(now[origin.Conversation][:origin.Seq+1])
		}
		require.Len(t, now[id], e.Seq)
		now[id] = append(now[id], e)
	}}}
	return rep, now, im.session(f, file, path)
}

// build makes the events of a session text without branches behind those of an earlier
// import.
func build(t testing.TB, f Format, text string, have []*conversation.Event) (*Report, []*conversation.Event) {
	t.Helper()
	there := stored{}
	if len(have) > 0 {
		s, _, err := identify(f, strings.NewReader(text), "/somewhere/session.jsonl")
		require.NoError(t, err)
		there[IDOf(f.Name(), s.ID, s.Started)] = have
	}
	rep, now, err := importText(t, f, text, "/somewhere/session.jsonl", there)
	require.NoError(t, err)
	if rep == nil {
		return nil, have
	}
	for _, events := range now {
		require.Empty(t, conversation.Audit(events))
	}
	return rep, now[rep.ID]
}

// tell describes each event, one line each.
func tell(events []*conversation.Event) string {
	var b strings.Builder
	for _, e := range events {
		line := string(e.Type())
		switch body := e.Body.(type) {
		case *conversation.Metadata:
			line += fmt.Sprintf(" %s %s", body.Labels[labelFormat], body.Labels[labelSession])
			if body.Parent != "" {
				line += " for " + string(body.Parent)
			}
		case *conversation.ForkOrigin:
			line += fmt.Sprintf(" of %s at %d", body.Conversation, body.Seq)
		case *conversation.ToolStarted:
			line += fmt.Sprintf(" for %d by %s", body.For, body.Child)
		case *conversation.TurnStart:
			line += fmt.Sprintf(" %d %s", e.Turn, body.Model)
		case *conversation.ChatRequest:
			line += fmt.Sprintf(" %q", body.Content)
		case *conversation.ChatResponse:
			line += fmt.Sprintf(" %d %s %q %s", body.Call, body.Part, body.Text, body.Finish)
			if body.Usage != nil {
				line += fmt.Sprintf(" %d+%d", body.Usage.Input, body.Usage.Output)
			}
		case *conversation.ToolCallRequest:
			line += fmt.Sprintf(" %d %s %s %s", body.Call, body.ID, strings.Join(strings.Fields(string(body.Arguments)), ""), body.Finish)
			if body.Usage != nil {
				line += fmt.Sprintf(" %d+%d", body.Usage.Input, body.Usage.Output)
			}
			if body.Malformed {
				line += fmt.Sprintf(" malformed %q", e.Payloads[0].Data)
			}
		case *conversation.ToolCallResponse:
			line += fmt.Sprintf(" for %d %s %q %v", body.For, body.ID, body.Content, body.IsError)
		case *conversation.Note:
			line += fmt.Sprintf(" %q", body.Content)
		case *conversation.TurnStopped:
			line += fmt.Sprintf(" %s %q", body.By, body.Reason)
		}
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func formatOf(name string) Format {
	format, _, _ := strings.Cut(filepath.Base(name), "_")
	return FormatNamed(format)
}

func fixtures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

func TestEventsOfASession(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			rep, now, err := importText(t, formatOf(name), fixture(t, name), "/somewhere/session.jsonl", nil)
			require.NoError(t, err)
			got := tell(now[rep.ID])
			require.Empty(t, conversation.Audit(now[rep.ID]))
			for _, part := range slices.Concat(rep.Forks, rep.Children) {
				require.Empty(t, conversation.Audit(now[part.ID]))
				got += fmt.Sprintf("== %s\n", part.ID) + tell(now[part.ID][part.From+1:])
			}
			got += fmt.Sprintf("left out %v\nunknown %v\nrefused %v\nunknown outcomes %d\n", rep.LeftOut, rep.Unknown, rep.Refused, rep.Unknowns)
			golden := strings.TrimSuffix(name, ".jsonl") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(filepath.Join("testdata", golden), []byte(got), 0o644))
			}
			require.Equal(t, fixture(t, golden), got)
		})
	}
}

func (s stored) tellAll() string {
	var b strings.Builder
	for _, id := range s.ids() {
		fmt.Fprintf(&b, "== %s\n%s", id, tell(s[id]))
	}
	return b.String()
}

// cutsOf are the beginnings of a session, and all of it.
func cutsOf(t testing.TB, f Format, text string) (cuts []string) {
	array := func(values []json.RawMessage) string {
		cut, err := json.Marshal(values)
		require.NoError(t, err)
		return string(cut)
	}
	switch {
	case f.Name() == "jp-upstream":
		var events []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &events))
		for n := range events {
			cuts = append(cuts, array(events[:n]))
		}
	case strings.HasPrefix(text, "{\n"):
		var session struct {
			Info     json.RawMessage   `json:"info"`
			Messages []json.RawMessage `json:"messages"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &session))
		for n := range session.Messages {
			cuts = append(cuts, `{"info":`+string(session.Info)+`,"messages":`+array(session.Messages[:n])+"}")
		}
	default:
		lines := strings.SplitAfter(text, "\n")
		for n := range lines {
			cuts = append(cuts, strings.Join(lines[:n], ""))
		}
	}
	return append(cuts, text)
}

// Imports of a session, cut at any records and in any order, make the same events as the whole.
func TestASessionInParts(t *testing.T) {
	upstreamName := filepath.Join("upstream", upstreamSample, upstreamEvents)
	for _, name := range append(fixtures(t), "opencode_tools.json", upstreamName) {
		t.Run(name, func(t *testing.T) {
			f, text := formatOf(name), fixture(t, name)
			if name == upstreamName {
				f = upstream{}
			}
			lines := cutsOf(t, f, text)
			whole, want, err := importText(t, f, text, "", nil)
			require.NoError(t, err)
			take := func(there stored, n int) (*Report, stored) {
				rep, now, err := importText(t, f, lines[n], "", there)
				require.NoError(t, err, "%d lines", n)
				now.audit(t, "%d lines", n)
				return rep, now
			}
			all := len(lines) - 1
			for n := range lines {
				_, there := take(nil, n)
				_, there = take(there, all)
				require.Equal(t, want.tellAll(), there.tellAll(), "%d lines, and then all", n)
				for _, m := range []int{n, all} {
					rep, again := take(there, m)
					require.Equal(t, want.tellAll(), again.tellAll(), "all, and then %d lines", m)
					if rep != nil {
						require.Zero(t, rep.Added)
					}
				}
				again, _, err := importText(t, f, text, "", there)
				require.NoError(t, err)
				require.Equal(t, StateUnchanged, again.State)
				require.Equal(t, whole.Events, again.Events)
				require.Equal(t, whole.Unknowns, again.Unknowns)
			}
			rapid.Check(t, func(r *rapid.T) {
				var there stored
				for _, n := range rapid.SliceOfN(rapid.IntRange(0, all), 1, 6).Draw(r, "lines") {
					_, there = take(there, n)
				}
				_, there = take(there, all)
				require.Equal(r, want.tellAll(), there.tellAll())
			})
		})
	}
}

// The user's changes of an imported conversation stay, and so do the words of the session.
func TestASessionThatHasGrown(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			f, text := formatOf(name), fixture(t, name)
			lines := strings.SplitAfter(text, "\n")
			_, whole, err := importText(t, f, text, "", nil)
			require.NoError(t, err)
			for n := range lines {
				first, have, err := importText(t, f, strings.Join(lines[:n], ""), "", nil)
				require.NoError(t, err)
				if len(have) == 0 {
					continue
				}
				had := len(have[first.ID])
				title := &conversation.Event{Seq: had, Turn: have[first.ID][had-1].Turn, Time: first.Ended, Signed: true, Body: &conversation.Metadata{Title: new(string)}}
				have[first.ID] = append(have[first.ID], title)
				_, events, err := importText(t, f, text, "", have)
				require.NoError(t, err)
				require.Same(t, title, events[first.ID][had])
				events.audit(t, "%d lines, and then all", n)
				require.Equal(t, whole.ids(), events.ids())
				for id := range whole {
					require.ElementsMatch(t, words(whole[id]), words(events[id]), "%d lines, and then all", n)
				}
				again, _, err := importText(t, f, text, "", events)
				require.NoError(t, err)
				require.Zero(t, again.Added, "%d lines, and then all, twice", n)
				require.Equal(t, StateUnchanged, again.State)
			}
		})
	}
}

func (s stored) audit(t testing.TB, words string, n int) {
	t.Helper()
	for id, events := range s {
		require.Empty(t, conversation.Audit(events), words+": %s\n%s", n, id, tell(events))
	}
}

// words are all texts of a conversation that its session has, in any place.
func words(events []*conversation.Event) (texts []string) {
	for _, e := range events {
		text, _ := e.Text()
		switch e.Body.(type) {
		case *conversation.Note:
			_, text, _ = strings.Cut(text, "\n")
		case *conversation.ToolCallResponse:
			if strings.HasPrefix(text, "outcome unknown: ") {
				continue
			}
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func TestAFileThatTellsAnotherStory(t *testing.T) {
	tools := fixture(t, "claude_tools.jsonl")
	_, have, err := importText(t, claude{}, tools, "", nil)
	require.NoError(t, err)
	rep, _, err := importText(t, claude{}, strings.Replace(tools, "2026-11-02T09:00:01", "2026-11-02T09:00:02", 1), "", have)
	require.ErrorIs(t, err, errChanged)
	require.Zero(t, rep.Added)
}

// A session that grows after its conversation went on here grows in a fork behind the newest
// event that came from it.
func TestASessionThatWentOnHere(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			f, text := formatOf(name), fixture(t, name)
			lines := strings.SplitAfter(text, "\n")
			for n := range lines {
				first, have, err := importText(t, f, strings.Join(lines[:n], ""), "", nil)
				require.NoError(t, err)
				if first == nil {
					continue
				}
				had := len(have[first.ID])
				here := &conversation.Event{Seq: had, Turn: have[first.ID][had-1].Turn + 1, Time: first.Ended, Signed: true, Body: &conversation.TurnStart{}}
				have[first.ID] = append(have[first.ID], here)
				rep, events, err := importText(t, f, text, "", have)
				require.NoError(t, err)
				require.Len(t, events[first.ID], had+1, "%d lines", n)
				for _, part := range rep.Forks {
					if part.Of == first.ID {
						require.Less(t, part.From, had, "%d lines", n)
						require.Empty(t, conversation.Audit(events[part.ID]), "%d lines", n)
					}
				}
				again, _, err := importText(t, f, text, "", events)
				require.NoError(t, err)
				require.Zero(t, again.Added, "%d lines", n)
			}
		})
	}
}

func TestHostileRecordsAreRefusedOneByOne(t *testing.T) {
	good := `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-02T09:00:00Z","message":{"role":"user","content":"Hello"}}` + "\n"
	for name, test := range map[string]struct {
		line   string
		reason string
	}{
		"large":          {`{"type":"user","x":"` + strings.Repeat("x", maxRecord) + `"}` + "\n", refusedLarge},
		"deep":           {`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}\n", refusedDeep},
		"NUL":            {"{\"type\":\"user\",\x00}\n", refusedJSON},
		"no object":      {"[1]\n", refusedJSON},
		"another type":   {`{"type":"user","message":7}` + "\n", refusedJSON},
		"duplicate":      {good, refusedDuplicate},
		"orphan":         {`{"type":"user","uuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"none"}]}}` + "\n", refusedOrphan},
		"nameless":       {`{"type":"assistant","uuid":"2","message":{"content":[{"type":"tool_use","id":"a"}]}}` + "\n", refusedNameless},
		"still written":  {`{"type":"user","message":{"con`, refusedUnended},
		"call id, twice": {`{"type":"assistant","uuid":"2","message":{"content":[{"type":"tool_use","id":"a","name":"A"},{"type":"tool_use","id":"a","name":"A"}]}}` + "\n", refusedDuplicate},
	} {
		t.Run(name, func(t *testing.T) {
			end := strings.ReplaceAll(strings.ReplaceAll(good, `"1"`, `"9"`), "Hello", "Good bye")
			if !strings.HasSuffix(test.line, "\n") {
				end = ""
			}
			rep, events := build(t, claude{}, good+test.line+end, nil)
			require.Equal(t, map[string]int{test.reason: 1}, rep.Refused)
			require.Equal(t, 1+strings.Count(end, "\n"), rep.Requests)
			require.Empty(t, conversation.Audit(events))
		})
	}
}

// Records whose parents form a cycle, or are missing, are read in the order of the file.
func TestParentsWithoutAnEnd(t *testing.T) {
	line := func(uuid, parent, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"s","timestamp":"2026-11-02T09:00:00Z","message":{"content":%q}}`+"\n", uuid, parent, text)
	}
	rep, _ := build(t, claude{}, line("a", "b", "One")+line("b", "a", "Two")+line("c", "c", "Three")+line("d", "gone", "Four"), nil)
	require.Equal(t, 4, rep.Requests)
}

func TestASessionHasOneID(t *testing.T) {
	at := parseTime("2026-11-02T09:00:00.25Z")
	id := IDOf("claude", "session", at)
	_, err := conversation.ParseID(string(id))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(id), fmt.Sprintf("jp-c%d-", at.UnixMilli()/100)))
	require.Equal(t, id, IDOf("claude", "session", at))
	require.NotEqual(t, id, IDOf("codex", "session", at))
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	_, err := Open(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
}

func TestAnAgentsFilesAreThoseOfTheTree(t *testing.T) {
	folder := t.TempDir()
	for _, dir := range []string{"-home-ada-app", "-home-ada-app-web", "-home-ada-other"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, dir, "sub"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, dir, "a.jsonl"), nil, 0o644))
		require.NoError(t, os.Symlink("a.jsonl", filepath.Join(folder, dir, "link.jsonl")))
	}
	files, err := claude{}.Files(folder, "/home/ada/app")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "-home-ada-app", "a.jsonl"), filepath.Join(folder, "-home-ada-app-web", "a.jsonl")}, files)
	require.True(t, within("/home/ada/app/web", "/home/ada/app"))
	require.False(t, within("/home/ada/app-web", "/home/ada/app"))
	require.False(t, within("", "/home/ada/app"))
}

func FuzzDecode(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats {
			_, events, err := importText(t, format, text, "", nil)
			require.NoError(t, err)
			events.audit(t, "%d threads", len(events))
			if len(events) > 0 {
				rep, _, err := importText(t, format, text, "", events)
				require.NoError(t, err)
				require.Zero(t, rep.Added)
			}
		}
	})
}
