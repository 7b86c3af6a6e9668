package importer

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
)

// claude reads the sessions of Claude Code: one JSON object a line, joined to a tree by
// parentUuid. The branch that ends in the newest message is the session.
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

// claudeLinks is what joins the records of a session.
type claudeLinks struct {
	UUID        string `json:"uuid"`
	Parent      string `json:"parentUuid"`
	Logical     string `json:"logicalParentUuid"` // of a compaction, which begins a new tree
	Type        string `json:"type"`
	IsSidechain bool   `json:"isSidechain"`
}

// claudeLinksOf reads the links of a record without the rest of it.
func claudeLinksOf(line []byte) (l claudeLinks) {
	text := func(value []byte) (text string) {
		_ = json.Unmarshal(value, &text) // another type is none
		return text
	}
	members(line, func(key, value []byte) {
		switch string(key) {
		case "uuid":
			l.UUID = text(value)
		case "parentUuid":
			l.Parent = text(value)
		case "logicalParentUuid":
			l.Logical = text(value)
		case "type":
			l.Type = text(value)
		case "isSidechain":
			l.IsSidechain = value[0] == 't'
		}
	})
	return l
}

// A claudeLine is one record of a session.
type claudeLine struct {
	claudeLinks
	Timestamp string `json:"timestamp"`
	Session   string `json:"sessionId"`
	Agent     string `json:"agentId"`
	Dir       string `json:"cwd"`
	IsMeta    bool   `json:"isMeta"`
	IsSummary bool   `json:"isCompactSummary"`
	IsFailure bool   `json:"isApiErrorMessage"`
	Message   struct {
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
	} `json:"message"`
}

// A claudeBlock is a part of a message.
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

// claudeKept are records that say nothing of the dialogue.
var claudeKept = []string{
	"summary", "attachment", "queue-operation", "last-prompt", "mode", "progress", "file-history-snapshot", "file-history-delta", "system", "ai-title",
	"custom-title", "permission-mode", "pr-link", "agent-name", "started", "result", "worktree-state", "fork-context-ref",
}

var claudeFinishes = map[string]conversation.Finish{
	"end_turn": conversation.FinishStop, "stop_sequence": conversation.FinishStop, "tool_use": conversation.FinishToolCalls,
	"max_tokens": conversation.FinishLength, "refusal": conversation.FinishRefusal, "pause_turn": conversation.FinishPause,
	"model_context_window_exceeded": conversation.FinishContext,
}

// Decode reads the file twice: which branch is the session can be told at its end.
func (claude) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	tree, err := readClaudeTree(file)
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	d := claudeDecoder{session: s, tree: tree, yield: yield}
	return linesOf(file).each(s, d.line)
}

// Begin reads the file once, as if it had no branches.
func (claude) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := claudeDecoder{session: s, tree: newClaudeTree(), yield: yield}
	return linesOf(file).each(s, d.line)
}

type claudeDecoder struct {
	session *Session
	tree    *claudeTree
	yield   func(Record) error
	answer  string // id of the newest answer
	begun   bool
	side    bool // it is the session of a sub-agent
}

func (d *claudeDecoder) line(line []byte) error {
	s := d.session
	var l claudeLine
	if json.Unmarshal(line, &l) != nil {
		count(&s.Refused, refusedJSON)
		return nil
	}
	if l.UUID != "" && d.tree.repeated(l.UUID) {
		count(&s.Refused, refusedDuplicate)
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
	branched := d.tree.branchedOff(l.claudeLinks, prompt != "")
	switch {
	case !message && slices.Contains(claudeKept, l.Type):
		count(&s.LeftOut, kindName(l.Type))
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
		if s.ID = l.Session; l.IsSidechain && l.Agent != "" {
			s.ID = l.Agent
		}
	}
	if s.Dir == "" {
		s.Dir = l.Dir
	}
	switch {
	case branched:
		count(&s.LeftOut, "of another branch")
		return nil
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
			if err := d.yield(Record{Kind: KindResult, At: at, CallID: b.CallID, Text: d.resultText(b.Content), Failed: b.IsError}); err != nil {
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

// miss counts a part of a message that has no place in an event.
func (d *claudeDecoder) miss(kind string) {
	switch kind {
	case "image", "document", "redacted_thinking":
		count(&d.session.LeftOut, kindName(kind))
	default:
		count(&d.session.Unknown, kindName("message", kind))
	}
}

// resultText is what a tool returned: a text, or parts of which some are texts.
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

// claudePrompt is what the user said in a record, "" where the agent wrote it.
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

// A claudeID stands for the id of a record, which a file may make as long as it likes.
type claudeID [16]byte

func claudeIDOf(uuid string) claudeID {
	sum := sha256.Sum256([]byte(uuid))
	return claudeID(sum[:])
}

// maxLinks bounds the memory that the links of a session take. Records behind it count as
// parts of the session.
const maxLinks = 1 << 20

// A claudeTree says which records are on the branch that ends in the newest message.
// Parallel results hang beside that branch and belong to it. What is left out begins with a
// request that turns off from it.
type claudeTree struct {
	parents  map[claudeID]claudeID
	path     map[claudeID]bool
	reaches  map[claudeID]bool // whether a record's ancestors lead to the path
	branched map[claudeID]bool // records of other branches
	seen     map[claudeID]bool
}

func newClaudeTree() *claudeTree {
	return &claudeTree{
		parents: map[claudeID]claudeID{}, path: map[claudeID]bool{}, reaches: map[claudeID]bool{}, branched: map[claudeID]bool{}, seen: map[claudeID]bool{},
	}
}

func readClaudeTree(file io.Reader) (*claudeTree, error) {
	t := newClaudeTree()
	var leaf claudeID
	any, side := false, false
	err := linesOf(file).each(new(Session), func(line []byte) error {
		l := claudeLinksOf(line)
		message := l.Type == "user" || l.Type == "assistant"
		if message && !any {
			any, side = true, l.IsSidechain
		}
		if l.UUID == "" || len(t.parents) >= maxLinks {
			return nil
		}
		id := claudeIDOf(l.UUID)
		if _, known := t.parents[id]; known {
			return nil
		}
		parent := leaf // a new beginning follows the newest message
		switch {
		case l.Parent != "":
			parent = claudeIDOf(l.Parent)
		case l.Logical != "":
			parent = claudeIDOf(l.Logical)
		}
		t.parents[id] = parent
		if message && l.IsSidechain == side {
			leaf = id
		}
		return nil
	})
	for id := leaf; id != (claudeID{}) && !t.path[id]; id = t.parents[id] {
		t.path[id] = true
	}
	return t, err
}

// repeated reports whether a record's id came before.
func (t *claudeTree) repeated(uuid string) bool {
	id := claudeIDOf(uuid)
	if t.seen[id] {
		return true
	}
	if len(t.seen) < maxLinks {
		t.seen[id] = true
	}
	return false
}

// branchedOff reports whether a record belongs to another branch. Records are asked about
// in their order.
func (t *claudeTree) branchedOff(l claudeLinks, request bool) bool {
	if l.UUID == "" || l.Parent == "" {
		return false
	}
	id, parent := claudeIDOf(l.UUID), claudeIDOf(l.Parent)
	if t.path[id] {
		return false
	}
	off := t.branched[parent] || request && t.leadsToPath(parent)
	if off {
		t.branched[id] = true
	}
	return off
}

// leadsToPath reports whether a record or one of its ancestors is on the path.
func (t *claudeTree) leadsToPath(id claudeID) bool {
	var walked []claudeID
	answer := false
	for ; id != (claudeID{}); id = t.parents[id] {
		if t.path[id] {
			answer = true
			break
		}
		if known, ok := t.reaches[id]; ok {
			answer = known
			break
		}
		t.reaches[id] = false // a cycle leads nowhere
		walked = append(walked, id)
	}
	for _, w := range walked {
		t.reaches[w] = answer
	}
	return answer
}
