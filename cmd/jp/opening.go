package main

import "context"

// openRepo opens the repository of the current directory, as [openRepo] does, and makes
// what a command shows look as its configuration says.
func (e *env) openRepo(ctx context.Context) (*repo, error) {
	return e.styled(openRepo(ctx, e.host))
}

// findRepo is openRepo, and keeps what is wrong with the configuration for later.
func (e *env) findRepo(ctx context.Context) (*repo, error) {
	return e.styled(findRepo(ctx, e.host))
}

// findSettings is findRepo, which outside of a repository gives the user's own
// configuration.
func (e *env) findSettings(ctx context.Context) (*repo, error) {
	return e.styled(findSettings(ctx, e.host))
}

func (e *env) styled(r *repo, err error) (*repo, error) {
	if err == nil {
		e.style = r.config.Style
	}
	return r, err
}

// furnish reads the configuration of a repository that is found, and makes what a command
// shows look as it says.
func (e *env) furnish(r *repo) error {
	_, err := e.styled(r, r.configure(e.host, nil))
	return err
}
