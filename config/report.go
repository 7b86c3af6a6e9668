package config

import (
	"fmt"
	"strings"
)

// Layer is a place that settings come from. A higher one wins.
type Layer int

// The layers, low to high.
const (
	LayerDefault Layer = iota
	LayerUser
	LayerRepository // the user's own file for one repository
	LayerWorkspace
	LayerEnvironment
	LayerConversation
	LayerProfile
	LayerOverride
)

// String gives the layer's name as the reference spells it.
func (l Layer) String() string {
	return [...]string{"default", "user", "your file for this repository", "workspace", "environment", "conversation", "profile", "--cfg"}[l]
}

// Origin is the place of a value.
type Origin struct {
	Layer  Layer
	Name   string // the file as it is shown to people, or the environment variable
	Line   int    // from 1; 0 outside files
	Column int    // from 1, in bytes; only for invalid TOML
}

// String gives "file:line", the variable, or the layer's name.
func (o Origin) String() string {
	text := o.Name
	if text == "" {
		text = o.Layer.String()
	}
	for _, n := range []int{o.Line, o.Column} {
		if n > 0 {
			text += fmt.Sprintf(":%d", n)
		}
	}
	return text
}

// Reason is why a key was held back.
type Reason string

// The reasons.
const (
	ReasonUntrusted    Reason = "the file is not trusted"
	ReasonLoosens      Reason = "a workspace may only tighten it"
	ReasonConversation Reason = "a conversation may not set it"
	ReasonPrivate      Reason = "only your own configuration may set it"
	ReasonInvalid      Reason = "this version of jp does not accept it"
)

// InertKey is a setting that was read and has no effect.
type InertKey struct {
	Origin Origin
	Key    string // dotted
	Value  string // as TOML, on one line, control characters escaped
	Reason Reason
}

// Report names the sources of the settings, and those that were held back.
type Report struct {
	Origins       map[string]Origin // by dotted key, for every key that has a value
	Values        map[string]string // the same keys' values as TOML, on one line
	Inert         []InertKey        // in layer order, then as written
	WorkspaceHash string            // SHA-256 of the workspace file, hex; empty if there is none
	Trusted       bool              // whether Options.Trusted approved that hash
	Profiles      []string          // those in use, the default one first
	Lasting       map[string]any    // settings of the profiles of Options.Profiles that the conversation still lacks, without security keys
}

// Untrusted tells whether the workspace file asks for something that approving
// its content would allow.
func (r *Report) Untrusted() bool {
	for _, k := range r.Inert {
		if k.Reason == ReasonUntrusted {
			return true
		}
	}
	return false
}

// DottedKey writes the parts of a key as Report has it.
func DottedKey(parts ...string) string { return joinKey(parts) }

// joinKey writes a path as a dotted TOML key.
func joinKey(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if !bareKey(p) {
			parts[i] = quote(p)
		}
	}
	return strings.Join(parts, ".")
}

func bareKey(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return s != ""
}
