package importer

import "encoding/json"

// An editForm names the arguments by which a tool edits a file.
type editForm struct {
	path, content string
	old, new, all string
}

// editForms are those of an agent's tools, by their names.
type editForms map[string]editForm

var (
	opencodeEdits = editForms{
		"write": {path: "filePath", content: "content"},
		"edit":  {path: "filePath", old: "oldString", new: "newString", all: "replaceAll"},
	}
	geminiEdits = editForms{
		"write_file": {path: "file_path", content: "content"},
		"replace":    {path: "file_path", old: "old_string", new: "new_string", all: "allow_multiple"},
	}
	gooseEditor = editForm{path: "path", content: "file_text", old: "old_str", new: "new_str"}
	gooseEdits  = editForms{
		"developer__text_editor": gooseEditor, "text_editor": gooseEditor,
		"write": {path: "path", content: "content"}, "developer__write": {path: "path", content: "content"},
		"edit": {path: "path", old: "before", new: "after"}, "developer__edit": {path: "path", old: "before", new: "after"},
	}
)

// of reads a call that succeeded. It is nil for tools that do not edit.
func (forms editForms) of(tool string, arguments json.RawMessage) []Edit {
	form, ok := forms[tool]
	if !ok {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(arguments, &fields) != nil {
		return nil
	}
	path, _ := fields[form.path].(string)
	if path == "" {
		return nil
	}
	if content, ok := fields[form.content].(string); ok && form.content != "" {
		return []Edit{{Path: path, After: &content}}
	}
	before, had := fields[form.old].(string)
	after, has := fields[form.new].(string)
	switch {
	case form.old == "" || !had || !has:
		return nil
	case before == "": // it makes the file
		return []Edit{{Path: path, After: &after}}
	}
	all, _ := fields[form.all].(bool)
	return []Edit{{Path: path, Replaced: []Replacement{{Old: before, New: after, All: all}}}}
}
