package models

import "jp/provider/catalog"

// facts are the entry of a model, "provider/name", in the table of models, or the zero value.
func (r Providers) facts(model string) catalog.Model { return r.factsIn(r.Table(), model) }

func (r Providers) factsIn(t catalog.Table, model string) catalog.Model {
	vendor, name, named := CutModel(model)
	if !named || vendor == Scripted || vendor == Replayed {
		return catalog.Model{}
	}
	v, err := r.repo.Found(vendor)
	if err != nil {
		return catalog.Model{} // the model call reports the error
	}
	return t.Model(v, name)
}

// Levels are the words for how much a model thinks that the table has for it, from the least.
func (r Providers) Levels(model string) []string { return r.facts(model).Levels }
