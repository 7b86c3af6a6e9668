package models

import (
	"context"

	"jp/agent/repo"
)

// Check fails if a model, "provider/name", cannot be asked, as far as jp knows offline and without running
// the program that prints a key.
func Check(ctx context.Context, r *repo.Repo, model string) error {
	vendor, _, named := CutModel(model)
	if !named || vendor == Scripted || vendor == Replayed {
		_, err := openModel(ctx, r.Env, r, model)
		return err
	}
	v, err := ProvidersOf(r).Vendor(vendor)
	if err != nil {
		return err
	}
	if _, _, err := ProvidersOf(r).key(r.Env, v); err != nil {
		return err
	}
	return NeedsPrice(r, model)
}
