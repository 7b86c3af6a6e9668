package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"jp/internal/safefile"
)

// Approvals are the user's approvals of servers in one working tree, and the lists that servers gave last if
// they differ from the approved ones: one file for each command with its environment. A file holds the hash
// of its content. A damaged one approves nothing.
type Approvals struct {
	Dir   string                 // $XDG_STATE_HOME/jp/mcp
	Root  string                 // the working tree: absolute
	Holds func(path string) bool // reports whether a path leads into the working tree or its git directories; may be nil
}

// A record is the content of a file. It has the names of variables without their values.
type record struct {
	Name    string       `json:"name"`
	Command []string     `json:"command"`
	Env     []string     `json:"env"`
	URL     string       `json:"url,omitempty"`
	Headers []string     `json:"headers,omitempty"`
	Root    string       `json:"root"`
	Files   Files        `json:"files"`
	Offers  []ToolInfo   `json:"offers"`
	Prompts []PromptInfo `json:"prompts,omitempty"` // of a file of prompts alone
}

type storedApproval struct {
	SHA256 string          `json:"sha256"`
	Record json.RawMessage `json:"record"`
}

// Approved returns the approved tools of a server with this command, and the files that its command line
// named then. ok is false if there is no approval.
func (a Approvals) Approved(s Spec) (offers []ToolInfo, files Files, ok bool) {
	r, ok := read(a.file(s, "approved"))
	return r.Offers, r.Files, ok
}

// Approve records that the user approved exactly this.
func (a Approvals) Approve(s Spec, files Files, offers []ToolInfo) error {
	if err := a.write(s, "approved", a.tools(s, files, offers)); err != nil {
		return fmt.Errorf("approve the tools of %s: %w", s.Name, err)
	}
	return a.forget(s)
}

// Revoke takes an approval back.
func (a Approvals) Revoke(s Spec) error {
	if err := errors.Join(a.remove(s, "approved"), a.remove(s, "prompts")); err != nil {
		return fmt.Errorf("take back the approval of %s: %w", s.Name, err)
	}
	return a.forget(s)
}

// LastListed is the list that the server gave last, if it differs from the approved one.
func (a Approvals) LastListed(s Spec) (offers []ToolInfo, ok bool) {
	r, ok := read(a.file(s, "seen"))
	return r.Offers, ok
}

// Saw records the list of a server if it differs from the approved one, so that changed tools stay hidden
// next time, too. Else it deletes the record.
func (a Approvals) Saw(s Spec, offers []ToolInfo) error {
	if approved, _, ok := a.Approved(s); !ok || len(Changes(approved, offers)) == 0 {
		return a.forget(s)
	}
	if err := a.write(s, "seen", a.tools(s, nil, offers)); err != nil {
		return fmt.Errorf("keep what %s lists: %w", s.Name, err)
	}
	return nil
}

// Prompts are those that a server listed last.
func (a Approvals) Prompts(s Spec) []PromptInfo {
	r, _ := read(a.file(s, "prompts"))
	return r.Prompts
}

// SawPrompts records which prompts a server lists, so that they are known while it is stopped.
func (a Approvals) SawPrompts(s Spec, prompts []PromptInfo) error {
	switch {
	case len(prompts) == 0:
		return a.remove(s, "prompts")
	case reflect.DeepEqual(a.Prompts(s), prompts):
		return nil
	}
	r := a.record(s)
	r.Prompts = prompts
	return a.write(s, "prompts", r)
}

// Before is the command with which a server of this name was approved last, if it is another one, else nil.
func (a Approvals) Before(s Spec) []string {
	files, _ := os.ReadDir(a.Dir)
	var command []string
	var newest time.Time
	for _, file := range files {
		info, err := file.Info()
		if err != nil || filepath.Ext(file.Name()) != ".approved" || info.ModTime().Before(newest) {
			continue
		}
		if r, ok := read(filepath.Join(a.Dir, file.Name())); ok && r.Name == s.Name && !slices.Equal(r.Command, s.Command) {
			command, newest = r.Command, info.ModTime()
		}
	}
	return command
}

func (a Approvals) file(s Spec, kind string) string {
	return filepath.Join(a.Dir, s.hash(a.Root)+"."+kind)
}

func (a Approvals) forget(s Spec) error {
	if err := a.remove(s, "seen"); err != nil {
		return fmt.Errorf("forget what %s listed: %w", s.Name, err)
	}
	return nil
}

func (a Approvals) remove(s Spec, kind string) error {
	if err := os.Remove(a.file(s, kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// record has the fields that all files of a server share.
func (a Approvals) record(s Spec) record {
	return record{
		Name: s.Name, Command: s.Command, Env: slices.Sorted(maps.Keys(s.Env)), URL: s.URL, Headers: slices.Sorted(maps.Keys(s.Headers)), Root: a.Root, Offers: []ToolInfo{},
	}
}

// tools is a record with the list of a server.
func (a Approvals) tools(s Spec, files Files, offers []ToolInfo) record {
	r := a.record(s)
	if r.Files = files; offers != nil {
		r.Offers = offers
	}
	return r
}

func (a Approvals) write(s Spec, kind string, r record) error {
	text, err := canonical(r)
	if err != nil {
		return err
	}
	content, err := canonical(storedApproval{hashOf(text), text})
	if err != nil {
		return err
	}
	return safefile.Replace(a.file(s, kind), content, safefile.Options{})
}

// read reads a file. ok is false if it is missing or damaged.
func read(file string) (r record, ok bool) {
	content, err := os.ReadFile(file)
	var s storedApproval
	if err != nil || json.Unmarshal(content, &s) != nil || s.SHA256 != hashOf(s.Record) {
		return record{}, false
	}
	return r, json.Unmarshal(s.Record, &r) == nil
}
