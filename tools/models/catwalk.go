package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// A configuration is one provider of the module.
type configuration struct {
	ID       string
	Type     string
	Endpoint string `json:"api_endpoint"`
	Key      string `json:"api_key"`
	Models   []struct {
		ID     string
		In     float64  `json:"cost_per_1m_in"`
		Out    float64  `json:"cost_per_1m_out"`
		Cached float64  `json:"cost_per_1m_in_cached"`
		Other  float64  `json:"cost_per_1m_out_cached"`
		Window int      `json:"context_window"`
		Output int      `json:"default_max_tokens"`
		Levels []string `json:"reasoning_levels"`
		Images *bool    `json:"supports_attachments"`
	}
}

// renamed are providers that jp calls otherwise.
var renamed = map[string]string{"gemini": "google"}

// copilot is left out: it is asked with the subscription of a person.
const copilot = "copilot"

// protocols are those of the module's types that jp speaks.
var protocols = map[string]string{"openai": "openai-chat", "openai-compat": "openai-chat", "openrouter": "openai-chat", "vercel": "openai-chat", "anthropic": "anthropic"}

func (t *table) readModule(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	t.providers, t.models = map[string]provider{}, map[string]map[string]model{}
	for _, f := range z.File {
		if ok, _ := path.Match("*/internal/providers/configs/*.json", strings.TrimPrefix(f.Name, "charm.land/")); !ok {
			continue
		}
		if err := t.readConfiguration(f); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
	}
	if len(t.models) == 0 {
		return fmt.Errorf("%s has no configurations: its layout has changed", file)
	}
	return nil
}

func (t *table) readConfiguration(f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var c configuration
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	if c.ID == copilot {
		return nil
	}
	name := c.ID
	if other, ok := renamed[name]; ok {
		name = other
	}
	env, hasKey := strings.CutPrefix(c.Key, "$")
	if protocol := protocols[c.Type]; protocol != "" && hasKey && strings.HasPrefix(c.Endpoint, "https://") {
		t.providers[name] = provider{API: strings.TrimSuffix(c.Endpoint, "/"), Protocol: protocol, Env: env}
	}
	models := map[string]model{}
	for _, m := range c.Models {
		p, why := priceOf(m.ID, m.In, m.Out, m.Cached, m.Other)
		if why != "" {
			t.odd = append(t.odd, name+"/"+m.ID+": "+why)
		}
		if m.Window < 1000 || m.Window > 20_000_000 {
			t.odd, m.Window = append(t.odd, fmt.Sprintf("%s/%s: a window of %d", name, m.ID, m.Window)), 0
		}
		models[m.ID] = model{Price: p, Window: m.Window, Output: m.Output, Images: m.Images, Levels: m.Levels}
	}
	t.models[name] = models
	return nil
}

// priceOf reads the four numbers of a model. The module gives the two prices of caches in an order that
// differs by provider, so their size tells: about the input's price or more is for writing, less is for
// reading. The text says why a number was ignored.
func priceOf(id string, in, out, a, b float64) (p price, why string) {
	if in == 0 && out == 0 {
		if strings.HasSuffix(id, "free") {
			return price{In: "0", Out: "0"}, ""
		}
		return price{}, ""
	}
	if in < 0 || out < 0 || in > 1000 || out > 1000 {
		return price{}, fmt.Sprintf("%v in, %v out is no price", in, out)
	}
	p = price{In: amount(in), Out: amount(out)}
	for _, cached := range []float64{a, b} {
		into := &p.Read
		switch n := amount(cached); {
		case cached == 0:
			continue
		case cached < 0 || cached > 2*in:
			why = fmt.Sprintf("cached %v for an input of %v", cached, in)
			continue
		case cached >= 0.99*in:
			into = &p.Write
			fallthrough
		default:
			if *into != "" && *into != n {
				return price{In: p.In, Out: p.Out}, fmt.Sprintf("cached %v and %v for an input of %v", a, b, in)
			}
			*into = n
		}
	}
	return p, why
}
