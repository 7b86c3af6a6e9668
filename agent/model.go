package agent

import (
	"cmp"
	"context"

	"jp/agent/models"
	"jp/agent/repo"
	"jp/conversation"
)

// RequireModel fails if a first request has no model to ask: the request and the configuration name none, no
// provider has a key, and no Ollama runs here. Its error says how to get one.
func RequireModel(ctx context.Context, r *repo.Repo, o Request) error {
	if o.Turn.Model != "" || len(o.Turn.Profiles) > 0 || r.Config.Model != "" || r.Wrong != nil {
		return nil // the turn reports the wrong settings
	}
	_, err := models.ProvidersOf(r).UsualModel(ctx, r.Env)
	return err
}

// NextModel is the model that a request asks of a conversation with a recorded model, as [history.chooseModel]
// chooses it: the flag's, that of a profile of the command line, the recorded one.
func NextModel(r *repo.Repo, o Request, recorded string) string {
	name := o.Turn.Model
	for _, profile := range o.Turn.Profiles {
		if p, ok := r.Config.FindProfile(profile); ok && o.Turn.Model == "" && p.Model != "" {
			name = p.Model
		}
	}
	return r.Config.ResolveModel(cmp.Or(name, recorded))
}

// nextModelOf is the model that a request without options asks of a conversation, "" if only the
// keys of providers tell.
func nextModelOf(r *repo.Repo, events []*conversation.Event) string {
	return r.Config.ResolveModel(cmp.Or(conversation.ModelOf(events), r.Config.Model))
}

// chooseModel is the model to ask: the flag's, the conversation's, the configured one, the first available
// one. It names a replayed conversation by its whole id, since any other name of it may belong to another one
// tomorrow.
func (l *history) chooseModel(ctx context.Context) (string, error) {
	for _, name := range []string{l.run.opts.Turn.Model, l.profileModel(), l.stream.Model(), l.leftModel, l.run.repo.Config.Model} {
		if name == "" {
			continue
		}
		model := l.run.repo.Config.ResolveModel(name)
		if vendor, word, ok := models.CutModel(model); ok && vendor == models.Replayed {
			if id, err := l.run.repo.Find().Resolve(ctx, l.run.env, word); err == nil { // else opening it fails
				model = models.Replayed + "/" + string(id)
			}
		}
		return model, nil
	}
	return models.ProvidersOf(l.run.repo).UsualModel(ctx, l.run.env)
}
