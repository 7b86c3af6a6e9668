package ui

import (
	"context"

	"jp/agent/repo"
)

// OpenRepo opens the repository of the current directory, as [openRepo] does, and applies the styles
// of its configuration to the output.
func (e *Env) OpenRepo(ctx context.Context) (*repo.Repo, error) {
	return e.styled(repo.Open(ctx, e.Host))
}

// FindRepo is openRepo, and keeps errors of the configuration for later.
func (e *Env) FindRepo(ctx context.Context) (*repo.Repo, error) {
	return e.styled(repo.Find(ctx, e.Host))
}

// FindSettings is findRepo, which outside of a repository gives the user's own
// configuration.
func (e *Env) FindSettings(ctx context.Context) (*repo.Repo, error) {
	return e.styled(repo.FindSettings(ctx, e.Host))
}

func (e *Env) styled(r *repo.Repo, err error) (*repo.Repo, error) {
	if err == nil {
		e.Style = r.Config.Style
	}
	return r, err
}
