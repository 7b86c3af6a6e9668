package fs

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"jp/tool"
)

func (w *workspace) moveFile() tool.Tool {
	source, target := argument("source"), argument("target")
	return &fileTool{run: w.runMove, def: &tool.Definition{
		Name: "fs_move_file",
		Description: "Move or rename one file, or a symbolic link itself; missing folders are made. The target is the whole new path " +
			"and must not exist; one that ends with a slash is the folder to move it into. Folders are refused.",
		Parameters: json.RawMessage(`{"type":"object","required":["source","target"],"additionalProperties":false,"properties":{
			"source":{"type":"string","minLength":1},
			"target":{"type":"string","minLength":1}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended,
		Subject: func(arguments json.RawMessage) string { return source(arguments) + " to " + target(arguments) },
		Paths: func(arguments json.RawMessage) ([]string, bool) {
			return w.paths(false, "source", "target")(intoFolder(arguments))
		},
		Fault: w.moveFault,
	}}
}

func (w *workspace) moveFault(arguments json.RawMessage) error {
	args, err := read[moveArguments](arguments)
	if err != nil {
		return err
	}
	if err := w.fileFault(args.Source); err != nil {
		return err
	}
	to, err := w.find(inFolder(args.Target, args.Source), access{write: true, absent: true})
	if err != nil {
		return err
	}
	defer to.Close()
	if to.info != nil {
		return fmt.Errorf("%s: %w", args.Target, ErrExists)
	}
	return nil
}

type moveArguments struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// namesFolder reports whether a path can only be that of a folder.
func namesFolder(name string) bool {
	return strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..") || name == "." || name == ".."
}

// inFolder is the path of a file in the folder that target names, or target itself.
func inFolder(target, source string) string {
	if !namesFolder(target) {
		return target
	}
	return strings.TrimSuffix(target, "/") + "/" + path.Base(source)
}

// intoFolder is the arguments of a move with its target as a file.
func intoFolder(arguments json.RawMessage) json.RawMessage {
	var args moveArguments
	if json.Unmarshal(arguments, &args) != nil {
		return arguments
	}
	args.Target = inFolder(args.Target, args.Source)
	if whole, err := json.Marshal(args); err == nil {
		return whole
	}
	return arguments
}

func (w *workspace) runMove(_ context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[moveArguments](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	args.Target = inFolder(args.Target, args.Source)
	from, err := w.file(args.Source)
	if err != nil {
		return tool.Result{}, err
	}
	defer from.Close()
	to, err := w.find(args.Target, access{write: true, make: true})
	if err != nil {
		return tool.Result{}, err
	}
	defer to.Close()
	if to.info != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Target, ErrExists)
	}
	if err := renameNew(from.dir, from.name, to.dir, to.name); err != nil {
		return tool.Result{}, fmt.Errorf("move %s to %s: %w", args.Source, args.Target, reason(err))
	}
	return wrote(fmt.Sprintf("Moved %s to %s.\n", from.path, to.path), "moved", from.path, to.path), nil
}
