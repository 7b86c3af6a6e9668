package doctor

import (
	"strings"
	"time"

	"jp/agent/action"
	"jp/conversation"
)

// A Provider is the state of a provider, and the result of asking it.
type Provider struct {
	Name  string
	Host  string // of its endpoint
	Local bool   // the endpoint is on this machine
	Key   string // where the key comes from: a variable's name or "key_command"; "" where there is none
	Wants string // what it lacks where there is no key, "" where it works without
	Wrong error  // why its settings make no sense

	Asked bool
	Took  time.Duration // until it answered
	Err   error         // why it did not answer
}

// usable reports whether a model of it can be asked, as far as is known.
func (p Provider) usable() bool {
	return p.Wrong == nil && p.Err == nil && (p.Key != "" || p.Wants == "" && p.Asked)
}

// Providers are all of them.
type Providers struct {
	All      []Provider
	Scripted bool   // the configured model needs none of them
	Model    string // the configured model, "PROVIDER/NAME", "" where there is none
	Net      bool   // others than those on this machine were asked, too
}

// Findings judges the providers: those that have a key one by one, the others
// together.
func (ps Providers) Findings() (all []Finding) {
	var without, silent []string
	any := ps.Scripted
	for _, p := range ps.All {
		any = any || p.usable()
		switch {
		case p.Wrong != nil:
			all = append(all, found(Warn, "providers", "%s: %v", p.Name, p.Wrong))
		case p.Key == "" && p.Wants != "":
			without = append(without, p.Name+" ("+p.Wants+")")
		case p.Key == "" && p.Err != nil:
			silent = append(silent, p.Name+" ("+p.Host+")")
		default:
			all = append(all, p.finding())
		}
	}
	if len(without) > 0 {
		all = append(all, found(OK, "providers", "without a key: %s", strings.Join(without, ", ")))
	}
	if len(silent) > 0 {
		all = append(all, found(OK, "providers", "not running here: %s", strings.Join(silent, ", ")))
	}
	if !ps.Net {
		all = append(all, found(OK, "network", "nothing was sent over it; %s asks the providers that have a key, without sending it", action.DoctorNet))
	}
	if chosen := ps.chosen(); any && chosen != nil {
		all = append(all, *chosen)
	}
	if !any {
		all = append(all, found(Warn, "providers", "there is no model to ask: no provider has a key, and none runs here").
			advise("%s or another one's; %s works without", action.SetKey("ANTHROPIC_API_KEY"), action.AskDemo))
	}
	return all
}

// chosen says why the configured model cannot be asked, nil where it can, as far as
// is known.
func (ps Providers) chosen() *Finding {
	name, _, _ := strings.Cut(ps.Model, "/")
	for _, p := range ps.All {
		if p.Name != name || ps.Scripted {
			continue
		}
		var f Finding
		switch {
		case p.Wrong != nil: // said
			return nil
		case p.Key == "" && p.Wants != "":
			f = found(Warn, "model", "%s cannot be asked: %s", ps.Model, p.Wants).advise("set the key, or choose another: %s", action.SetModel)
		case p.Err != nil:
			f = found(Warn, "model", "%s cannot be asked: %s does not answer: %v", ps.Model, p.Host, p.Err).advise("start the server, or look at providers.%s.base_url", name)
		default:
			return nil
		}
		return &f
	}
	return nil
}

// finding judges one that can be asked.
func (p Provider) finding() Finding {
	key := "no key needed"
	if p.Key != "" {
		key = "key from " + p.Key
	}
	switch {
	case p.Err != nil:
		return found(Warn, "providers", "%s: %s, and %s does not answer: %v", p.Name, key, p.Host, p.Err).advise("look whether the address, the network or a proxy is wrong")
	case p.Asked:
		return found(OK, "providers", "%s: %s, %s answers (%s)", p.Name, key, p.Host, conversation.Ago(p.Took))
	}
	return found(OK, "providers", "%s: %s, endpoint %s", p.Name, key, p.Host)
}
