package fs

import (
	"context"
	"encoding/json"
	"fmt"

	"jp/tool"
)

func (w *workspace) modifyFile() tool.Tool {
	return &fileTool{run: w.runModify, def: &tool.Definition{
		Name: "fs_modify_file",
		Description: "Replace passages of a text file. Each old must be the exact text, white space included, " +
			"and occur exactly count times in the file as the edits before it left it. Give enough lines around a change to make old unique. " +
			"If one edit does not fit, the file stays as it is. Returns the diff.",
		Parameters: json.RawMessage(`{"type":"object","required":["path","edits"],"additionalProperties":false,"properties":{
			"path":{"type":"string","minLength":1},
			"edits":{"type":"array","minItems":1,"description":"Made in this order.","items":{
				"type":"object","required":["old","new"],"additionalProperties":false,"properties":{
				"old":{"type":"string","minLength":1},
				"new":{"type":"string"},
				"count":{"type":"integer","minimum":1,"default":1,"description":"How often old occurs; all are replaced."}}}}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended,
		Subject: argument("path"), Paths: w.paths(true, "path"),
		Fault: func(arguments json.RawMessage) error {
			m, err := w.modification(arguments)
			if err == nil {
				m.file.Close()
			}
			return err
		},
	}}
}

type modifyArguments struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

// A modification is the effect of a call's edits on a file.
type modification struct {
	file          *openedName
	before, after string
	content       []byte // after, as the file is encoded
}

func (w *workspace) modification(arguments json.RawMessage) (m modification, err error) {
	args, err := read[modifyArguments](arguments)
	if err != nil {
		return m, err
	}
	if m.file, err = w.find(args.Path, access{write: true, follow: true}); err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			m.file.Close()
			err = fmt.Errorf("%s: %w", args.Path, err)
		}
	}()
	before, encoding, err := m.file.decoded()
	if err != nil {
		return m, err
	}
	after, err := applyEdits(before, args.Edits)
	if err != nil {
		return m, err
	}
	var added []string
	for _, e := range args.Edits {
		added = append(added, e.New)
	}
	m.before, m.after = before, after
	m.content, err = encoding.Bytes(after, added...)
	return m, err
}

func (w *workspace) runModify(_ context.Context, call tool.Call) (tool.Result, error) {
	m, err := w.modification(call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	defer m.file.Close()
	if err := m.file.replace(m.content); err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", m.file.path, err)
	}
	c := compare(m.file.path, []byte(m.before), []byte(m.after))
	if c.diff == "" {
		c.diff = "Modified " + m.file.path + ".\n"
	}
	return wrote(c.diff+m.file.linked(), c.effect(), m.file.path), nil
}
