package openai

import (
	"context"
	"errors"

	sdk "github.com/openai/openai-go/v3"

	"jp/provider"
)

// Models lists the models of the server, in its order. Its errors are those of
// a request.
func (o Options) Models(ctx context.Context) ([]string, error) {
	if !isAddress(o.baseURL()) {
		return nil, o.failure(provider.Error{Class: provider.ClassInvalid, Message: "the base URL is invalid"})
	}
	models := sdk.NewModelService(o.requestOptions()...) // a whole client would read the environment
	page, err := models.List(ctx)
	var refusal *sdk.Error
	switch {
	case err == nil:
		names := make([]string, 0, len(page.Data))
		for _, m := range page.Data {
			names = append(names, m.ID)
		}
		return names, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refusal) && refusal.Response != nil:
		return nil, o.refused(refusal.Response)
	}
	return nil, o.broken(err, false)
}
