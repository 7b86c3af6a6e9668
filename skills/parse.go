// Package skills finds the folders in which users and repositories keep texts that a model may read when it
// needs them: SKILL.md, by agentskills.io. It finds them, checks them and reads their files. A skill is a
// text. It gives no rights, and is never run.
package skills

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"jp/internal/lazy"
)

// Bounds of the format, in characters but for the front matter.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
	maxFront         = 64 << 10 // bytes
)

// fields are those that the format knows.
var fields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

var validName = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// A manifest is the content of a SKILL.md.
type manifest struct {
	name        string
	description string
	body        string
	warnings    []string // mistakes by the format's validator
}

// parse reads the text of a SKILL.md. It takes the valid parts, and warns of the rest.
func parse(folder, text string) manifest {
	var m manifest
	front, body, ok := split(text)
	m.body = body
	if !ok {
		m.warn("it has no front matter between two lines of ---")
		return m
	}
	if len(front) > maxFront {
		m.warn("its front matter is larger than 64 KiB")
		return m
	}
	values, err := decode(front)
	if err != nil {
		m.warn("its front matter is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		values = lines(front)
	}
	m.take(folder, values)
	return m
}

func (m *manifest) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// split parts the front matter from the text behind it.
func split(text string) (front, body string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", text, false
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:at], rest[at+len(line):], true
		}
		at += len(line)
	}
	return "", text, false
}

// A value is that of one field.
type value struct {
	field string
	text  string
	kind  yaml.Kind
	plain bool // a text, rather than a number, truth value or null
	table bool // of texts
}

func decode(front string) ([]value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(front), &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is no table of fields")
	}
	var values []value
	for fields := doc.Content[0].Content; len(fields) >= 2; fields = fields[2:] {
		v := value{field: fields[0].Value, text: fields[1].Value, kind: fields[1].Kind, plain: fields[1].Tag == "!!str"}
		v.table = v.kind == yaml.MappingNode && !slices.ContainsFunc(fields[1].Content, func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode })
		values = append(values, v)
	}
	return values, nil
}

var fieldLine = lazy.Regexp(`^([a-z-]+):[ \t]+(.*)$`)

// lines reads the fields of a front matter that is almost YAML, such as a description with a colon.
func lines(front string) (values []value) {
	for line := range strings.Lines(front) {
		if found := fieldLine().FindStringSubmatch(strings.TrimRight(line, " \t\n")); found != nil {
			text := strings.Trim(found[2], `"'`)
			values = append(values, value{field: found[1], text: text, kind: yaml.ScalarNode, plain: true})
		}
	}
	return values
}

func (m *manifest) take(folder string, values []value) {
	for _, v := range values {
		scalar := v.kind == yaml.ScalarNode && v.plain
		switch v.field {
		case "name":
			m.name = v.text
		case "description":
			if scalar {
				m.description = strings.Join(strings.Fields(v.text), " ")
			}
		case "compatibility":
			if !scalar || utf8.RuneCountInString(v.text) > maxCompatibility {
				m.warn("compatibility must be a text of at most %d characters", maxCompatibility)
			}
		case "metadata":
			if !v.table {
				m.warn("metadata must be a table of texts")
			}
		case "license", "allowed-tools":
			if !scalar {
				m.warn("%s must be a text", v.field)
			}
		default:
			if !slices.Contains(fields, v.field) {
				m.warn("unknown field %q", bounded(v.field, maxName))
			}
		}
	}
	switch {
	case m.name == "":
		m.warn("it has no name")
	case m.name != folder:
		m.warn("its name is %q, and its folder %q", bounded(m.name, maxName), folder)
	}
	if m.name != "" && (!validName().MatchString(m.name) || len(m.name) > maxName) {
		m.warn("its name must have 1 to %d lower-case letters, digits and single hyphens between them", maxName)
	}
	switch n := utf8.RuneCountInString(m.description); {
	case n == 0:
		m.warn("it has no description")
	case n > maxDescription:
		m.warn("its description has %d characters, more than %d", n, maxDescription)
	}
}

// bounded is the beginning of a text.
func bounded(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
