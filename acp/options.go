package acp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/config"
)

// modeDefault is the mode without a profile.
const modeDefault = "default"

// offerNetwork is the offer to let confined tools use the network.
const offerNetwork = "network"

// choices are the settings that the client has chosen.
type choices struct {
	mode    string
	model   string // "" for the conversation's or the configured one
	effort  string // "" for the configured one
	network bool
	changed bool // the network differs from the configuration
}

// modes are those that a client may choose. A mode in which jp asks less than by default is among them if the
// user offers it.
func (s *server) modes(r *repo.Repo) []mode {
	all := []mode{{ID: modeDefault, Name: "asks", Description: "Ask as the configuration says"}}
	about := map[string]string{
		config.ProfilePlan:  "Only read, and answer with a plan",
		config.ProfileEdits: "Write files in the working tree without a question",
		config.ProfileAuto:  "Write files, and run programs of the sandbox without network, without a question",
	}
	for _, name := range r.Config.ProfileNames() {
		p, _ := r.Config.FindProfile(name)
		if name != modeDefault && (!asksLess(name, p) || slices.Contains(s.Offers, name)) {
			m := mode{ID: name, Name: name, Description: about[name]}
			if m.Description == "" {
				m.Description = "The profile " + name
			}
			all = append(all, m)
		}
	}
	return all
}

// asksLess reports whether jp asks less with a profile than without.
func asksLess(name string, p config.Profile) bool {
	if name == config.ProfileEdits || name == config.ProfileAuto || len(p.Policy.Allow) > 0 || p.Policy.Readers || p.Policy.Detached != "" {
		return true
	}
	for t := range maps.Values(p.Tools) {
		if t.Run == "unattended" || t.Result == "unattended" {
			return true
		}
	}
	return false
}

// modelChoices are the models that a client may choose.
func modelChoices(r *repo.Repo, now string) (all []configChoice) {
	all = []configChoice{{Value: "default", Name: "As configured"}}
	add := func(model, name string) {
		if model != "" && !slices.ContainsFunc(all, func(c configChoice) bool { return c.Value == model }) {
			all = append(all, configChoice{Value: model, Name: name})
		}
	}
	add(r.Config.ResolveModel(r.Config.Model), r.Config.ResolveModel(r.Config.Model))
	for _, alias := range slices.Sorted(maps.Keys(r.Config.Aliases)) {
		model := r.Config.ResolveModel(alias)
		add(model, alias+" ("+model+")")
	}
	add(now, now)
	return all
}

// efforts are how much a model may think.
var efforts = []configChoice{{"default", "As configured"}, {"off", "Off"}, {"low", "Low"}, {"medium", "Medium"}, {"high", "High"}, {"max", "Most"}}

// options are the client's choices, with the present values.
func (s *session) options(r *repo.Repo, c choices) []configOption {
	or := func(value string) string {
		if value == "" {
			return "default"
		}
		return value
	}
	all := []configOption{
		{ID: "model", Name: "Model", Category: "model", Type: "select", CurrentValue: or(c.model), Options: modelChoices(r, c.model)},
		{ID: "effort", Name: "Reasoning", Category: "thought_level", Type: "select", CurrentValue: or(c.effort), Options: efforts},
	}
	if !r.Config.Sandbox.Network && !c.changed && !slices.Contains(s.server.Offers, offerNetwork) {
		return all
	}
	network := configOption{ID: "network", Name: "Network", Description: "Let confined tools use the network", Category: "_jp", Type: "boolean", CurrentValue: c.network}
	if !s.server.can("session", "configOptions", "boolean") {
		network.Type, network.CurrentValue = "select", map[bool]string{true: "on", false: "off"}[c.network]
		network.Options = []configChoice{{"off", "Off"}, {"on", "On"}}
	}
	return append(all, network)
}

// opened is the answer to a client that opens a session.
func (s *session) opened(r *repo.Repo) opened {
	c := s.chosen()
	return opened{Modes: &modeState{CurrentModeID: c.mode, AvailableModes: s.server.modes(r)}, ConfigOptions: s.options(r, c)}
}

// chosen are the choices now.
func (s *session) chosen() choices {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choices
}

func (s *server) setMode(ctx context.Context, p setModeRequest) (any, error) {
	open, r, err := s.openAgain(ctx, p.SessionID)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !slices.ContainsFunc(s.modes(r), func(m mode) bool { return m.ID == p.ModeID }) {
		return nil, invalid("there is no mode %q to choose. A mode in which jp asks less is chosen where jp acp is started with --offer", p.ModeID)
	}
	open.mu.Lock()
	open.choices.mode = p.ModeID
	if open.modes != nil {
		open.modes.Choose(strings.TrimPrefix(open.began, modeDefault), strings.TrimPrefix(p.ModeID, modeDefault))
	}
	open.mu.Unlock()
	return struct{}{}, nil
}

// openAgain finds an open session, and opens its repository.
func (s *server) openAgain(ctx context.Context, id string) (*session, *repo.Repo, error) {
	open := s.session(id)
	if open == nil {
		return nil, nil, s.notOpen(id)
	}
	r, err := s.open(ctx, open.dir, nil)
	return open, r, err
}

func (s *server) setConfig(ctx context.Context, p setConfigRequest) (any, error) {
	open, r, err := s.openAgain(ctx, p.SessionID)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := open.chosen()
	all := open.options(r, c)
	at := slices.IndexFunc(all, func(o configOption) bool { return o.ID == p.ConfigID })
	if at < 0 {
		return nil, invalid("there is no option %q to choose", p.ConfigID)
	}
	var word string
	var on bool
	if all[at].Type == "boolean" {
		if json.Unmarshal(p.Value, &on) != nil {
			return nil, invalid("the value of %s is not true or false", p.ConfigID)
		}
	} else if json.Unmarshal(p.Value, &word) != nil || !slices.ContainsFunc(all[at].Options, func(o configChoice) bool { return o.Value == word }) {
		return nil, invalid("%s is not among the values of %s", p.Value, p.ConfigID)
	}
	if word == "default" {
		word = ""
	}
	switch p.ConfigID {
	case "model":
		c.model = word
	case "effort":
		c.effort = word
	case "network":
		c.network = on || word == "on"
		c.changed = c.network != r.Config.Sandbox.Network
	}
	open.mu.Lock()
	c.mode = open.choices.mode
	open.choices = c
	open.mu.Unlock()
	return setConfigResponse{open.options(r, c)}, nil
}
