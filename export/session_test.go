package export

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	stdimage "image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/importer"
	"jp/provider"
	"jp/provider/anthropic"
)

var update = flag.Bool("update", false, "write testdata anew")

// picture is a PNG of a pixel.
var picture = func() []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, stdimage.NewGray(stdimage.Rect(0, 0, 1, 1)))
	return out.Bytes()
}()

// sessionOf is a conversation as a session of an agent.
func sessionOf(a agent, s *Source, compacted bool) (*Native, string) {
	n := s.native(a, "/home/ada/app", compacted)
	var out strings.Builder
	if err := n.Write(&out); err != nil {
		panic(err)
	}
	return n, out.String()
}

// manyKinds is a conversation with each kind of event that a session has, or leaves out.
func manyKinds() *Source {
	title := "Cap the <b>retries</b>"
	read := func(path string) json.RawMessage {
		return json.RawMessage(`{"path": "` + path + `", "n": 12345678901234567890}`)
	}
	s := sourceOf(
		&conversation.Metadata{Title: &title},
		&conversation.TurnStart{Environment: "It is Friday."},
		&conversation.Instructions{Content: "Be brief."},
		&conversation.ChatRequest{Content: "Cap them. & see the picture", Attachments: []conversation.Attachment{
			{Name: "red.png", MediaType: "image/png"}, {Name: "notes.txt", MediaType: "text/plain"}, {Name: "plan.pdf", MediaType: "application/pdf"},
		}},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: "Where are they?"},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: "Of another vendor."},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "I look."},
		&conversation.ToolCallRequest{Call: 1, ID: "call_a", Name: "fs_read_file", Arguments: read("a.go")},
		&conversation.ToolCallRequest{Call: 1, ID: "call b", Name: "mcp:server:read", Arguments: read("b.go"), CallEnd: conversation.CallEnd{
			Finish: conversation.FinishToolCalls, Usage: &conversation.Usage{Input: 100, Output: 20, CacheRead: 60, CacheWrite: 10},
		}},
		&conversation.ToolCallResponse{For: 8, ID: "call b", Name: "mcp:server:read", Content: "b.go: no such file", IsError: true},
		&conversation.ToolStarted{For: 7, Attempt: 1, Child: "jp-c17528832001-aaaa"},
		&conversation.ToolCallResponse{For: 7, ID: "call_a", Name: "fs_read_file", Attachments: []conversation.Attachment{{Name: "red.png", MediaType: "image/png"}}},
		&conversation.Note{Content: "A hook said so."},
		&conversation.ChatResponse{Call: 2, Part: conversation.PartMessage, Text: "Capped.", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}},
		&conversation.TurnStart{},
		&conversation.ChatRequest{Content: "No."},
		&conversation.TurnDiscarded{FromSeq: 14, ToSeq: 15},
		&conversation.TurnStart{},
		&conversation.ChatRequest{Content: "Run it"},
		&conversation.ToolCallRequest{Call: 1, ID: "call_a", Name: "shell_run", Arguments: json.RawMessage(`{}`), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}},
	)
	for _, e := range s.Events {
		e.Model = "anthropic/claude-opus-4-8"
	}
	s.Events[len(s.Events)-1].Commit = "the newest"
	s.Events[1].Git = &conversation.Git{Head: "6f7108", Branch: "main"}
	for i, name := range map[int]string{3: "red.png", 11: "red.png"} {
		s.Events[i].Payloads = append(s.Events[i].Payloads, conversation.Payload{Name: name, MediaType: "image/png", Data: picture, Bytes: int64(len(picture))})
	}
	s.Events[3].Payloads = append(s.Events[3].Payloads,
		conversation.Payload{Name: "notes.txt", MediaType: "text/plain", Data: []byte("three\n"), Bytes: 6},
		conversation.Payload{Name: "plan.pdf", MediaType: "application/pdf", Data: []byte("%PDF-1.7"), Bytes: 8})
	s.Events[4].Provider = provider.Target{API: anthropic.API, Model: "claude-opus-4-8", Endpoint: "https://api.anthropic.com"}.State(
		json.RawMessage(`{"type":"thinking","thinking":"Where are they?","signature":"c2lnbmVk"}`))
	s.Events[5].Provider = provider.Target{API: "responses", Model: "gpt-5", Endpoint: "https://api.openai.com/v1"}.State(json.RawMessage(`{"type":"reasoning"}`))
	return s
}

func TestRecordsOfASession(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name(), func(t *testing.T) {
			n, text := sessionOf(a, manyKinds(), false)
			text += strings.Join(n.Notes, "\n") + "\n"
			golden := filepath.Join("testdata", a.name()+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text)
			_, again := sessionOf(a, manyKinds(), false)
			require.True(t, strings.HasPrefix(text, again), "the same conversation gives the same file")
			grown := manyKinds()
			grown.Events[len(grown.Events)-1].Commit = "another one"
			other, _ := sessionOf(a, grown, false)
			require.NotEqual(t, n.session.id, other.session.id)
		})
	}
}

// said is the text of a person, a model or a tool, as an importer tells it.
type said struct {
	kind           importer.Kind
	text, id, tool string
	failed         bool
}

// A shortHistory is made of words: ask, reply, say, use (two tools), cut (an answer that breaks
// off), first and last (results of open calls), note, stop, undo.
type shortHistory struct {
	bodies []conversation.Body
	began  int // seq of the turn
	call   int
	open   []int // seqs of calls
	over   bool  // the turn is complete
	calls  int
}

var historyWords = []string{"ask", "reply", "say", "use", "cut", "first", "last", "note", "stop", "undo"}

// add adds the part that a word stands for. It reports whether the word fits there.
func (h *shortHistory) add(word string) bool {
	seq := len(h.bodies)
	text := fmt.Sprintf("%s %d.", word, seq)
	if word != "ask" && (seq == 0 || h.over) {
		return false
	}
	switch word {
	case "ask":
		if !h.over && seq > 0 {
			return false
		}
		h.began, h.call, h.open, h.over = seq, 0, nil, false
		h.bodies = append(h.bodies, &conversation.TurnStart{}, &conversation.ChatRequest{Content: text})
	case "reply":
		h.bodies = append(h.bodies, &conversation.ChatRequest{Content: text, Interrupt: true})
	case "note":
		h.bodies = append(h.bodies, &conversation.Note{Content: text})
	case "say", "cut", "use":
		if len(h.open) > 0 {
			return false
		}
		h.call++
		m := &conversation.ChatResponse{Call: h.call, Part: conversation.PartMessage, Text: text}
		h.bodies = append(h.bodies, m)
		switch word {
		case "say":
			m.Finish, h.over = conversation.FinishStop, true
		case "use":
			for n := range 2 {
				h.open = append(h.open, len(h.bodies))
				h.calls++
				c := &conversation.ToolCallRequest{Call: h.call, ID: fmt.Sprint("call_", h.calls), Name: "fs_read_file", Arguments: json.RawMessage(`{"path":"a"}`)}
				if n == 1 {
					c.Finish = conversation.FinishToolCalls
				}
				h.bodies = append(h.bodies, c)
			}
		}
	case "first", "last":
		if len(h.open) == 0 || word == "last" && len(h.open) == 1 {
			return false
		}
		at := 0
		if word == "last" {
			at = len(h.open) - 1
		}
		request := h.bodies[h.open[at]].(*conversation.ToolCallRequest)
		h.bodies = append(h.bodies, &conversation.ToolCallResponse{For: h.open[at], ID: request.ID, Name: request.Name, Content: text, IsError: word == "last"})
		h.open = append(h.open[:at:at], h.open[at+1:]...)
	case "stop":
		h.bodies, h.over = append(h.bodies, &conversation.TurnStopped{By: conversation.ByUser}), true
	case "undo":
		h.bodies, h.over = append(h.bodies, &conversation.TurnDiscarded{FromSeq: h.began, ToSeq: seq - 1, By: conversation.ByUser}), true
	}
	return true
}

// said is all that the history says, in the order in which a model is sent it.
func (h *shortHistory) said() (all []said) {
	gone := map[int]bool{}
	for _, b := range h.bodies {
		if d, ok := b.(*conversation.TurnDiscarded); ok {
			for seq := d.FromSeq; seq <= d.ToSeq; seq++ {
				gone[seq] = true
			}
		}
	}
	var late []said // the parts between a call and its results, which come behind these
	for at, b := range h.bodies {
		if gone[at] {
			continue
		}
		switch b := b.(type) {
		case *conversation.ChatRequest:
			all = append(all, said{kind: importer.KindRequest, text: b.Content})
		case *conversation.ChatResponse:
			if b.Finish != "" || keeps(h.bodies[at+1:]) {
				all = append(all, said{kind: importer.KindText, text: b.Text})
			}
		case *conversation.ToolCallRequest:
			all = append(all, said{importer.KindCall, "", b.ID, b.Name, false})
			if b.Finish == "" {
				continue
			}
			for seq := at - 1; seq <= at; seq++ {
				late = append(late, result(h.bodies, seq))
			}
			all, late = append(all, late...), nil
		}
	}
	return all
}

// keeps reports whether an answer that broke off is followed by an event that keeps it, or by a call of a
// tool, which makes it whole.
func keeps(behind []conversation.Body) bool {
	for _, b := range behind {
		switch b := b.(type) {
		case *conversation.TurnStopped, *conversation.ToolCallRequest:
			return true
		case *conversation.ChatRequest:
			return b.Interrupt
		case *conversation.ChatResponse:
			return false
		}
	}
	return true
}

func result(bodies []conversation.Body, of int) said {
	for _, b := range bodies {
		if r, ok := b.(*conversation.ToolCallResponse); ok && r.For == of {
			return said{importer.KindResult, r.Content, r.ID, "", r.IsError}
		}
	}
	return said{importer.KindResult, unknownOutcome, bodies[of].(*conversation.ToolCallRequest).ID, "", true}
}

// everyShort calls visit with every history of at most some words.
func everyShort(words []string, depth int, visit func(words []string, h *shortHistory)) {
	h := &shortHistory{}
	for _, w := range words {
		if !h.add(w) {
			return
		}
	}
	if len(words) > 0 {
		visit(words, h)
	}
	if depth == 0 {
		return
	}
	for _, w := range historyWords {
		everyShort(append(words[:len(words):len(words)], w), depth-1, visit)
	}
}

// Every session is legal, and an importer reads its texts back.
func TestEveryShortSession(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name(), func(t *testing.T) {
			legal := map[string]func(testing.TB, string){"claude": legalClaude, "codex": legalCodex, "opencode": legalOpencode}[a.name()]
			histories := 0
			everyShort(nil, 5, func(words []string, h *shortHistory) {
				histories++
				_, text := sessionOf(a, sourceOf(h.bodies...), false)
				want := h.said()
				if got := readBack(t, a.name(), text); fmt.Sprint(got) != fmt.Sprint(want) {
					require.Equal(t, want, got, "%v\n%s", words, text)
				}
				legal(t, text)
				if t.Failed() {
					t.Fatalf("%v\n%s", words, text)
				}
			})
			require.Greater(t, histories, 500)
		})
	}
}

// readBack is an importer's reading of a session.
func readBack(t testing.TB, name, text string) (all []said) {
	t.Helper()
	var s importer.Session
	err := importer.FormatNamed(name).Decode(strings.NewReader(text), &s, func(r importer.Record) error {
		switch r.Kind {
		case importer.KindUsage, importer.KindStopped:
			return nil
		case importer.KindResult:
			r.Failed = r.Failed || name == "codex" && (strings.HasPrefix(r.Text, "last ") || r.Text == unknownOutcome) // it has no place for it
		}
		all = append(all, said{r.Kind, r.Text, r.CallID, r.Tool, r.Failed})
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, s.Unknown)
	require.Empty(t, s.Refused)
	if name != "opencode" {
		return all
	}
	for at := range all { // results stand with their calls, and have an order of their own
		if at > 0 && all[at-1].kind == importer.KindResult && all[at].kind == importer.KindResult && all[at-1].id > all[at].id {
			all[at-1], all[at] = all[at], all[at-1]
		}
	}
	return all
}

// legalClaude checks a Claude Code session by the rules of the API: records with one id are one answer, and
// neighbours of one role are one message.
func legalClaude(t testing.TB, text string) {
	type block struct {
		Type string
		Text string
		ID   string
		Call string `json:"tool_use_id"`
	}
	type message struct {
		role, id string
		blocks   []block
	}
	var all []message
	seen, parent := map[string]bool{}, ""
	for line := range strings.Lines(text) {
		var r struct {
			Type, UUID string
			Parent     *string `json:"parentUuid"`
			Message    struct {
				ID, Role string
				Content  []block
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Type == "custom-title" {
			continue
		}
		if seen[r.UUID] || r.Parent == nil != (parent == "") || r.Parent != nil && *r.Parent != parent || r.Type != r.Message.Role || len(r.Message.Content) == 0 {
			t.Errorf("link of %s", line)
		}
		seen[r.UUID], parent = true, r.UUID
		if n := len(all); n > 0 && all[n-1].role == r.Type && (r.Type == "user" || all[n-1].id == r.Message.ID) {
			all[n-1].blocks = append(all[n-1].blocks, r.Message.Content...)
			continue
		}
		all = append(all, message{r.Type, r.Message.ID, r.Message.Content})
	}
	ids := map[string]bool{}
	for i, m := range all {
		if (i%2 == 0) != (m.role == "user") {
			t.Errorf("message %d is the %s's", i, m.role)
		}
		var calls, results []string
		texts := false
		for _, b := range m.blocks {
			switch b.Type {
			case "tool_use":
				if ids[b.ID] {
					t.Errorf("id %s twice", b.ID)
				}
				ids[b.ID] = true
				calls = append(calls, b.ID)
			case "tool_result":
				if texts {
					t.Errorf("a text before result %s", b.Call)
				}
				results = append(results, b.Call)
			case "text":
				if texts = true; strings.TrimSpace(b.Text) == "" {
					t.Errorf("an empty text")
				}
			}
		}
		if i > 0 {
			var before []string
			for _, b := range all[i-1].blocks {
				if b.Type == "tool_use" {
					before = append(before, b.ID)
				}
			}
			if fmt.Sprint(before) != fmt.Sprint(results) {
				t.Errorf("calls %v, results %v", before, results)
			}
		}
		if len(calls) > 0 && i == len(all)-1 {
			t.Errorf("calls %v without results", calls)
		}
	}
}

// legalCodex holds the rules of the API for the items of a rollout.
func legalCodex(t testing.TB, text string) {
	open, ids, results := map[string]bool{}, map[string]bool{}, false
	listed := false
	for at, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var r struct {
			Type    string
			Payload struct {
				Type    string
				ID      string `json:"call_id"`
				Content []struct{ Text string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if (at == 0) != (r.Type == "session_meta") {
			t.Errorf("line %d is %s", at, r.Type)
		}
		listed = listed || r.Payload.Type == "user_message"
		if r.Type != "response_item" {
			continue
		}
		switch p := r.Payload; p.Type {
		case "function_call":
			if ids[p.ID] || results && len(open) > 0 {
				t.Errorf("call %s twice, or between results", p.ID)
			}
			ids[p.ID], open[p.ID], results = true, true, false
		case "function_call_output":
			if !open[p.ID] {
				t.Errorf("result %s without a call", p.ID)
			}
			delete(open, p.ID)
			results = true
		case "message":
			if len(open) > 0 {
				t.Errorf("a message before the results of %v", open)
			}
			for _, c := range p.Content {
				if strings.TrimSpace(c.Text) == "" {
					t.Errorf("an empty text")
				}
			}
		}
	}
	if len(open) > 0 || !listed {
		t.Errorf("open calls %v, listed %v", open, listed)
	}
}

// legalOpencode checks a session by the rules of opencode import, and the order in which opencode reads it
// again: messages by time and id, and parts by id.
func legalOpencode(t testing.TB, text string) {
	var d struct {
		Info struct {
			ID, Directory, ProjectID, Slug, Title, Version string
			Time                                           struct{ Created, Updated int64 }
		}
		Messages []struct {
			Info struct {
				ID, SessionID, Role, Agent, ParentID, Mode, ProviderID, ModelID string

				Model *struct{ ProviderID, ModelID string }
				Path  struct{ Cwd, Root string }
				Time  struct{ Created, Completed int64 }
			}
			Parts []struct {
				ID, SessionID, MessageID, Type, CallID, Tool string

				Text  *string
				State struct {
					Status        string
					Input         map[string]any
					Output, Title *string
					Error         *string
					Metadata      map[string]any
					Time          struct{ Start, End int64 }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	if d.Info.ID[:4] != "ses_" || d.Info.Directory == "" || d.Info.ProjectID == "" || d.Info.Slug == "" || d.Info.Title == "" || d.Info.Version == "" || d.Info.Time.Created == 0 {
		t.Errorf("session %v", d.Info)
	}
	before, at, asked, calls := "", int64(0), "", map[string]bool{}
	for _, m := range d.Messages {
		i := m.Info
		if i.ID[:4] != "msg_" || i.SessionID != d.Info.ID || i.ID <= before || i.ID >= "msg_1" || i.Time.Created < at || i.Agent == "" || len(m.Parts) == 0 {
			t.Errorf("message %v behind %s", i, before)
		}
		before, at = i.ID, i.Time.Created
		switch {
		case i.Role == "user":
			if asked = i.ID; i.Model == nil {
				t.Errorf("request %v without a model", i)
			}
		case i.Role != "assistant" || i.ParentID != asked || i.Mode == "" || i.Path.Cwd == "" || i.Path.Root == "" || i.Time.Completed < at:
			t.Errorf("answer %v", i)
		}
		part := ""
		for _, p := range m.Parts {
			if p.ID[:4] != "prt_" || p.ID <= part || p.SessionID != d.Info.ID || p.MessageID != i.ID {
				t.Errorf("part %v behind %s", p, part)
			}
			part = p.ID
			switch {
			case p.Type == "text" && p.Text != nil && strings.TrimSpace(*p.Text) != "":
			case p.Type == "tool" && i.Role == "assistant" && p.Tool != "" && !calls[p.CallID] && p.State.Input != nil && p.State.Time.End > i.Time.Completed &&
				p.State.Time.Start >= at && p.State.Metadata != nil &&
				(p.State.Status == "error" && p.State.Error != nil || p.State.Status == "completed" && p.State.Output != nil && p.State.Title != nil):
				calls[p.CallID] = true
			default:
				t.Errorf("part %v", p)
			}
		}
	}
}

func TestCompactedSession(t *testing.T) {
	s := func() *Source {
		return sourceOf(
			&conversation.TurnStart{}, &conversation.ChatRequest{Content: "First words"},
			&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "First answer", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}},
			&conversation.Compaction{Kind: conversation.CompactSummary, FromSeq: 0, ToSeq: 2, Content: "They met.", Items: []conversation.SummaryItem{{Kind: conversation.ItemAnswer, Cites: []int{2}}}},
			&conversation.TurnStart{}, &conversation.ChatRequest{Content: "Second words"},
		)
	}
	for _, a := range agents {
		n, text := sessionOf(a, s(), false)
		require.Contains(t, text, `"First answer"`)
		require.NotContains(t, text, "They met.")
		require.Contains(t, strings.Join(n.Notes, "\n"), "events up to @2 in jp. Their full text goes out.")
		whole := n.session.id
		n, text = sessionOf(a, s(), true)
		require.NotEqual(t, whole, n.session.id)
		require.NotContains(t, text, `"First answer"`)
		require.Contains(t, text, "They met.")
		require.Contains(t, text, "First words")
		require.Contains(t, strings.Join(n.Notes, "\n"), "up to @2 the summary goes out.")
	}
}

func TestClaudeFolder(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/ada/my.app_é😀":                "-home-ada-my-app----",
		"/home/ada/e\u0301":                  "-home-ada--",
		"/home/" + strings.Repeat("a/", 100): "-home-" + strings.Repeat("a-", 97) + "-9ihyl5",
		"/" + strings.Repeat("é", 220):       strings.Repeat("-", 200) + "-71f8tr",
	} {
		require.Equal(t, want, claudeFolder(dir))
	}
}

func TestASessionIsInstalledOnce(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name(), func(t *testing.T) {
			home := t.TempDir()
			getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
			n, text := sessionOf(a, manyKinds(), false)
			_, err := n.Install(getenv)
			require.ErrorContains(t, err, "cannot find the folder of "+a.name())
			require.NoError(t, os.MkdirAll(a.folder(getenv), 0o755))
			path, err := n.Install(getenv)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(path, a.folder(getenv)))
			was, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, text, string(was))

			more := append(was, "{}\n"...) // the agent went on with it
			require.NoError(t, os.WriteFile(path, more, 0o600))
			again, err := n.Install(getenv)
			require.NoError(t, err)
			require.Equal(t, path, again)
			require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o600))
			_, err = n.Install(getenv)
			require.ErrorContains(t, err, "exists and has another content")
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, "{}\n", string(is))
			want := map[string]string{"claude": "claude --resume ID", "codex": "codex resume ID", "opencode": "opencode import " + path + " && opencode --session ses_"}
			require.Contains(t, n.Resume(path), "cd /home/ada/app && "+strings.ReplaceAll(want[a.name()], "ID", n.session.id))
		})
	}
}

func TestUUID(t *testing.T) {
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	require.Regexp(t, `^01a21c3b-a280-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, uuid(at, "a"))
	require.NotEqual(t, uuid(at, "a", "b"), uuid(at, "ab"))
}
