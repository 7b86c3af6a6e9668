package models

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/catalog"
)

// LoginTo is the provider to log in to, or out of: the one that the user names, or that of the configured model.
func (r Providers) LoginTo(name string, out bool) (string, error) {
	if name == "" {
		name, _, _ = CutModel(r.repo.Config.ResolveModel(r.repo.Config.Model))
	}
	switch {
	case name == "" && out:
		return "", problem.Usage("jp login --remove needs the name of a provider.").Hint(action.Doctor, "names the providers whose keys come from jp login")
	case name == "":
		return "", problem.Usage("jp login needs the name of a provider.").
			Hint(action.Models, "the providers").Hint(action.Login("anthropic"), "for example")
	}
	if out { // a provider may have left the configuration
		return name, nil
	}
	_, err := r.Vendor(name)
	return name, err
}

// Login tries a key with its provider, and keeps it. It returns sentences for the user.
func (r Providers) Login(ctx context.Context, e *repo.Host, name, key string) (said []string, err error) {
	v, err := r.Vendor(name)
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, problem.Usage("no key was given; nothing was changed.")
	}
	if err := checkKey(key, "the input"); err != nil {
		return nil, err
	}
	r.repo.Values.Add(key)
	untried, err := r.tryKey(ctx, e, v, key)
	if err != nil {
		return nil, err
	}
	kept := r.keptKey(e, v)
	why, err := kept.keep(ctx, key)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, problem.New(problem.ExitFailed, "internal", "jp could not keep the key for %s: %v.", safetext.Show(name), err)
	}
	shown := safetext.Show(name)
	said = append(said, fmt.Sprintf("jp keeps the key for %s %s.", shown, kept.place()))
	if why != nil {
		said = append(said, fmt.Sprintf("Only you can read this file. The system's keyring was not used (%s).", safetext.Clean(why.Error())))
	}
	if untried != "" {
		said = append(said, fmt.Sprintf("jp could not try the key: %s %s.", shown, untried))
	}
	if from := r.KeySource(e, name); from != r.keptSource(e, v) {
		said = append(said, fmt.Sprintf("It is not in use: %s comes first.", from))
	}
	return said, nil
}

// tryKey lists the models with a key. If the list comes without a key too, or the server has no list, untried
// gives the reason.
func (r Providers) tryKey(ctx context.Context, e *repo.Host, v catalog.Vendor, key string) (untried string, err error) {
	client, err := r.client(e, v.Name)
	if err != nil {
		return "", err
	}
	list := func(key string) error {
		ctx, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		_, err := v.Open(key, catalog.Options{Client: client}).Models(ctx)
		return err
	}
	err = list(key)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var refused *provider.Error
	_ = errors.As(err, &refused)
	switch {
	case err == nil && list("") == nil:
		return "lists its models to everybody", nil
	case err == nil:
		return "", nil
	case refused != nil && refused.Class != provider.ClassAuth && refused.Status >= 400 && refused.Status < 500:
		return "lists no models", nil
	}
	why := fmt.Sprintf("%s lists no models: %s", safetext.Show(v.Name), r.unreachable(e, v, err))
	if refused != nil && refused.Class == provider.ClassAuth {
		why = fmt.Sprintf("%s refuses it: %s", safetext.Show(v.Name), strings.TrimPrefix(refused.Error(), v.Name+": "))
	}
	return "", problem.New(problem.ExitProvider, "auth", "jp did not keep the key: %s.", strings.TrimSuffix(safetext.Clean(why), "."))
}

// Logout deletes the key that jp keeps for a provider. It returns sentences for the user.
func (r Providers) Logout(ctx context.Context, e *repo.Host, name string) (said []string, err error) {
	had, err := r.keptKey(e, catalog.Vendor{Name: name}).forget(ctx)
	shown := safetext.Show(name)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, problem.New(problem.ExitFailed, "internal", "jp could not delete the key for %s: %v.", shown, err)
	case !had:
		said = append(said, fmt.Sprintf("jp keeps no key for %s.", shown))
	default:
		said = append(said, fmt.Sprintf("jp has deleted its key for %s.", shown))
	}
	if from := r.KeySource(e, name); from != "" {
		said = append(said, fmt.Sprintf("%s still has a key: %s.", shown, from))
	}
	return said, nil
}
