package models

import "jp/agent/repo"

// SmallModel is a cheap model for short texts of a model's provider, at the address that jp knows of that
// provider. It is "" without one: for the script provider, a gateway, or a server at an address of the
// configuration.
func (r Providers) SmallModel(e *repo.Host, model string) string {
	vendor, _, named := CutModel(model)
	if !named || vendor == Scripted || vendor == Replayed || r.repo.Config.Providers[vendor].BaseURL != "" {
		return ""
	}
	v, err := r.Vendor(vendor)
	if err != nil {
		return ""
	}
	if small := v.SmallModel(e.Now()); small != "" {
		return vendor + "/" + small
	}
	return ""
}
