package importer

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"jp/agent/problem"
)

// Formats are the formats that can be imported.
var Formats = []Format{claude{}, codex{}, newOpencode(), gemini{}, newGoose(), upstream{}}

// FormatNamed returns the format with a name, or nil.
func FormatNamed(name string) Format {
	for _, f := range append(Formats, ACP) {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// NameFormat adds to an error about a file the format that the file has, if it is another one than asked.
func NameFormat(err error, path, asked string) error {
	var p *problem.Error
	if errors.As(err, &p) {
		if name := formatOfFile(path, asked); name != "" {
			p.Details = append(p.Details, "Its format is "+name+".")
		}
	}
	return err
}

// fewSessions are enough to recognize the format of a file with many.
const fewSessions = 8

// formatOfFile is the name of a file's format, "" if only the format asked for fits.
func formatOfFile(path, asked string) string {
	for _, f := range Formats {
		if f.Name() == asked {
			continue
		}
		paths := []string{path}
		if l, ok := f.(library); ok {
			if all, err := l.Sessions(path, "/"); err == nil { // in any folder
				paths = all[:min(len(all), fewSessions)]
			}
		}
		if slices.ContainsFunc(paths, func(path string) bool { _, ok := look(f, path); return ok }) {
			return f.Name()
		}
	}
	if file, err := Open(path); err == nil && asked != JP {
		defer file.Close()
		head, _ := io.ReadAll(io.LimitReader(file, maxPath)) // an unreadable file has none
		if head = bytes.TrimSpace(head); bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"jp_export"`)) {
			return JP
		}
	}
	return ""
}
