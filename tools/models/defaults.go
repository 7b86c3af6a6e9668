package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// tables are the providers of jp whose models have another provider's facts.
var tables = map[string]string{"kimi": "moonshot", "glm": "zai"}

// addDefaults reads the models that jp asks by default. Each must be in the table, except a name that moves
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

// confirmPrices leaves out the prices of OpenRouter that no other provider has. The module takes each
// number from the cheapest of a model's hosts, and from batches: an answer may cost twice as much or more.
func (t *table) confirmPrices() {
	makers := map[string]string{"x-ai": "xai", "moonshotai": "moonshot", "z-ai": "zai", "mistralai": "mistral", "qwen": "alibaba", "meta-llama": "meta"}
	known := map[string][]price{}
	for provider, models := range t.models {
		for id, m := range models {
			key := provider + "/" + plain(id)
			if provider == "vercel" {
				key = plain(id) // it begins with the maker
			}
			if provider != "openrouter" {
				known[key] = append(known[key], m.Price)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.models["openrouter"])) {
		m := t.models["openrouter"][id]
		maker, name, _ := strings.Cut(id, "/")
		of := maker + "/" + plain(name)
		if other, is := makers[maker]; is {
			known[of] = append(known[of], known[other+"/"+plain(name)]...)
		}
		same := func(p price) bool { return p.In == m.Price.In && p.Out == m.Price.Out }
		if m.Price.In == "" || m.Price.In == "0" && m.Price.Out == "0" || slices.ContainsFunc(known[of], same) {
			continue
		}
		t.odd = append(t.odd, fmt.Sprintf("openrouter/%s: no other provider has %s in, %s out", id, m.Price.In, m.Price.Out))
		m.Price = price{}
		t.models["openrouter"][id] = m
	}
}

var ofDate = regexp.MustCompile(`-20\d{6}$`)

// plain is an id without its date, as providers have it in common.
func plain(id string) string {
	return strings.ReplaceAll(strings.ToLower(ofDate.ReplaceAllString(id, "")), ".", "-")
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
