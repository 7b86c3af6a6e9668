package agent

import (
	"context"

	"jp/agent/models"
)

// chooseModel is the model to ask: the flag's, the conversation's, the
// configured one, the first that can be asked.
func (q *query) chooseModel(ctx context.Context) (string, error) {
	for _, name := range []string{q.opts.Model, q.stream.Model(), q.leftModel, q.repo.Config.Model} {
		if name != "" {
			return q.fullName(ctx, q.repo.Config.ResolveModel(name)), nil
		}
	}
	return models.ProvidersOf(q.repo).UsualModel(ctx, q.env)
}

// fullName names a conversation that is said again by its whole id: any other name of it
// may be another one's tomorrow.
func (q *query) fullName(ctx context.Context, model string) string {
	if vendor, word, ok := models.CutModel(model); ok && vendor == models.Replayed {
		if id, err := q.repo.Find().Resolve(ctx, q.env, word); err == nil {
			return models.Replayed + "/" + string(id)
		}
	}
	return model // opening it says what is wrong
}
