package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// tables are the providers of jp whose models have another provider's facts.
var tables = map[string]string{"kimi": "moonshot", "glm": "zai"}

// addDefaults reads the models that jp asks where the user names none. Each must be in the table, but for a name that moves
// on by itself.
func (t *table) addDefaults(file string) error {
	if _, err := toml.DecodeFile(file, &t.defaults); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.defaults)) {
		d := t.defaults[name]
		if len(d.Large) == 0 {
			return fmt.Errorf("%s: %s has no large model", file, name)
		}
		for _, c := range slices.Concat(d.Large, d.Small) {
			from := name
			if other, ok := tables[name]; ok {
				from = other
			}
			if _, known := t.models[from][c.ID]; !known && !strings.HasSuffix(c.ID, "-latest") {
				return fmt.Errorf("%s: %s has no model %q", file, name, c.ID)
			}
			if c.Ends != "" {
				if _, err := time.Parse(time.DateOnly, c.Ends); err != nil {
					return fmt.Errorf("%s: %s: %w", file, name, err)
				}
			}
		}
	}
	return nil
}

// copyMistral gives Mistral's own models the facts that OpenRouter has of them: the module has no configuration of Mistral.
func (t *table) copyMistral() {
	if _, there := t.models["mistral"]; there {
		return
	}
	own := map[string]model{}
	for id, m := range t.models["openrouter"] {
		if name, of := strings.CutPrefix(id, "mistralai/"); of && !strings.Contains(name, ":") {
			own[name] = m
		}
	}
	t.models["mistral"] = own
}
