package export

import (
	"bufio"
	"encoding/base64"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/provider"
)

// codex writes rollouts of the Codex CLI: one JSON object a line, with a type and a payload. The items go
// to the model, and the events beside them to the screen.
type codex struct{}

func (codex) name() string { return "codex" }

// target is none. OpenAI's reasoning can be read only in the organisation that it was made in, and Codex
// refuses a session with another one's.
func (codex) target([]*conversation.Event) provider.Target { return provider.Target{NoState: true} }

func (codex) folder(getenv func(string) string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".codex")
}

func (codex) file(s *session) string {
	at := s.began.UTC()
	return filepath.Join("sessions", at.Format("2006"), at.Format("01"), at.Format("02"), "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+s.id+".jsonl")
}

func (codex) resume(s *session, _ string) [][]string {
	return [][]string{{"codex", "resume", s.id}}
}

// A codexRecord is a line of a rollout.
type codexRecord struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Payload   any    `json:"payload"`
}

type codexMeta struct {
	ID         string    `json:"id"`
	Timestamp  string    `json:"timestamp"`
	Dir        string    `json:"cwd"`
	Originator string    `json:"originator"`
	Version    string    `json:"cli_version"`
	Source     string    `json:"source"`
	Git        *codexGit `json:"git,omitempty"`
}

type codexGit struct {
	Commit string `json:"commit_hash,omitempty"`
	Branch string `json:"branch,omitempty"`
}

type codexMessage struct {
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Content []codexPart `json:"content"`
	Passed  any         `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

type codexPart struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`
}

type codexCall struct {
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	ID        string `json:"call_id"`
}

type codexOutput struct {
	Type   string `json:"type"`
	ID     string `json:"call_id"`
	Output any    `json:"output"` // a text, or parts
}

type codexEvent struct {
	Type    string          `json:"type"`
	Message string          `json:"message,omitempty"`
	Info    *codexTokenInfo `json:"info,omitempty"`
}

type codexTokenInfo struct {
	Total codexUsage `json:"total_token_usage"`
	Last  codexUsage `json:"last_token_usage"`
}

type codexUsage struct {
	Input     int `json:"input_tokens"`
	Cached    int `json:"cached_input_tokens"`
	Write     int `json:"cache_write_input_tokens"`
	Output    int `json:"output_tokens"`
	Reasoning int `json:"reasoning_output_tokens"`
	Total     int `json:"total_tokens"`
}

// codexHarness marks a message in the user's role that jp wrote.
var codexHarness = map[string]any{"content_item_metadata": []any{map[string]any{"provenance": map[string]string{"type": "harness"}}}}

func (codex) write(out *bufio.Writer, s *session) error {
	w := codexWriter{lineWriter: lineWriter{out: out}}
	meta := codexMeta{ID: s.id, Timestamp: stamp(s.began), Dir: s.dir, Originator: "jp", Version: "0.0.0", Source: "cli"}
	if s.place.Head != "" || s.place.Branch != "" {
		meta.Git = &codexGit{s.place.Head, s.place.Branch}
	}
	w.record(s.began, "session_meta", meta)
	if !s.asked { // a session without a request is not listed
		w.record(s.began, "event_msg", codexEvent{Type: "user_message", Message: or(s.title, "A conversation of jp")})
	}
	for i := 0; i < len(s.steps); {
		group := s.group(i)
		x := group[0]
		switch x.role {
		case conversation.RoleAssistant:
			if x.Kind == provider.BlockToolCall {
				w.record(x.at, "response_item", codexCall{"function_call", x.Name, string(x.Arguments), x.ID})
			} else {
				w.record(x.at, "response_item", codexMessage{Type: "message", Role: "assistant", Content: []codexPart{{Type: "output_text", Text: x.Text}}})
				w.record(x.at, "event_msg", codexEvent{Type: "agent_message", Message: x.Text})
			}
			if u := x.end.Usage; u != nil && x.last {
				last := codexUsage{Input: u.Input, Cached: u.CacheRead, Write: u.CacheWrite, Output: u.Output, Total: u.Input + u.Output}
				w.total.Input += last.Input
				w.total.Cached += last.Cached
				w.total.Write += last.Write
				w.total.Output += last.Output
				w.total.Total += last.Total
				w.record(x.at, "event_msg", codexEvent{Type: "token_count", Info: &codexTokenInfo{w.total, last}})
			}
		case conversation.RoleTool:
			parts, files := codexParts(group)
			output := codexOutput{"function_call_output", x.ID, x.Text}
			if files {
				output.Output = parts
			}
			w.record(x.at, "response_item", output)
		default:
			w.request(x, group)
		}
		i += len(group)
	}
	return w.err
}

// A codexWriter writes the lines of a rollout.
type codexWriter struct {
	lineWriter
	total codexUsage
}

func (w *codexWriter) record(at time.Time, kind string, payload any) {
	w.line(codexRecord{stamp(at), kind, payload})
}

func (w *codexWriter) request(x step, of []step) {
	parts, _ := codexParts(of)
	m := codexMessage{Type: "message", Role: "user", Content: parts}
	if x.own {
		m.Passed = codexHarness
	}
	w.record(x.at, "response_item", m)
	if x.own {
		return
	}
	said := ""
	if words := of[len(of)-1]; words.Kind == provider.BlockText {
		said = words.Text // the words stand behind the files
	}
	w.record(x.at, "event_msg", codexEvent{Type: "user_message", Message: said})
}

// codexParts are the parts of a message or of a result, and whether a picture is among them.
func codexParts(steps []step) (parts []codexPart, pictures bool) {
	for _, x := range steps {
		switch {
		case x.Kind != provider.BlockFile:
			parts = append(parts, codexPart{Type: "input_text", Text: x.Text})
		case isPicture(x.Block):
			pictures = true
			parts = append(parts, codexPart{Type: "input_image", Image: "data:" + x.Media() + ";base64," + base64.StdEncoding.EncodeToString(x.Data)})
		default:
			parts = append(parts, codexPart{Type: "input_text", Text: x.InWords()})
		}
	}
	return parts, pictures
}
