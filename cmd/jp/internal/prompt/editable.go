package prompt

import (
	"encoding/json"
	"errors"
	"path"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// An editable is the text of a call that the user may edit.
type editable struct {
	text      string
	ext       string // of a file's name, with its dot
	arguments func(saved string) (json.RawMessage, error)
}

// editable is the text of a call: the file as it writes it, or the command that it runs. It reports
// false for a call whose arguments say more, or whose edits do not fit the file.
func (p *Prompter) editable(q turnloop.Question) (m editable, ok bool) {
	var args map[string]json.RawMessage
	if json.Unmarshal(q.Arguments, &args) != nil {
		return m, false
	}
	with := func(name string, value any) (json.RawMessage, error) {
		args[name] = asJSON(value)
		return asJSON(args), nil
	}
	var file string
	if json.Unmarshal(args["path"], &file) == nil {
		m.ext = path.Ext(file)
	}
	switch toolName(q) {
	case "fs_create_file":
		if json.Unmarshal(args["content"], &m.text) != nil {
			return m, false
		}
		m.arguments = func(saved string) (json.RawMessage, error) { return with("content", saved) }
	case "fs_modify_file":
		var edits []edit
		before, readable := p.content(file)
		if !readable || json.Unmarshal(args["edits"], &edits) != nil {
			return m, false
		}
		if m.text, ok = apply(before, edits); !ok {
			return m, false
		}
		m.arguments = func(saved string) (json.RawMessage, error) {
			if saved == before {
				return nil, errors.New("the file would stay as it is: n does not run the tool")
			}
			arguments, err := with("edits", []map[string]string{{"old": before, "new": saved}})
			if len(arguments) > conversation.MaxEdited {
				return with("edits", []map[string]string{uniqueEdit(before, saved)})
			}
			return arguments, err
		}
	case "shell_run":
		var argv []string
		if json.Unmarshal(args["argv"], &argv) != nil || len(argv) == 0 {
			return m, false
		}
		m.text, m.ext = safetext.EscapeAll(argv)+"\n", ".sh"
		m.arguments = func(saved string) (json.RawMessage, error) {
			words, err := safetext.Words(saved)
			if err != nil {
				return nil, err
			}
			return with("argv", words)
		}
	default:
		return m, false
	}
	return m, true
}

// uniqueEdit is the edit of the lines that differ, with enough context to match once in the file.
func uniqueEdit(before, after string) map[string]string {
	old, changed := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	from := 0
	for from < min(len(old), len(changed)) && old[from] == changed[from] {
		from++
	}
	end := 0
	for end < min(len(old), len(changed))-from && old[len(old)-1-end] == changed[len(changed)-1-end] {
		end++
	}
	for {
		text := strings.Join(old[from:len(old)-end], "")
		if text != "" && strings.Count(before, text) == 1 || from == 0 && end == 0 {
			return map[string]string{"old": text, "new": strings.Join(changed[from:len(changed)-end], "")}
		}
		from, end = max(0, from-1), max(0, end-1)
	}
}
