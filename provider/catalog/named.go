package catalog

import (
	"context"
	"errors"
	"iter"

	"jp/provider"
)

// namedProvider calls the provider in its errors as the user does: others may speak the
// protocol of a vendor, too.
type namedProvider struct {
	provider.Provider
	name string
}

// Stream implements [provider.Provider].
func (n namedProvider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for chunk, err := range n.Provider.Stream(ctx, request) {
			if !yield(chunk, nameIn(err, n.name)) {
				return
			}
		}
	}
}

// namedList is a list of models whose errors name the provider.
func namedList(list func(context.Context) ([]string, error), name string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		names, err := list(ctx)
		return names, nameIn(err, name)
	}
}

func nameIn(err error, name string) error {
	var failure *provider.Error
	if name != "" && errors.As(err, &failure) {
		failure.Provider = name
	}
	return err
}
