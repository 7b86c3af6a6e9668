package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"jp/internal/safefile"
)

// A Draft is a TOML file with one key set, before jp writes it. Every other byte
// stays where it can: comments, order and layout.
//
// The key and its value must be valid. For the rest of the file, TOML is enough.
type Draft struct {
	Key           string // dotted
	origin        Origin
	target        string
	before, after []byte
}

// NewDraft sets one key of the file that the origin names. value is TOML, or plain text if the key takes a
// string. A missing file or table is made.
func NewDraft(o Origin, key, value string) (*Draft, error) {
	path, ok := parseKey(key)
	if !ok {
		return nil, &Error{Origin: o, Text: quote(key) + " is not a key", kind: ErrUnknownKey}
	}
	set, wrong := valueToSet(o, path, value)
	if wrong != nil {
		return nil, wrong
	}
	target, err := resolve(o.Name)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", key, err)
	}
	before, wrong := readUserFile(Origin{Name: target})
	if wrong != nil {
		return nil, wrong
	}
	after, err := setInDocument(o, before, path, set)
	if err != nil {
		return nil, err
	}
	return &Draft{Key: joinKey(path), origin: o, target: target, before: before, after: after}, nil
}

// Adds gives the first mistake that judge finds with the new content and not with the old, or nil. If a key
// had a mistake already, another one of the same key does not count, so that a file can be mended step by
// step. But the new value itself must be right.
func (d *Draft) Adds(judge func(content []byte) []*Error) *Error {
	had := map[string]bool{}
	for _, e := range judge(d.before) {
		had[e.Key] = true
	}
	for _, e := range judge(d.after) {
		if own := e.Key == d.Key && e.Origin.Layer == d.origin.Layer; own || !had[e.Key] {
			return e
		}
	}
	return nil
}

// Write replaces the file by the draft, atomically. A file that is a
// link stays one, and Write replaces its target.
func (d *Draft) Write() error {
	if err := replaceFile(d.target, d.after); err != nil {
		return fmt.Errorf("set %s: %w", d.Key, err)
	}
	return nil
}

// Begin puts a comment at the beginning of a file that is new.
func (d *Draft) Begin(comment string) {
	if len(d.before) == 0 {
		d.after = append([]byte("# "+comment+"\n"), d.after...)
	}
}

// valueToSet checks the value and gives it as TOML.
func valueToSet(o Origin, path []string, value string) (string, *Error) {
	n, err := lookup(o, path)
	if err != nil {
		return "", err
	}
	if !n.leaf() {
		return "", valueError(o, joinKey(path), "is a table; name a key in it")
	}
	converted, err := n.convert(o, joinKey(path), n.parseText(value))
	if err != nil {
		return "", err
	}
	return tomlText(converted), nil
}

// resolve gives the file that a link leads to.
func resolve(file string) (string, error) {
	target, err := filepath.EvalSymlinks(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link to nothing", file)
	}
	return file, nil
}

// replaceFile makes data the file's content, durably, keeping its mode.
func replaceFile(file string, data []byte) error {
	return safefile.Replace(file, data, safefile.Options{Mode: 0o644, FolderMode: 0o755, KeepMode: true})
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
