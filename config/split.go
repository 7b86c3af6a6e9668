package config

import "time"

// SplitOverrides parts --cfg overrides into what a conversation may keep, as a
// config_delta's JSON value, and what holds for this process only: its
// security keys, as overrides again. delta is nil if there is nothing to keep.
func SplitOverrides(overrides []string) (delta map[string]any, process []string, err error) {
	settings, wrong := overrideSettings(overrides)
	if wrong != nil {
		return nil, nil, wrong
	}
	for _, s := range settings {
		if s.node.security {
			process = append(process, s.key()+"="+tomlText(s.value))
			continue
		}
		if delta == nil {
			delta = map[string]any{}
		}
		setBelow(delta, s.path, jsonValue(s.value))
	}
	return delta, process, nil
}

func setBelow(table map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		below, ok := table[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			table[name] = below
		}
		table = below
	}
	table[path[len(path)-1]] = value
}

func jsonValue(v any) any {
	if d, ok := v.(time.Duration); ok {
		return durationText(d)
	}
	return v
}
