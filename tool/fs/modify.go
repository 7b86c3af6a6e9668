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
		Description: "Replace passages of a text file of the workspace. Each edit's old must be the exact text, white space included, " +
			"and occur exactly count times in the file as the edits before it left it. Give enough lines around a change to make old unique. " +
			"If one edit does not fit, the file is not changed at all. Returns the diff.",
		Parameters: json.RawMessage(`{"type":"object","required":["path","edits"],"additionalProperties":false,"properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace."},
			"edits":{"type":"array","minItems":1,"description":"Made in this order.","items":{
				"type":"object","required":["old","new"],"additionalProperties":false,"properties":{
				"old":{"type":"string","minLength":1,"description":"The exact text to replace."},
				"new":{"type":"string","description":"The text to put in its place."},
				"count":{"type":"integer","minimum":1,"default":1,"description":"How often old occurs; all are replaced."}}}}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended,
		Subject: argument("path"), Paths: w.paths(true, "path"),
	}}
}

type modifyArguments struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

func (w *workspace) runModify(_ context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[modifyArguments](call)
	if err != nil {
		return tool.Result{}, err
	}
	p, err := w.find(args.Path, access{write: true, follow: true})
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	before, encoding, err := p.decoded()
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	after, err := applyEdits(before, args.Edits)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	var added []string
	for _, e := range args.Edits {
		added = append(added, e.New)
	}
	content, err := encoding.Bytes(after, added...)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	if err := p.replace(content); err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	c := compare(p.path, []byte(before), []byte(after))
	if c.diff == "" {
		c.diff = "Modified " + p.path + ".\n"
	}
	return wrote(c.diff+p.linked(), c.effect(), p.path), nil
}
