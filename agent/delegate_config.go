package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/agent/toolset"
	"jp/conversation"
	"jp/tool"
	"jp/tool/work"
)

// inheritance is the event by which a child has the configuration of its parent, with its own tools and
// budget. It excludes keys that may not come from events, which the child reads from the same files as its
// parent.
func (e *turn) inheritance(t work.Task) (*conversation.Event, error) {
	delta := map[string]any{}
	for _, event := range conversation.AfterAdoption(e.history.stream.Events()) {
		if b, ok := event.Body.(*conversation.ConfigDelta); ok {
			var one map[string]any
			if json.Unmarshal(b.Delta, &one) == nil {
				merge(delta, one)
			}
		}
	}
	tools, err := e.toolSwitches(t.Tools)
	if err != nil {
		return nil, err
	}
	merge(delta, map[string]any{"tools": tools})
	delete(delta, "model") // it is in the turn's start
	if t.Budget > 0 {
		merge(delta, map[string]any{"limits": map[string]any{"tokens": t.Budget}})
	}
	text, err := json.Marshal(delta)
	return &conversation.Event{Body: &conversation.ConfigDelta{Delta: text}}, err
}

// toolSwitches switch a child's tools on or off: all of its parent's, or only the named ones. An unknown name
// is an error.
func (e *turn) toolSwitches(named []string) (map[string]any, error) {
	all, err := e.allTools()
	if err != nil {
		return nil, err
	}
	for _, name := range named {
		if _, ok := e.registry.Lookup(name); !ok {
			return nil, &refusedTask{fmt.Sprintf("there is no tool %q to work with; there are %s", name, strings.Join(childTools(e.registry), ", "))}
		}
	}
	if named == nil {
		named = childTools(e.registry)
	}
	named = append(slices.Clone(named), work.StateName)
	tools := map[string]any{}
	for _, def := range all.Definitions() {
		on := slices.Contains(named, def.Name)
		if on != toolset.Enabled(def.Name, e.run.repo.Config.Tools) {
			tools[def.Name] = map[string]any{"enable": on}
		}
	}
	return tools, nil
}

// childTools are the tools that a child can be given.
func childTools(of *tool.Registry) []string {
	var names []string
	for _, def := range of.Definitions() {
		if def.Name != work.DelegateName {
			names = append(names, def.Name)
		}
	}
	return names
}

// merge adds one table to another, key by key.
func merge(to, from map[string]any) {
	for key, value := range from {
		inner, isTable := value.(map[string]any)
		below, wasTable := to[key].(map[string]any)
		if isTable {
			if !wasTable {
				below = map[string]any{}
			}
			merge(below, inner)
			value = below
		}
		to[key] = value
	}
}
