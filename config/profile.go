package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Profiles of jp's own. Their names are taken.
const (
	ProfilePlan  = "plan"  // only tools that read are run
	ProfileEdits = "edits" // tools that change files run without a question if jp can bring the files back
	ProfileAuto  = "auto"  // tools that change files, and programs of the sandbox without network, run without a question
)

// builtin are jp's own profiles. Their effect on tools is up to the code that offers the tools.
var builtin = map[string]Profile{
	ProfilePlan:  {Instructions: "The user wants a plan. Read what you need, change nothing, and answer with the steps that you would take. Calls of tools that may change something are not run."},
	ProfileEdits: {},
	ProfileAuto:  {},
}

// ProfileNames are the profiles that there are: jp's own, then the user's.
func (c *Config) ProfileNames() []string {
	return append([]string{ProfilePlan, ProfileEdits, ProfileAuto}, slices.Sorted(maps.Keys(c.Profiles))...)
}

// FindProfile finds a profile by its name.
func (c *Config) FindProfile(name string) (Profile, bool) {
	if p, ok := builtin[name]; ok {
		return p, true
	}
	p, ok := c.Profiles[name]
	return p, ok
}

// readDefaultProfile reads the profile that is in use unless it is said otherwise.
func (l *loader) readDefaultProfile(Options) ([]setting, *Error) {
	if l.config.Profile == "" {
		return nil, nil
	}
	return l.profileSettings(l.config.Profile, l.report.Origins["profile"])
}

// readProfiles reads those of this process.
func (l *loader) readProfiles(opts Options) (all []setting, err *Error) {
	had := map[string]string{}
	for key, origin := range l.report.Origins {
		if origin.Layer == LayerConversation {
			had[key] = l.report.Values[key]
		}
	}
	lasting := map[string]any{}
	for _, name := range opts.Profiles {
		settings, err := l.profileSettings(name, Origin{Layer: LayerProfile, Name: "-p"})
		if err != nil {
			return nil, err
		}
		for _, s := range settings {
			if !s.node.security {
				put := lasting
				for _, part := range s.path[:len(s.path)-1] {
					if put[part] == nil {
						put[part] = map[string]any{}
					}
					put = put[part].(map[string]any)
				}
				if last := s.path[len(s.path)-1]; had[s.key()] == tomlText(s.value) {
					delete(put, last)
				} else {
					put[last] = s.value
				}
			}
		}
		all = append(all, settings...)
	}
	l.report.Lasting = pruned(lasting)
	return all, nil
}

// pruned is a table without empty tables.
func pruned(table map[string]any) map[string]any {
	for key, value := range table {
		if inner, ok := value.(map[string]any); ok && len(pruned(inner)) == 0 {
			delete(table, key)
		}
	}
	return table
}

// profileSettings are a profile's keys, as the keys that they stand for.
func (l *loader) profileSettings(name string, o Origin) (settings []setting, err *Error) {
	if _, ok := l.config.FindProfile(name); !ok {
		return nil, &Error{Origin: o, Key: "profile", Text: fmt.Sprintf("there is no profile %s (there are %s)", quote(name), strings.Join(l.config.ProfileNames(), ", ")), kind: ErrProfile}
	}
	l.report.Profiles = append(l.report.Profiles, name)
	if _, own := builtin[name]; own {
		return nil, nil
	}
	prefix := joinKey([]string{"profiles", name}) + "."
	for _, key := range sortedKeys(l.values) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || rest == "instructions" {
			continue
		}
		path, _ := parseKey(rest)
		n, _ := schema().find(path)
		origin := l.report.Origins[key]
		origin.Layer = LayerProfile
		if origin.Name == "" {
			origin.Name = "profile " + name
		}
		settings = append(settings, setting{path: path, node: n, value: l.values[key], origin: origin})
	}
	return settings, nil
}
