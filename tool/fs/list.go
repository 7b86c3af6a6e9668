package fs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"jp/tool"
)

func (w *workspace) listFiles() tool.Tool {
	return &fileTool{run: w.runList, def: &tool.Definition{
		Name:        "fs_list_files",
		Description: "List files, one path per line. Files that git ignores are left out, unless path is itself ignored.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"path":{"type":"string","description":"The folder to list. Default: all."},
			"pattern":{"type":"string","description":"A glob relative to path: **/*_test.go, cmd/**. Without a slash it is for names in any folder: *.go."},
			"limit":{"type":"integer","minimum":1,"default":200,"description":"The most paths."}}}`),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
		Subject: placeAnd("pattern"),
	}}
}

// placeAnd returns a function that shows the searched text or pattern and its folder.
func placeAnd(what string) func(json.RawMessage) string {
	return func(arguments json.RawMessage) string {
		subject, where := argument(what)(arguments), argument("path")(arguments)
		if subject != "" && where != "" {
			return subject + " in " + where
		}
		return subject + where
	}
}

type listArguments struct {
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
	Limit   int    `json:"limit"`
}

const defaultListed = 200

func (w *workspace) runList(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[listArguments](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	names, err := w.files(ctx, selection{path: args.Path, pattern: args.Pattern})
	if err != nil {
		return tool.Result{}, err
	}
	if args.Limit == 0 {
		args.Limit = defaultListed
	}
	result := tool.Result{Effect: count(len(names), "file"), WrittenFiles: []string{}}
	if len(names) == 0 {
		result.Content = []byte("[no files]\n" + w.leftOut(ctx, selection{path: args.Path, pattern: args.Pattern}))
		return result, nil
	}
	var listed []string
	for _, name := range names[:min(len(names), args.Limit)] {
		listed = append(listed, inLine(name))
	}
	text := strings.Join(listed, "\n") + "\n"
	if more := len(names) - len(listed); more > 0 {
		text += fmt.Sprintf("[and %s more: narrow path or pattern, or raise limit]\n", count(more, "file"))
		result.Effect = fmt.Sprintf("%d of %s", len(listed), count(len(names), "file"))
	}
	result.Found = names[:len(listed)]
	result.Content, result.Truncated = tool.Truncate([]byte(text), tool.Limit)
	return result, nil
}
