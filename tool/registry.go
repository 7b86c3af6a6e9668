package tool

import (
	"fmt"
	"maps"
	"slices"

	"jp/internal/lazy"
)

var validName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// A Registry is a fixed set of tools, ordered by name. It does not change, so
// several goroutines may use it.
type Registry struct {
	tools map[string]Tool
	names []string // sorted
}

// NewRegistry makes a registry of the tools and prepares their schemas for
// [Check]. Errors are [ErrInvalidName], [ErrDuplicate] and [ErrInvalidSchema].
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
		if err := def.prepare(); err != nil {
			return nil, fmt.Errorf("register tool %s: %w", def.Name, err)
		}
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

// Definitions returns what [Registry.All] is, in the same order.
func (r *Registry) Definitions() []*Definition {
	defs := make([]*Definition, len(r.names))
	for i, name := range r.names {
		defs[i] = r.tools[name].Definition()
	}
	return defs
}

// Only returns a registry of the named tools. A name that is not there is
// [ErrUnknown].
func (r *Registry) Only(names ...string) (*Registry, error) {
	return r.keep(names, func(name string) bool { return slices.Contains(names, name) })
}

// Without returns a registry of all tools but the named ones. A name that is
// not there is [ErrUnknown].
func (r *Registry) Without(names ...string) (*Registry, error) {
	return r.keep(names, func(name string) bool { return !slices.Contains(names, name) })
}

// keep returns a registry of the tools that wanted says yes to, after a check
// that the names which the caller gave exist.
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
