package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
)

// ToolRules are a server's demands on definitions, besides those of all servers. The zero value is OpenAI's.
type ToolRules struct {
	Max            int     // most tools of one request; 0: 128, negative: unlimited
	Keys           KeyForm // of parameters
	Subset         bool    // schemas have only the words and forms that Gemini reads
	TypeInBranches bool    // a type is in the branches of anyOf, not beside it
}

// usualMax is how many tools most servers take.
const usualMax = 128

// A KeyForm is the form of the names of parameters.
type KeyForm int

// The forms.
const (
	LooseKeys KeyForm = iota // up to 64 letters, digits, _, . and -
	WordKeys                 // up to 64 letters, digits and _, with a letter or _ at the beginning
)

// OmittedTool is a tool left out for a server.
type OmittedTool struct {
	Name string // wire name
	Why  string
}

// AdaptedTools are the definitions as a server takes them.
type AdaptedTools struct {
	Tools   []Tool
	LeftOut []OmittedTool
	keys    map[string]renamed // by wire name, of tools with renamed parameters
}

// renamed are the parameters of a tool that have another name on the wire.
type renamed struct{ wire, own map[string]string }

// AdaptTools makes definitions fit for a server, which refuses the whole request if one of them breaks a rule: it
// rewrites the schemas of parameters, and leaves out the tools for which that is impossible. Those that the conversation has calls of are kept first; if one
// of them has no valid form, a stand-in without parameters replaces it.
func AdaptTools(tools []Tool, rules ToolRules, used map[string]bool) AdaptedTools {
	t := AdaptedTools{keys: map[string]renamed{}}
	left := rules.Max
	if left == 0 {
		left = usualMax
	}
	most := left
	for _, tool := range tools {
		if used[tool.Name] {
			left--
		}
	}
	for _, tool := range tools {
		adapted, keys, err := adaptTool(tool, rules)
		switch {
		case rules.Max >= 0 && !used[tool.Name] && left <= 0:
			t.LeftOut = append(t.LeftOut, OmittedTool{tool.Name, fmt.Sprintf("it takes %d tools at most", most)})
			continue
		case err != nil:
			t.LeftOut = append(t.LeftOut, OmittedTool{tool.Name, err.Error()})
			if !used[tool.Name] {
				continue
			}
			adapted = Stub(tool.Name)
		case !used[tool.Name]:
			left--
		}
		t.Tools = append(t.Tools, adapted)
		if len(keys.wire) > 0 {
			t.keys[tool.Name] = keys
		}
	}
	return t
}

// AnyRenamed reports whether any tool has renamed parameters.
func (t AdaptedTools) AnyRenamed() bool { return len(t.keys) > 0 }

// Renamed reports whether arguments of a tool have to be translated.
func (t AdaptedTools) Renamed(name string) bool { return len(t.keys[name].wire) > 0 }

// ToWire are a call's arguments with the names that the server knows.
func (t AdaptedTools) ToWire(name string, arguments []byte) []byte {
	return renameArguments(arguments, t.keys[name].wire)
}

// FromWire are a call's arguments with the names that the tool knows.
func (t AdaptedTools) FromWire(name string, arguments []byte) []byte {
	return renameArguments(arguments, t.keys[name].own)
}

// renameArguments renames keys of an object. It keeps any other value as it is, and a key whose new name is there
// already.
func renameArguments(arguments []byte, names map[string]string) []byte {
	fields, err := conversation.ParseObject(arguments)
	if err != nil || len(names) == 0 {
		return arguments
	}
	there := map[string]bool{}
	for _, f := range fields {
		there[f.Key] = true
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		key := f.Key
		if other, ok := names[key]; ok && !there[other] {
			key = other
		}
		out.Write(encodeSchema(key))
		out.WriteByte(':')
		out.Write(f.Raw)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// errNoObject is the reason for leaving out a tool.
var errNoObject = errors.New("its parameters are not an object")

// adaptTool makes one definition fit. A schema that keeps the rules stays as it is, to
// the byte.
func adaptTool(tool Tool, rules ToolRules) (Tool, renamed, error) {
	if len(tool.Parameters) == 0 {
		tool.Parameters = Stub(tool.Name).Parameters
		return tool, renamed{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(tool.Parameters))
	decoder.UseNumber()
	var schema any
	if err := decoder.Decode(&schema); err != nil {
		return tool, renamed{}, errors.New("its parameters are not JSON")
	}
	before := encodeSchema(schema)
	a := &adapter{rules: rules, root: schema, nodes: mostNodes, deepest: maxDepth}
	top, err := a.top(schema)
	for err == nil && depthOf(top) > maxDepth && a.deepest > 1 { // the rewritten schema may be deeper
		a.nodes, a.deepest = mostNodes, a.deepest-1
		top, err = a.top(schema)
	}
	if err != nil {
		return tool, renamed{}, err
	}
	keys := a.renameKeys(top)
	if after := encodeSchema(top); !bytes.Equal(before, after) {
		tool.Parameters = after
	}
	if len(a.choices) > 1 {
		tool.Description = strings.TrimSpace(tool.Description + "\nRequired are " + strings.Join(a.choices, ", or ") + ".")
	}
	return tool, keys, nil
}

// renameKeys gives each parameter a name that the server takes.
func (a *adapter) renameKeys(top schemaObject) renamed {
	keys := renamed{map[string]string{}, map[string]string{}}
	properties := top.object("properties")
	taken := map[string]bool{}
	for key := range properties {
		taken[key] = a.rules.Keys.fits(key)
	}
	for _, key := range sortedKeys(properties) {
		if a.rules.Keys.fits(key) {
			continue
		}
		wire := a.rules.Keys.cleaned(key, "")
		if taken[wire] {
			sum := sha256.Sum256([]byte(key))
			wire = a.rules.Keys.cleaned(key, "_"+hex.EncodeToString(sum[:4]))
		}
		taken[wire], keys.wire[key], keys.own[wire] = true, wire, key
		properties[wire] = properties[key]
		delete(properties, key)
	}
	for i, name := range top.list("required") {
		if wire, ok := keys.wire[textOf(name)]; ok {
			top.list("required")[i] = wire
		}
	}
	return keys
}

// maxKey is the longest name of a parameter.
const maxKey = 64

func (f KeyForm) has(r rune) bool {
	word := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	return word || f == LooseKeys && (r == '.' || r == '-')
}

func (f KeyForm) fits(key string) bool {
	odd := func(r rune) bool { return !f.has(r) }
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, odd) {
		return false
	}
	return f == LooseKeys || key[0] < '0' || key[0] > '9'
}

// cleaned is a name of the form, as much like the key as it can be, with an end.
func (f KeyForm) cleaned(key, end string) string {
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if f.has(r) {
			return r
		}
		return '_'
	}, key), "_")
	if clean == "" || f == WordKeys && clean[0] >= '0' && clean[0] <= '9' {
		clean = "_" + clean
	}
	return clean[:min(len(clean), maxKey-len(end))] + end
}

// encodeSchema writes JSON that was read, or text.
func encodeSchema(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // decoded JSON always encodes
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
