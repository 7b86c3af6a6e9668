package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jp/tool"
)

func (w *workspace) deleteFile() tool.Tool {
	return &fileTool{run: w.runDelete, def: &tool.Definition{
		Name:        "fs_delete_file",
		Description: "Delete one file, or a symbolic link itself. Folders are refused.",
		Parameters: json.RawMessage(`{"type":"object","required":["path"],"additionalProperties":false,"properties":{
			"path":{"type":"string","minLength":1}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended,
		Subject: argument("path"), Paths: w.paths(false, "path"),
		Fault: func(arguments json.RawMessage) error { return w.fileFault(argument("path")(arguments)) },
	}}
}

func (w *workspace) runDelete(_ context.Context, call tool.Call) (tool.Result, error) {
	name := argument("path")(call.Arguments)
	p, err := w.file(name)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	effect := "deleted"
	if old, err := p.content(); err == nil {
		effect = change{deleted: lines(old)}.effect()
	} else if !errors.Is(err, ErrNotFile) && !errors.Is(err, ErrBinary) && !errors.Is(err, ErrTooLarge) {
		return tool.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.dir.Remove(p.name); err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", name, reason(err))
	}
	return wrote("Deleted "+p.path+".\n", effect, p.path), nil
}

// file finds a file to move or delete. It refuses folders, and of a symbolic link it takes the link itself.
func (w *workspace) file(name string) (*openedName, error) {
	p, err := w.find(name, access{write: true})
	switch {
	case err != nil:
		return nil, err
	case p.info == nil:
		err = errNoSuchFile
	case p.info.IsDir():
		err = ErrDirectory
	default:
		return p, nil
	}
	p.Close()
	return nil, fmt.Errorf("%s: %w", name, err)
}

func (w *workspace) fileFault(name string) error {
	p, err := w.file(name)
	if err == nil {
		p.Close()
	}
	return err
}
