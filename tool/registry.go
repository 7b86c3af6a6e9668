package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/internal/lazy"
)

var validName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// A Registry is a fixed set of tools, ordered by name. Several goroutines may use it, since it never changes.
type Registry struct {
	tools map[string]Tool
	names []string // sorted
}

// NewRegistry makes a registry of the tools and prepares their schemas for
// [Check], which reports an invalid one. Errors are [ErrInvalidName] and [ErrDuplicate].
// Registries that share a tool must be made one after the other.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		def := t.Definition()
		if !validName().MatchString(def.Name) {
			return nil, fmt.Errorf("register tool %q: %w", def.Name, ErrInvalidName)
		}
		if _, taken := r.tools[def.Name]; taken {
			return nil, fmt.Errorf("register tool %s: %w", def.Name, ErrDuplicate)
		}
		def.prepare()
		r.tools[def.Name] = t
	}
	r.names = slices.Sorted(maps.Keys(r.tools))
	return r, nil
}

// Lookup returns the tool of that exact name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	t, ok := r.tools[name]
	return t, ok
}

// All returns the tools in the order of their names.
func (r *Registry) All() []Tool {
	all := make([]Tool, len(r.names))
	for i, name := range r.names {
		all[i] = r.tools[name]
	}
	return all
}

// Definitions returns the definitions of [Registry.All], in the same order.
func (r *Registry) Definitions() []*Definition {
	defs := make([]*Definition, len(r.names))
	for i, name := range r.names {
		defs[i] = r.tools[name].Definition()
	}
	return defs
}

// Only returns a registry of the named tools. An unknown name is [ErrUnknown].
func (r *Registry) Only(names ...string) (*Registry, error) {
	return r.keep(names, func(name string) bool { return slices.Contains(names, name) })
}

// Without returns a registry of all tools but the named ones. An unknown name is [ErrUnknown].
func (r *Registry) Without(names ...string) (*Registry, error) {
	return r.keep(names, func(name string) bool { return !slices.Contains(names, name) })
}

// keep returns a registry of the tools that wanted accepts, after a check that the given names exist.
func (r *Registry) keep(given []string, wanted func(string) bool) (*Registry, error) {
	for _, name := range given {
		if _, ok := r.tools[name]; !ok {
			return nil, fmt.Errorf("select tool %q: %w", name, ErrUnknown)
		}
	}
	kept := &Registry{tools: make(map[string]Tool)}
	for _, name := range r.names {
		if wanted(name) {
			kept.tools[name] = r.tools[name]
			kept.names = append(kept.names, name)
		}
	}
	return kept, nil
}

// Nearest is the name that is most like another, "" if all differ much.
func (r *Registry) Nearest(name string) string {
	const longest = 64
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' || r == '/' }) { // functions.NAME:0
		for _, candidate := range r.names {
			if foldName(candidate) == foldName(part) {
				return candidate
			}
		}
	}
	name = foldName(name)
	if len(name) > 2*longest {
		return ""
	}
	nearest, least := "", 0
	for _, candidate := range r.names {
		folded := foldName(candidate)
		distance := editDistance(name, folded)
		alike := distance <= max(len(name), len(folded))/3 || len(name) > 3 && strings.Contains(folded, name)
		if alike && (nearest == "" || distance < least) {
			nearest, least = candidate, distance
		}
	}
	return nearest
}

// foldName drops the differences that models often confuse: case and separators.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(name))
}

// editDistance is how many bytes have to be inserted, left out or replaced to make b
// of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
