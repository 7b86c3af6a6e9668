package recall_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// An element is the element that a reader sees by the envelope's own rules alone.
type element struct {
	name       string
	attributes map[string]string
	text       string
	children   []element
}

// containers are the elements that hold others.
var containers = []string{"conversations", "hits", "conversation", "turn"}

// parse reads one element and refuses any deviation from the documentation.
func parse(text string) (element, error) {
	p := parser{rest: text}
	e, err := p.element()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("after the envelope: %q", p.rest)
	}
	return e, err
}

func parsed(t require.TestingT, text string) element {
	e, err := parse(text)
	require.NoError(t, err, "%s", text)
	return e
}

// all are the elements of a name, at any depth.
func (e element) all(name string) []element {
	var found []element
	if e.name == name {
		found = append(found, e)
	}
	for _, c := range e.children {
		found = append(found, c.all(name)...)
	}
	return found
}

// values are an attribute of all elements of a name.
func (e element) values(name, attribute string) []string {
	var found []string
	for _, c := range e.all(name) {
		found = append(found, c.attributes[attribute])
	}
	return found
}

type parser struct{ rest string }

func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

// until takes the text before a mark.
func (p *parser) until(mark string) (string, error) {
	before, rest, ok := strings.Cut(p.rest, mark)
	if !ok {
		return "", fmt.Errorf("no %q in %.60q", mark, p.rest)
	}
	p.rest = rest
	return before, nil
}

func (p *parser) element() (element, error) {
	e := element{attributes: map[string]string{}}
	if !p.take("<") {
		return e, fmt.Errorf("no element: %.60q", p.rest)
	}
	end := strings.IndexAny(p.rest, " >/")
	if end < 1 {
		return e, fmt.Errorf("no name: %.60q", p.rest)
	}
	e.name, p.rest = p.rest[:end], p.rest[end:]
	for p.take(" ") {
		if err := p.attribute(e.attributes); err != nil {
			return e, err
		}
	}
	switch {
	case p.take("/>\n"):
		return e, nil
	case !p.take(">"):
		return e, fmt.Errorf("no end of the tag: %.60q", p.rest)
	case slices.Contains(containers, e.name):
		return e, p.children(&e)
	}
	raw, err := p.until("<")
	if err != nil {
		return e, err
	}
	if e.text, err = decoded(raw); err == nil && !p.take("/"+e.name+">\n") {
		err = fmt.Errorf("%s is not closed: %.60q", e.name, p.rest)
	}
	return e, err
}

func (p *parser) children(e *element) error {
	if !p.take("\n") {
		return fmt.Errorf("text in %s: %.60q", e.name, p.rest)
	}
	for !p.take("</" + e.name + ">\n") {
		child, err := p.element()
		if err != nil {
			return err
		}
		e.children = append(e.children, child)
	}
	return nil
}

func (p *parser) attribute(to map[string]string) error {
	name, err := p.until(`="`)
	if err != nil {
		return err
	}
	raw, err := p.until(`"`)
	if err != nil {
		return err
	}
	if _, twice := to[name]; twice || strings.ContainsAny(name, " <>\"'") || strings.ContainsAny(raw, "\n\t") {
		return fmt.Errorf("attribute %q of %q", name, raw)
	}
	to[name], err = decoded(raw)
	return err
}

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`}

// decoded decodes a text.
func decoded(raw string) (string, error) {
	if strings.ContainsAny(raw, "<>") {
		return "", fmt.Errorf("a bare bracket in %q", raw)
	}
	var out strings.Builder
	for i, part := range strings.Split(raw, "&") {
		if i == 0 {
			out.WriteString(part)
			continue
		}
		name, rest, ok := strings.Cut(part, ";")
		if !ok || entities[name] == "" {
			return "", fmt.Errorf("a bare & in %q", raw)
		}
		out.WriteString(entities[name] + rest)
	}
	return out.String(), nil
}
