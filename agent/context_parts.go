package agent

import (
	"context"

	"jp/agent/repo"
)

// ContextUse is the part of a model's context that the next request would fill.
type ContextUse struct {
	Model  string // PROVIDER/NAME
	Window int    // tokens that the model can read; 0: unknown
	Kinds  map[ContextKind]int
}

// Tokens is the sum of the kinds, an estimate.
func (u ContextUse) Tokens() (sum int) {
	for _, n := range u.Kinds {
		sum += n
	}
	return sum
}

// ContextByKind sums up the content of the next request by kind, as [Preview] does. The sum is the newest
// model call's input, if that is known, as in [ContextOf].
func ContextByKind(ctx context.Context, r *repo.Repo, o Request, front Frontend) (ContextUse, error) {
	o.Input.Text = []string{"?"} // a request has some words
	p, err := Preview(ctx, r, o, front)
	u := ContextUse{Model: p.Model, Window: p.Window, Kinds: map[ContextKind]int{}}
	for _, part := range p.Parts {
		for kind, n := range part.kinds {
			u.Kinds[kind] += n
		}
	}
	if err != nil || o.Target.ID == "" {
		return u, err
	}
	v, err := r.Find().ViewBack(ctx, r.Env, o.Target.ID, KnowsContext)
	if err != nil {
		return u, err
	}
	if share := ContextOf(ctx, r, v.Events); share != nil {
		u.scale(share.Tokens)
	}
	return u, nil
}

// scale makes another number the sum of the kinds, which keep their parts of it.
func (u ContextUse) scale(sum int) {
	was, largest := max(u.Tokens(), 1), ContextSystem
	for kind, n := range u.Kinds {
		if n > u.Kinds[largest] {
			largest = kind
		}
		u.Kinds[kind] = n * sum / was
	}
	u.Kinds[largest] += sum - u.Tokens()
}
