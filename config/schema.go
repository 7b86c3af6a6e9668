package config

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"
)

// node is one place in the tree of keys: a table with fixed keys (fields), a
// table with free keys (elem), or else a value.
type node struct {
	typ      reflect.Type
	tag      reflect.StructTag
	security bool
	private  bool // only the user's own configuration may set it
	fields   []field
	elem     *node
}

type field struct {
	name string
	node *node
}

// maxName bounds free names, in bytes: the limit of models for tool names.
const maxName = 64

var durationType = reflect.TypeFor[time.Duration]()

// schema is the tree of [Config].
var schema = sync.OnceValue(func() *node { return newNode(reflect.TypeFor[Config](), "", nil) })

func newNode(t reflect.Type, tag reflect.StructTag, above *node) *node {
	n := &node{typ: t, tag: tag, private: tag.Get("security") == "user"}
	n.security = n.private || tag.Get("security") == "yes"
	if above != nil {
		n.security, n.private = n.security || above.security, n.private || above.private
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			n.fields = append(n.fields, field{f.Tag.Get("toml"), newNode(f.Type, f.Tag, n)})
		}
	case reflect.Map:
		n.elem = newNode(t.Elem(), reflect.StructTag(fmt.Sprintf("doc:%q check:%q", tag.Get("doc"), tag.Get("check"))), n)
	case reflect.Pointer:
		n.typ = t.Elem()
	}
	return n
}

func (n *node) leaf() bool { return n.fields == nil && n.elem == nil }

// free tells whether the node takes a value of any shape, tables included.
func (n *node) free() bool { return n.typ.Kind() == reflect.Interface }

// names are the keys allowed below n; nil means any.
func (n *node) names() []string {
	if keys := n.tag.Get("keys"); keys != "" {
		return strings.Split(keys, "|")
	}
	var names []string
	for _, f := range n.fields {
		names = append(names, f.name)
	}
	return names
}

// child is the node below n by that name, nil if it cannot exist.
func (n *node) child(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f.node
		}
	}
	if n.elem == nil || !n.allows(name) {
		return nil
	}
	return n.elem
}

func (n *node) allows(name string) bool {
	names := n.names()
	if n.tag.Get("label") == "alias" && strings.Contains(name, "/") {
		return false
	}
	if _, taken := builtin[name]; taken && n.tag.Get("label") == "profile" {
		return false
	}
	if names == nil {
		return len(name) <= maxName && (bareKey(name) || (n.elem.leaf() || n.tag.Get("label") == "model") && name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }))
	}
	for _, allowed := range names {
		if name == allowed {
			return true
		}
	}
	return false
}

// find walks path from the root. On a miss, known is how many parts were found.
func (n *node) find(path []string) (found *node, known int) {
	for i, name := range path {
		next := n.child(name)
		if next == nil {
			return nil, i
		}
		n = next
	}
	return n, len(path)
}

// walk visits every value's node below n with its path, free names as <label>.
func (n *node) walk(path []string, visit func([]string, *node)) {
	if n.leaf() {
		visit(path, n)
		return
	}
	for _, f := range n.fields {
		f.node.walk(append(path[:len(path):len(path)], f.name), visit)
	}
	if n.elem != nil {
		n.elem.walk(append(path[:len(path):len(path)], "<"+n.tag.Get("label")+">"), visit)
	}
}

// lookup finds the node of a key or reports the mistake in the key.
func lookup(o Origin, path []string) (*node, *Error) {
	n, known := schema().find(path)
	if n != nil {
		return n, nil
	}
	parent, _ := schema().find(path[:known])
	if parent.leaf() {
		return nil, valueError(o, joinKey(path[:known]), "must be %s, not a table", parent.wants())
	}
	wrong := path[:known+1]
	if parent.tag.Get("label") == "alias" && strings.Contains(path[known], "/") {
		return nil, valueError(o, joinKey(wrong), "is not a valid alias: with a / it could be the full name of a model")
	}
	if _, taken := builtin[path[known]]; taken && parent.tag.Get("label") == "profile" {
		return nil, valueError(o, joinKey(wrong), "is a profile of jp's own; choose another name")
	}
	e := &Error{Origin: o, Key: joinKey(wrong), kind: ErrUnknownKey}
	e.Text = "unknown key " + quote(e.Key)
	if near := suggest(parent, path, known); near != "" {
		e.Text += " (did you mean " + quote(near) + "?)"
	}
	return nil, e
}
