package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"jp/internal/wholefile"
)

// Set writes one key of a TOML file and leaves every other byte that it can:
// comments, order and layout stay. value is TOML, or plain text where the key
// takes a string. The file and its table are made when they are missing; the
// new content replaces the old in one step or not at all.
//
// The key and its value must be valid; the rest of the file must only be TOML.
// A file that is a link stays one, and what it leads to is written.
func Set(file, key, value string) error {
	o := Origin{Name: file}
	path, ok := parseKey(key)
	if !ok {
		return &Error{Origin: o, Text: quote(key) + " is not a key", kind: ErrUnknownKey}
	}
	set, err := valueToSet(o, path, value)
	if err != nil {
		return err
	}
	target, err := resolve(file)
	if err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	data, err := readUserFile(Origin{Name: target})
	if err != nil {
		return err
	}
	edited, err := setInDocument(o, data, path, set)
	if err != nil {
		return err
	}
	if err := replaceFile(target, edited); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	return nil
}

// valueToSet checks the value and gives it as TOML.
func valueToSet(o Origin, path []string, value string) (string, error) {
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
	return wholefile.Replace(file, data, wholefile.Options{Mode: 0o644, FolderMode: 0o755, KeepMode: true})
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
