package odb_test

import (
	"errors"
	"io"
	"io/fs"

	"jp/gitstore/odb"
	"jp/internal/testing/interleave"
)

// packer does with one ref what `git pack-refs --all --prune` does, step by step:
// the packed refs under their lock, then the loose one away under its own, then
// the directories that are empty.
func (w *world) packer() func(*interleave.Task) {
	return func(t *interleave.Task) {
		root, err := w.of(t).OpenDir("/repo")
		var value string
		if err == nil {
			value, err = packRef(root)
		}
		if err == nil && value != "" {
			err = pruneRef(root, value)
		}
		switch {
		case errors.Is(err, errKilled):
			w.killed++
		case err != nil:
			w.fault = err
		}
	}
}

const looseRef = "refs/jp/conversations/jp-c1"

func packRef(root odb.Dir) (value string, err error) {
	if _, err := root.Create("packed-refs.lock", 0o666); err != nil {
		return "", err
	}
	if value, err = content(root, looseRef); err != nil || value == "" {
		return "", errors.Join(err, root.Remove("packed-refs.lock"))
	}
	file, err := root.Create("packed-refs.new", 0o666)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(file, value[:len(value)-1]+" "+looseRef+"\n"); err != nil {
		return "", err
	}
	return value, errors.Join(file.Sync(), root.Rename("packed-refs.new", "packed-refs"), root.Remove("packed-refs.lock"))
}

// pruneRef leaves the ref alone if another process is at it, or has moved it.
func pruneRef(root odb.Dir, value string) error {
	if _, err := root.Create(looseRef+".lock", 0o666); errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	now, err := content(root, looseRef)
	if err == nil && now == value {
		err = root.Remove(looseRef)
	}
	if err = errors.Join(err, root.Remove(looseRef+".lock")); err != nil {
		return err
	}
	root.RemoveDir("refs/jp/conversations") // as git does, even if that fails
	return nil
}

// content reads a file, "" if there is none.
func content(dir odb.Dir, name string) (string, error) {
	file, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(file)
	return string(data), err
}
