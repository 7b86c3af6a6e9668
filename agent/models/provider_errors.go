package models

import (
	"strings"

	"jp/agent/repo"
	"jp/internal/safetext"
	"jp/provider/catalog"
)

// KeySource is the place of a provider's key, "" without one.
func (r Providers) KeySource(e *repo.Host, name string) string {
	if command := r.repo.Config.Providers[name].KeyCommand; len(command) > 0 {
		return "what " + safetext.Escape(command[0]) + " printed (providers." + ShownName(name) + ".key_command)"
	}
	v, err := r.Vendor(name)
	if err != nil {
		return ""
	}
	for _, variable := range v.KeyEnv {
		if strings.TrimSpace(e.Get(variable)) != "" {
			return "that of $" + variable
		}
	}
	return r.keptSource(e, v)
}

// keptSource names the place of the key that jp login keeps for a provider, "" without one.
func (r Providers) keptSource(e *repo.Host, v catalog.Vendor) string {
	place := r.keptKey(e, v).place()
	if place == "" {
		return ""
	}
	return "that of jp login, " + place
}
