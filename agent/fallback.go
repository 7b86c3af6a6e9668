package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/turnloop"
)

// candidate opens a model that may answer in place of the turn's, within the cost limit of the turn.
func (e *turn) candidate(ctx context.Context, name string) (*turnloop.Candidate, error) {
	model, err := models.OpenModel(ctx, e.run.env, e.run.repo, name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be asked: %w", safetext.Show(name), err)
	}
	room := e.history.compactor(name, model, e.run.out.Noticed)
	room.Provider = e.res.spent.Limit(model, model.Price)
	return &turnloop.Candidate{
		Provider: room.Provider, API: model.API, Endpoint: model.Endpoint, Account: model.Account, Model: name, Window: model.Context, MakeRoom: room.MakeRoom,
	}, nil
}

// fallbacks are the models of model_fallback without the turn's own, nil if there are none.
func (e *turn) fallbacks() func(ctx context.Context, n int) (*turnloop.Candidate, error) {
	names := []string{}
	for _, name := range e.run.repo.Config.ModelFallback {
		if model := e.run.repo.Config.ResolveModel(name); model != e.model && !slices.Contains(names, model) {
			names = append(names, model)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return func(ctx context.Context, n int) (*turnloop.Candidate, error) {
		if n >= len(names) {
			return nil, nil
		}
		return e.candidate(ctx, names[n])
	}
}

// replacement offers the person at the terminal the newest model of a missing model's family. Without a
// person it is nil, and the error of the turn names the command.
func (e *turn) replacement() func(ctx context.Context, cause error) (*turnloop.Candidate, error) {
	u := e.res.user
	if u == nil || e.run.delegation != nil {
		return nil
	}
	return func(ctx context.Context, cause error) (*turnloop.Candidate, error) {
		name := models.ProvidersOf(e.run.repo).Replacement(ctx, e.run.env, e.model)
		if name == "" {
			return nil, nil
		}
		key, err := u.Decide(ctx, UserDecision{
			Text:    safetext.Show(problem.OneLine(repo.Complaint(cause))) + ".\nThe newest of its family there is " + safetext.Show(name) + ".\n",
			Choices: []UserChoice{{'m', "ask " + name}, {'s', "stop here"}},
			Help: "m  jp sends the same request to that model. The conversation keeps it.\n" +
				"s  the turn stays incomplete, and your question is recorded.\n",
		})
		switch {
		case errors.Is(err, ErrUserGone):
			return nil, &turnloop.Interrupt{Signal: "SIGHUP"}
		case errors.Is(err, ErrUserLeft), errors.Is(err, ErrUserSilent):
			return nil, nil
		case err != nil || key != 'm':
			return nil, err
		}
		c, err := e.candidate(ctx, name)
		if err == nil {
			e.model = name
		}
		return c, err
	}
}

// missingModel adds the commands that help with a missing model.
func (e *turn) missingModel(ctx context.Context, f *problem.Error, provider string) {
	id := e.target.id.Short()
	if name := models.ProvidersOf(e.run.repo).Replacement(ctx, e.run.env, e.model); name != "" {
		f.Hint(action.ContinueNamed(id, name), "ask the newest model of its family")
	}
	f.Hint(action.ModelsOf(models.ShownName(provider)), "lists those that there are").Hint(action.ContinueModel(id), "ask another model")
}
