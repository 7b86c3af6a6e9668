package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"jp/conversation"
)

// claude reads the sessions of Claude Code: one JSON object a line, joined to a tree by
// parentUuid.
type claude struct{}

func (claude) Name() string { return "claude" }

func (claude) Folder(getenv func(string) string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "projects")
	}
	return filepath.Join(getenv("HOME"), ".claude", "projects")
}

// Files are in one folder for each working directory, which is named after the path with
// each other character replaced. Those of folders below the tree begin alike.
func (claude) Files(folder, tree string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tree)
	const kept = 200 // of longer paths the folder's name has a hash
	slug = slug[:min(len(slug), kept)]
	var files []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), slug) {
			continue
		}
		sessions, err := os.ReadDir(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, s := range sessions {
			if s.Type().IsRegular() && strings.HasSuffix(s.Name(), ".jsonl") {
				files = append(files, filepath.Join(folder, e.Name(), s.Name()))
			}
		}
	}
	return files, nil
}

// claudeLinks join the records of a session.
type claudeLinks struct {
	UUID        string `json:"uuid"`
	Parent      string `json:"parentUuid"`
	Logical     string `json:"logicalParentUuid"` // of a compaction, which begins a new tree
	Type        string `json:"type"`
	IsSidechain bool   `json:"isSidechain"`
	Agent       string `json:"agentId"`
	Timestamp   string `json:"timestamp"`
	IsFailure   bool   `json:"isApiErrorMessage"`
}

func (l *claudeLinks) take(key, value []byte) {
	switch string(key) {
	case "uuid":
		l.UUID = textOf(value)
	case "parentUuid":
		l.Parent = textOf(value)
	case "logicalParentUuid":
		l.Logical = textOf(value)
	case "type":
		l.Type = textOf(value)
	case "agentId":
		l.Agent = textOf(value)
	case "timestamp":
		l.Timestamp = textOf(value)
	case "isSidechain":
		l.IsSidechain = value[0] == 't'
	case "isApiErrorMessage":
		l.IsFailure = value[0] == 't'
	}
}

type claudeLine struct {
	claudeLinks
	Session   string
	Dir       string
	IsMeta    bool
	IsSummary bool
	Result    []byte // effects of a tool, beside its result
	Message   claudeMessage
}

type claudeMessage struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// read reads a record. Of its large parts it reads only the needed ones.
func (l *claudeLine) read(line []byte) (ok bool) {
	var message []byte
	ok = fields(line, func(key, value []byte) {
		switch string(key) {
		case "sessionId":
			l.Session = textOf(value)
		case "cwd":
			l.Dir = textOf(value)
		case "isMeta":
			l.IsMeta = value[0] == 't'
		case "isCompactSummary":
			l.IsSummary = value[0] == 't'
		case "toolUseResult":
			l.Result = value
		case "message":
			message = value
		default:
			l.take(key, value)
		}
	})
	if !ok || l.Type != "user" && l.Type != "assistant" {
		return ok
	}
	return len(message) == 0 || l.Message.read(message)
}

func (m *claudeMessage) read(message []byte) (ok bool) {
	var usage []byte
	if string(message) == "null" {
		return true
	}
	ok = fields(message, func(key, value []byte) {
		switch string(key) {
		case "id":
			m.ID = textOf(value)
		case "model":
			m.Model = textOf(value)
		case "stop_reason":
			m.StopReason = textOf(value)
		case "content":
			m.Content = value
		case "usage":
			usage = value
		}
	})
	if len(usage) > 0 && json.Unmarshal(usage, &m.Usage) != nil {
		m.Usage = nil
	}
	return ok
}

type claudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	CallID   string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// claudeKept are records outside of the dialogue.
var claudeKept = []string{
	"summary", "attachment", "queue-operation", "last-prompt", "mode", "progress", "file-history-snapshot", "file-history-delta", "system", "ai-title",
	"custom-title", "permission-mode", "pr-link", "agent-name", "started", "result", "worktree-state", "fork-context-ref",
}

// backgroundEnd is the notice that a program in the background has ended, with the call that started it.
var backgroundEnd = regexp.MustCompile(`^\{"type":"queue-operation","operation":"enqueue",.*<task-notification>.*<tool-use-id>([A-Za-z0-9_-]+)</tool-use-id>`)

var claudeFinishes = map[string]conversation.Finish{
	"end_turn": conversation.FinishStop, "stop_sequence": conversation.FinishStop, "tool_use": conversation.FinishToolCalls,
	"max_tokens": conversation.FinishLength, "refusal": conversation.FinishRefusal, "pause_turn": conversation.FinishPause,
	"model_context_window_exceeded": conversation.FinishContext,
}

// Decode gives the session itself, without its branches and sub-agents.
func (f claude) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	threads, err := f.Threads(file, "")
	if err != nil {
		return err
	}
	return threads[0].Decode(s, yield)
}

// Begin reads the file once, ignoring branches.
func (claude) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := claudeDecoder{session: s, yield: yield}
	return linesOf(file).each(s, d.line)
}

type claudeDecoder struct {
	session *Session
	yield   func(Record) error
	answer  string // id of the newest answer
	begun   bool
	side    bool                       // it is the session of a sub-agent
	agents  func(prompt string) string // the thread that works on a call, or ""
	calls   map[string]string          // the same, by the ids of calls
}

func (d *claudeDecoder) line(line []byte) error {
	s := d.session
	var l claudeLine
	if !l.read(line) {
		count(&s.Refused, refusedJSON)
		return nil
	}
	prompt := ""
	message := l.Type == "user" || l.Type == "assistant"
	var blocks []claudeBlock
	if message {
		var ok bool
		if blocks, ok = claudeBlocks(l.Message.Content); !ok {
			count(&s.Refused, refusedJSON)
			return nil
		}
		if l.Type == "user" && !l.IsMeta && !l.IsSummary {
			prompt = claudePrompt(blocks)
		}
	}
	if message && !d.begun {
		d.begun, d.side = true, l.IsSidechain
	}
	switch {
	case !message && slices.Contains(claudeKept, l.Type):
		count(&s.LeftOut, kindName(l.Type))
		if call := backgroundEnd.FindSubmatch(line); call != nil {
			return d.yield(Record{Kind: KindEnded, CallID: string(call[1]), At: parseTime(l.Timestamp)})
		}
		return nil
	case !message:
		count(&s.Unknown, kindName(l.Type))
		return nil
	case l.IsSidechain != d.side:
		count(&s.LeftOut, "of a sub-agent")
		return nil
	}
	at := parseTime(l.Timestamp)
	if s.Started.IsZero() {
		s.Started = at
	}
	if s.ID == "" {
		if s.ID = l.Session; l.IsSidechain {
			s.ID = l.Agent // without one, its file names it: the session is that of its parent
		}
	}
	if s.Dir == "" {
		s.Dir = l.Dir
	}
	switch {
	case l.IsSummary:
		count(&s.LeftOut, "summary of a compaction")
		return nil
	case l.IsMeta:
		count(&s.LeftOut, "words of the agent")
		return nil
	case l.IsFailure:
		count(&s.LeftOut, "error of the provider")
		return nil
	case l.Type == "user":
		return d.user(l, blocks, prompt)
	}
	return d.assistant(l, blocks)
}

// user gives a user's record: results of tools, and then words.
func (d *claudeDecoder) user(l claudeLine, blocks []claudeBlock, prompt string) error {
	at := parseTime(l.Timestamp)
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			rec := Record{Kind: KindResult, At: at, CallID: b.CallID, Text: d.resultText(b.Content), Failed: b.IsError}
			if !rec.Failed {
				rec.Edits, rec.Child = claudeDone(l.Result)
			}
			l.Result = nil
			if err := d.yield(rec); err != nil {
				return err
			}
		case "text":
		default:
			d.miss(b.Type)
		}
	}
	text := claudeText(blocks)
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "[Request interrupted by user"):
		return d.yield(Record{Kind: KindStopped, At: at})
	case prompt == "":
		count(&d.session.LeftOut, "words of the agent")
		return nil
	}
	return d.yield(Record{Kind: KindRequest, At: at, Text: prompt})
}

func (d *claudeDecoder) assistant(l claudeLine, blocks []claudeBlock) error {
	rec := Record{At: parseTime(l.Timestamp), Finish: claudeFinishes[l.Message.StopReason]}
	if model := l.Message.Model; model != "" && model != "<synthetic>" {
		rec.Model = "anthropic/" + model
	}
	if u := l.Message.Usage; u != nil && min(u.Input, u.Output, u.CacheRead, u.CacheWrite) >= 0 {
		rec.Usage = &conversation.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	}
	rec.Fresh = l.Message.ID == "" || l.Message.ID != d.answer
	d.answer = l.Message.ID
	for _, b := range blocks {
		part := rec
		switch b.Type {
		case "text":
			part.Kind, part.Text = KindText, b.Text
		case "thinking":
			part.Kind, part.Text = KindReasoning, b.Thinking
		case "tool_use":
			part.Kind, part.CallID, part.Tool, part.Arguments = KindCall, b.ID, b.Name, string(b.Input)
			if part.Child = d.calls[b.ID]; part.Child == "" && d.agents != nil && (b.Name == "Task" || b.Name == "Agent") {
				var task struct {
					Prompt string `json:"prompt"`
				}
				_ = json.Unmarshal(b.Input, &task) // for other tools it stays empty
				part.Child = d.agents(task.Prompt)
			}
		default:
			d.miss(b.Type)
			continue
		}
		if err := d.yield(part); err != nil {
			return err
		}
		rec.Fresh = false
	}
	return nil
}

// claudeDone is the edits of a tool, and the sub-agent that worked on its call, as the agent recorded them
// beside the result.
func claudeDone(result []byte) (edits []Edit, agent string) {
	if len(result) == 0 || result[0] != '{' || !bytes.Contains(result, []byte(`"filePath"`)) && !bytes.Contains(result, []byte(`"agentId"`)) {
		return nil, ""
	}
	var r struct {
		Agent     string  `json:"agentId"`
		Kind      string  `json:"type"`
		Path      string  `json:"filePath"`
		Content   *string `json:"content"`
		Original  *string `json:"originalFile"`
		Originals *string `json:"originalFileContents"`
		Old       *string `json:"oldString"`
		New       string  `json:"newString"`
		All       bool    `json:"replaceAll"`
		Edits     []struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
			All bool   `json:"replace_all"`
		} `json:"edits"`
	}
	if json.Unmarshal(result, &r) != nil {
		var named struct {
			Agent string `json:"agentId"`
		}
		_ = json.Unmarshal(result, &named) // a sub-agent's result has content of another type
		return nil, named.Agent
	}
	e := Edit{Path: r.Path, Before: r.Original}
	if e.Before == nil {
		e.Before = r.Originals
	}
	switch {
	case r.Path == "":
		return nil, r.Agent
	case r.Content != nil && (r.Kind == "create" || r.Kind == "update"):
		e.After, e.Created = r.Content, r.Kind == "create"
	case r.Old != nil:
		e.Replaced = []Replacement{{*r.Old, r.New, r.All}}
	case len(r.Edits) > 0:
		for _, edit := range r.Edits {
			e.Replaced = append(e.Replaced, Replacement{edit.Old, edit.New, edit.All})
		}
	default:
		return nil, r.Agent
	}
	return []Edit{e}, r.Agent
}

// miss counts a part of a message that events cannot hold.
func (d *claudeDecoder) miss(kind string) {
	switch kind {
	case "image", "document", "redacted_thinking":
		count(&d.session.LeftOut, kindName(kind))
	default:
		count(&d.session.Unknown, kindName("message", kind))
	}
}

// resultText is the result of a tool: a text, or parts of which some are texts.
func (d *claudeDecoder) resultText(content json.RawMessage) string {
	blocks, ok := claudeBlocks(content)
	if !ok {
		d.miss("content of a result")
		return ""
	}
	for _, b := range blocks {
		if b.Type != "text" {
			d.miss(b.Type)
		}
	}
	return claudeText(blocks)
}

// claudeBlocks reads a message's content: a text, or a list of parts.
func claudeBlocks(content json.RawMessage) (blocks []claudeBlock, ok bool) {
	if len(content) == 0 || string(content) == "null" {
		return nil, true
	}
	if content[0] == '"' {
		var text string
		if json.Unmarshal(content, &text) != nil {
			return nil, false
		}
		return []claudeBlock{{Type: "text", Text: text}}, true
	}
	return blocks, json.Unmarshal(content, &blocks) == nil
}

func claudeText(blocks []claudeBlock) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// claudePrompt is the user's words in a record, "" if the agent wrote it.
func claudePrompt(blocks []claudeBlock) string {
	text := claudeText(blocks)
	for _, begin := range []string{
		"[Request interrupted by user", "<command-name>", "<command-message>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>",
		"<system-reminder>",
	} {
		if strings.HasPrefix(text, begin) {
			return ""
		}
	}
	return text
}
