package anthropic

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"jp/provider"
)

// Models lists the models that the key may ask, newest first. Its errors are
// those of Stream.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if p.wrong != nil {
		return nil, &provider.Error{Provider: API, Err: p.wrong}
	}
	var names []string
	pages := p.client.Models.ListAutoPaging(ctx, sdk.ModelListParams{Limit: param.NewOpt(int64(1000))})
	for pages.Next() {
		names = append(names, pages.Current().ID)
	}
	return names, p.unlisted(ctx, pages.Err())
}

func (p *Provider) unlisted(ctx context.Context, err error) error {
	var refusal *sdk.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refusal):
		header := http.Header{}
		if refusal.Response != nil {
			header = refusal.Response.Header
		}
		err = refused(&http.Response{StatusCode: refusal.StatusCode, Header: header}, []byte(refusal.RawJSON()))
	}
	return p.failure(err)
}
