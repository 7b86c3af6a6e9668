package export

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"jp/conversation"
	"jp/provider"
	"jp/provider/anthropic"
)

// claude writes sessions of Claude Code: one JSON object a line, each the child of the one
// before. As in the agent's own files, each block of an answer has a line, and so has each
// result.
type claude struct{}

func (claude) name() string { return "claude" }

// target is Anthropic, and the newest model of it: only that reads its own reasoning.
func (claude) target(events []*conversation.Event) provider.Target {
	t := provider.Target{API: anthropic.API, Endpoint: "https://api.anthropic.com", NoState: true}
	for _, e := range events {
		if model := claudeModel(e.Model); model != synthetic && e.Role() == conversation.RoleAssistant {
			t.Model, t.NoState = model, false
		}
	}
	return t
}

// synthetic stands for a model that Claude Code does not know.
const synthetic = "<synthetic>"

func claudeModel(model string) string {
	if name, ok := strings.CutPrefix(model, "anthropic/"); ok {
		return name
	}
	return synthetic
}

func (claude) folder(getenv func(string) string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".claude")
}

func (claude) file(s *session) string {
	return filepath.Join("projects", claudeFolder(s.dir), s.id+".jsonl")
}

// claudeFolder is the name of the folder with the sessions of a working directory: the path with a dash for
// each other character, cut if it is long, with a hash.
func claudeFolder(dir string) string {
	const most = 200
	units := utf16.Encode([]rune(norm.NFC.String(dir))) // as JavaScript counts characters
	name := make([]byte, len(units))
	hash := int32(0)
	for i, u := range units {
		hash = hash<<5 - hash + int32(u)
		name[i] = '-'
		if u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z' {
			name[i] = byte(u)
		}
	}
	if len(name) <= most {
		return string(name)
	}
	return string(name[:most]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

func (claude) resume(s *session, _ string) [][]string {
	return [][]string{{"claude", "--resume", s.id}}
}

// A claudeRecord is a line of a session.
type claudeRecord struct {
	Parent    *string       `json:"parentUuid"`
	Sidechain bool          `json:"isSidechain"`
	Type      string        `json:"type"`
	Meta      bool          `json:"isMeta,omitempty"`
	Message   claudeMessage `json:"message"`
	UUID      string        `json:"uuid"`
	Timestamp string        `json:"timestamp"`
	UserType  string        `json:"userType"`
	Entry     string        `json:"entrypoint"`
	Dir       string        `json:"cwd"`
	Session   string        `json:"sessionId"`
	Branch    string        `json:"gitBranch,omitempty"`
}

type claudeMessage struct {
	ID         string       `json:"id,omitempty"`
	Type       string       `json:"type,omitempty"`
	Role       string       `json:"role"`
	Model      string       `json:"model,omitempty"`
	Content    []any        `json:"content"`
	StopReason string       `json:"stop_reason,omitempty"`
	Usage      *claudeUsage `json:"usage,omitempty"`
}

type claudeUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type claudeText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type claudeImage struct {
	Type   string `json:"type"`
	Source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

type claudeCall struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type claudeResult struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content []any  `json:"content"`
	IsError bool   `json:"is_error"`
}

var claudeStops = map[conversation.Finish]string{
	conversation.FinishToolCalls: "tool_use", conversation.FinishLength: "max_tokens", conversation.FinishRefusal: "refusal",
	conversation.FinishPause: "pause_turn", conversation.FinishContext: "model_context_window_exceeded",
}

func (claude) write(out *bufio.Writer, s *session) error {
	w := lineWriter{out: out}
	if s.title != "" {
		w.line(struct {
			Type    string `json:"type"`
			Title   string `json:"customTitle"`
			Session string `json:"sessionId"`
		}{"custom-title", s.title, s.id})
	}
	var parent *string
	for i := 0; i < len(s.steps); {
		group := s.group(i)
		x := group[0]
		r := claudeRecord{
			Parent: parent, Type: "user", Meta: x.own, UUID: uuid(x.at, s.id, strconv.Itoa(i)), Timestamp: stamp(x.at), UserType: "external", Entry: "cli",
			Dir: s.dir, Session: s.id, Branch: s.place.Branch, Message: claudeMessage{Role: "user"},
		}
		switch x.role {
		case conversation.RoleAssistant:
			r.Type = "assistant"
			m := claudeMessage{ID: "msg_" + x.answer, Type: "message", Role: "assistant", Model: claudeModel(x.model), StopReason: or(claudeStops[x.end.Finish], "end_turn")}
			if u := x.end.Usage; u != nil {
				m.Usage = &claudeUsage{u.Input - u.CacheRead - u.CacheWrite, u.CacheWrite, u.CacheRead, u.Output}
			}
			switch x.Kind {
			case provider.BlockReasoning:
				m.Content = []any{x.Item}
			case provider.BlockToolCall:
				m.Content = []any{claudeCall{"tool_use", x.ID, x.Name, x.Arguments}}
			default:
				m.Content = []any{claudeText{"text", x.Text}}
			}
			r.Message = m
		case conversation.RoleTool:
			result := claudeResult{Type: "tool_result", ID: x.ID, IsError: x.IsError}
			for _, b := range group {
				result.Content = append(result.Content, claudeContent(b.Block))
			}
			r.Message.Content = []any{result}
		default:
			for _, b := range group {
				r.Message.Content = append(r.Message.Content, claudeContent(b.Block))
			}
		}
		w.line(r)
		parent = &r.UUID
		i += len(group)
	}
	return w.err
}

// claudeContent is the user's text or attachment, or a tool's result.
func claudeContent(b provider.Block) any {
	switch {
	case b.Kind != provider.BlockFile:
		return claudeText{"text", b.Text}
	case isPicture(b):
		i := claudeImage{Type: "image"}
		i.Source.Type, i.Source.MediaType, i.Source.Data = "base64", b.Media(), base64.StdEncoding.EncodeToString(b.Data)
		return i
	}
	return claudeText{"text", b.InWords()}
}

// A lineWriter writes a JSON object a line, and keeps its first error.
type lineWriter struct {
	out *bufio.Writer
	err error
}

func (w *lineWriter) line(value any) {
	if w.err != nil {
		return
	}
	e := json.NewEncoder(w.out)
	e.SetEscapeHTML(false)
	w.err = e.Encode(value)
}
