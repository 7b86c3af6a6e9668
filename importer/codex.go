package importer

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/conversation"
)

// codex reads the rollouts of the Codex CLI: one JSON object a line, with a type and a
// payload. Early versions wrote the items themselves.
type codex struct{}

func (codex) Name() string { return "codex" }

func (codex) Folder(getenv func(string) string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return filepath.Join(dir, "sessions")
	}
	return filepath.Join(getenv("HOME"), ".codex", "sessions")
}

// Files are in folders by date, for all working trees.
func (codex) Files(folder, _ string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

type codexLine struct {
	Timestamp string
	Type      string
	Payload   json.RawMessage
	ID        string // of an early session
	State     string // of an early session
	Ordinal   int    // 0 if it has none
}

// read reads a record without its payload.
func (l *codexLine) read(line []byte) (ok bool) {
	return fields(line, func(key, value []byte) {
		switch string(key) {
		case "timestamp":
			l.Timestamp = textOf(value)
		case "type":
			l.Type = textOf(value)
		case "payload":
			l.Payload = value
		case "ordinal":
			l.Ordinal, _ = strconv.Atoi(string(value)) // another type counts as 0
		case "id":
			l.ID = textOf(value)
		case "record_type":
			l.State = textOf(value)
		}
	})
}

// A codexItem has the fields of all payloads.
type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   []codexPart     `json:"summary"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Action    json.RawMessage `json:"action"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Passed    struct {
		Parts []struct {
			Provenance struct {
				Type string `json:"type"`
			} `json:"provenance"`
		} `json:"content_item_metadata"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

type codexPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type codexUsage struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cached_input_tokens"`
	Write  int `json:"cache_write_input_tokens"`
	Output int `json:"output_tokens"`
}

// codexKept are records and events that are outside of the dialogue, or repeat it.
var codexKept = []string{
	"world_state", "compacted", "inter_agent_communication_metadata", "message/encrypted_content", "event_msg/task_started", "event_msg/task_complete", "event_msg/turn_started", "event_msg/turn_complete",
	"event_msg/thread_settings_applied", "event_msg/item_started", "event_msg/item_completed", "event_msg/user_message", "event_msg/agent_message",
	"event_msg/agent_reasoning", "event_msg/agent_reasoning_raw_content", "event_msg/agent_reasoning_section_break", "event_msg/context_compacted",
	"event_msg/exec_command_begin", "event_msg/exec_command_end", "event_msg/patch_apply_begin", "event_msg/patch_apply_end", "event_msg/web_search_end",
	"event_msg/thread_rolled_back", "event_msg/error", "event_msg/warning", "response_item/ghost_snapshot", "response_item/compaction", "response_item/web_search_call",
}

func (c codex) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	threads, err := c.Threads(file, "")
	if err != nil {
		return err
	}
	return threads[0].Decode(s, yield)
}

func (codex) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := codexDecoder{session: s, yield: yield}
	return linesOf(file).each(s, d.line)
}

type codexDecoder struct {
	session  *Session
	yield    func(Record) error
	provider string
	model    string
	called   bool              // the newest output was a tool call
	patches  map[string]string // of calls without a result, by their ids
	spawned  codexSpawns
	own      int // ordinal of the first line that is a sub-agent's own
}

func (d *codexDecoder) line(line []byte) error {
	s := d.session
	var l codexLine
	if !l.read(line) {
		count(&s.Refused, refusedJSON)
		return nil
	}
	at := parseTime(l.Timestamp)
	if s.Started.IsZero() {
		s.Started = at
	}
	payload := l.Payload
	switch {
	case l.Ordinal > 0 && l.Ordinal < d.own:
		count(&s.LeftOut, "of its parent")
		return nil
	case len(payload) > 0:
	case l.State != "":
		count(&s.LeftOut, "state")
		return nil
	case l.Type == "" && l.ID != "":
		l.Type, payload = "session_meta", line
	default:
		l.Type, payload = "response_item", line
	}
	switch l.Type {
	case "session_meta", "turn_context":
		return d.context(l.Type, payload)
	case "token_usage_record":
		var r struct {
			Usage *codexUsage `json:"usage"`
		}
		if json.Unmarshal(payload, &r) == nil {
			return d.usage(r.Usage)
		}
	case "event_msg":
		if fields(payload, func(_, _ []byte) {}) {
			return d.event(textOf(fieldOf(payload, "type")), at, payload)
		}
	case "response_item":
		var item codexItem
		if json.Unmarshal(payload, &item) == nil {
			return d.item(item, at)
		}
	default:
		d.miss(l.Type)
		return nil
	}
	count(&s.Refused, refusedJSON)
	return nil
}

func (d *codexDecoder) miss(words ...string) {
	if name := kindName(words...); slices.Contains(codexKept, name) {
		count(&d.session.LeftOut, name)
	} else {
		count(&d.session.Unknown, name)
	}
}

// context reads which session it is, and the model.
func (d *codexDecoder) context(kind string, payload json.RawMessage) error {
	s := d.session
	var c struct {
		ID       string          `json:"id"`
		Dir      string          `json:"cwd"`
		Provider string          `json:"model_provider"`
		Model    string          `json:"model"`
		Own      int             `json:"subagent_history_start_ordinal"`
		Source   json.RawMessage `json:"source"`
		Git      struct {
			Commit string `json:"commit_hash"`
		} `json:"git"`
	}
	if json.Unmarshal(payload, &c) != nil {
		count(&s.Refused, refusedJSON)
		return nil
	}
	if kind == "session_meta" && s.ID != "" && c.ID != s.ID {
		count(&s.LeftOut, "session_meta of another session")
		return nil
	}
	if kind == "session_meta" {
		s.ID, s.Commit, s.parent, d.own = c.ID, c.Git.Commit, codexParent(c.Source), c.Own
	}
	if s.Dir == "" {
		s.Dir = c.Dir
	}
	if c.Provider != "" {
		d.provider = c.Provider
	}
	if c.Model != "" {
		d.model = c.Model
	}
	count(&s.LeftOut, kind)
	return nil
}

// codexParent is the thread that spawned a sub-agent, by its source.
func codexParent(source json.RawMessage) string {
	var of struct {
		Sub struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	_ = json.Unmarshal(source, &of) // a word is another source
	return of.Sub.Spawn.Parent
}

func (d *codexDecoder) usage(u *codexUsage) error {
	if u == nil || min(u.Input, u.Cached, u.Write, u.Output) < 0 {
		return nil
	}
	return d.yield(Record{Kind: KindUsage, Usage: &conversation.Usage{Input: u.Input, Output: u.Output, CacheRead: u.Cached, CacheWrite: u.Write}})
}

func (d *codexDecoder) event(kind string, at time.Time, payload json.RawMessage) error {
	switch kind {
	case "turn_aborted":
		return d.yield(Record{Kind: KindStopped, At: at})
	case "item_completed": // of a program, also of those that a call of the tool exec ran within itself
		var e struct {
			Item struct{ ID, Type string }
		}
		d.miss("event_msg", kind)
		if json.Unmarshal(payload, &e) != nil || slices.Contains([]string{"", "UserMessage", "AgentMessage", "Reasoning"}, e.Item.Type) {
			return nil
		}
		return d.yield(Record{Kind: KindEnded, CallID: e.Item.ID, At: at})
	case "token_count":
		var c struct {
			Info *struct {
				Last *codexUsage `json:"last_token_usage"`
			} `json:"info"`
		}
		if json.Unmarshal(payload, &c) == nil && c.Info != nil {
			return d.usage(c.Info.Last)
		}
		return nil
	}
	d.miss("event_msg", kind)
	return nil
}

// codexOpen begins the output of a call whose program goes on.
var codexOpen = regexp.MustCompile(`^(?:Chunk ID: .*\n)?Wall time: .*\nProcess running with session ID `)

// item yields the records of an item that was sent to the model, or came from it.
func (d *codexDecoder) item(i codexItem, at time.Time) error {
	rec := Record{At: at}
	if d.model != "" {
		rec.Model = d.model
		if provider := d.provider; provider != "" {
			rec.Model = provider + "/" + d.model
		} else {
			rec.Model = "openai/" + d.model
		}
	}
	switch i.Type {
	case "message":
		text := d.texts(i.Content)
		switch {
		case i.Role == "assistant":
			rec.Kind, rec.Text, rec.Fresh = KindText, text, d.called
		case i.Role == "user" && !codexContext(i, text):
			rec.Kind, rec.Text = KindRequest, text
		default:
			count(&d.session.LeftOut, "words of the agent")
			return nil
		}
	case "agent_message":
		const task = "Message Type: NEW_TASK"
		if rec.Kind, rec.Text = KindRequest, d.texts(i.Content); !strings.HasPrefix(rec.Text, task) {
			count(&d.session.LeftOut, "words of the agent")
			return nil
		}
	case "reasoning":
		if rec.Kind, rec.Text = KindReasoning, d.texts(i.Content); rec.Text == "" {
			rec.Text = codexText(i.Summary)
		}
		if rec.Text == "" {
			count(&d.session.LeftOut, "encrypted reasoning")
			return nil
		}
	case "function_call":
		rec.Kind, rec.CallID, rec.Tool, rec.Arguments, rec.Child = KindCall, i.CallID, i.Name, i.Arguments, d.spawned[i.CallID]
	case "custom_tool_call":
		input, _ := json.Marshal(map[string]string{"input": i.Input})
		rec.Kind, rec.CallID, rec.Tool, rec.Arguments = KindCall, i.CallID, i.Name, string(input)
		d.patch(i.Name, i.CallID, i.Input)
	case "local_shell_call":
		rec.Kind, rec.CallID, rec.Tool, rec.Arguments = KindCall, i.CallID, "local_shell", string(i.Action)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		rec.Kind, rec.CallID = KindResult, i.CallID
		rec.Text, rec.Failed = d.output(i.Output)
		if patch, is := d.patches[i.CallID]; is && !rec.Failed && strings.Contains(rec.Text, "Success. Updated the following files") {
			rec.Edits = patchEdits(patch)
		}
		delete(d.patches, i.CallID)
		if codexOpen.MatchString(rec.Text) {
			if err := d.yield(Record{Kind: KindOpen, CallID: i.CallID}); err != nil {
				return err
			}
		}
	default:
		d.miss("response_item", i.Type)
		return nil
	}
	d.called = rec.Kind == KindCall
	return d.yield(rec)
}

// patch keeps the patch of a call until its result confirms it.
func (d *codexDecoder) patch(tool, call, patch string) {
	const most = 64
	if tool != "apply_patch" || len(d.patches) >= most {
		return
	}
	if d.patches == nil {
		d.patches = map[string]string{}
	}
	d.patches[call] = patch
}

// patchEdits reads a patch as apply_patch takes it.
func patchEdits(patch string) (edits []Edit) {
	var e *Edit
	var was, is []string
	hunk := func() {
		if e != nil && len(was)+len(is) > 0 {
			e.Replaced = append(e.Replaced, Replacement{Old: strings.Join(was, ""), New: strings.Join(is, "")})
		}
		was, is = nil, nil
	}
	end := func() {
		hunk()
		if e != nil {
			edits = append(edits, *e)
		}
		e = nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		header := func(begin string) (string, bool) { return strings.CutPrefix(line, begin) }
		if path, is := header("*** Add File: "); is {
			end()
			e = &Edit{Path: path, Created: true, After: new(string)}
			continue
		}
		if path, is := header("*** Update File: "); is {
			end()
			e = &Edit{Path: path, Lines: true}
			continue
		}
		if path, is := header("*** Delete File: "); is {
			end()
			e = &Edit{Path: path, Removed: true}
			continue
		}
		switch {
		case e == nil:
		case strings.HasPrefix(line, "*** Move to: "):
			e.From, e.Path = e.Path, strings.TrimPrefix(line, "*** Move to: ")
		case strings.HasPrefix(line, "*** End"):
			hunk()
		case strings.HasPrefix(line, "@@"):
			hunk()
		case e.After != nil && strings.HasPrefix(line, "+"):
			*e.After += line[1:] + "\n"
		case strings.HasPrefix(line, "+"):
			is = append(is, line[1:]+"\n")
		case strings.HasPrefix(line, "-"):
			was = append(was, line[1:]+"\n")
		default:
			line = strings.TrimPrefix(line, " ") + "\n"
			was, is = append(was, line), append(is, line)
		}
	}
	end()
	return edits
}

// output is the result of a tool: a text, parts, or an object around one of both.
func (d *codexDecoder) output(value json.RawMessage) (text string, failed bool) {
	var object struct {
		Content json.RawMessage `json:"content"`
		Success *bool           `json:"success"`
	}
	if len(value) > 0 && value[0] == '{' && json.Unmarshal(value, &object) == nil {
		return d.texts(object.Content), object.Success != nil && !*object.Success
	}
	return d.texts(value), false
}

// texts are the texts of a content: one text, or a list of parts.
func (d *codexDecoder) texts(content json.RawMessage) string {
	if len(content) == 0 || string(content) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []codexPart
	if json.Unmarshal(content, &parts) != nil {
		d.miss("content of a message")
		return ""
	}
	for _, p := range parts {
		switch p.Type {
		case "input_text", "output_text", "text", "reasoning_text", "summary_text":
		case "input_image":
			count(&d.session.LeftOut, "image")
		default:
			d.miss("message", p.Type)
		}
	}
	return codexText(parts)
}

func codexText(parts []codexPart) string {
	var texts []string
	for _, p := range parts {
		if strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// codexContext reports whether the agent itself wrote a message in the user's role. Later
// versions say so, earlier ones are known by how the texts begin.
func codexContext(i codexItem, text string) bool {
	for _, p := range i.Passed.Parts {
		if kind := p.Provenance.Type; kind != "" {
			return kind != "user"
		}
	}
	for _, begin := range []string{"<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions for ", "<permissions instructions>", "<skill>"} {
		if strings.HasPrefix(strings.TrimSpace(text), begin) {
			return true
		}
	}
	return false
}
