package google

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"jp/provider"
)

// maxList bounds how much of a page of models is read.
const maxList = 16 << 20

// A page is a part of the list of models.
type page struct {
	Models []struct {
		Name                       string
		SupportedGenerationMethods []string
	}
	NextPageToken string
	Error         *refusal
}

// Models lists the models that make content, in the server's order. Its errors
// are those of Stream.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if p.options.Key == "" {
		return nil, &provider.Error{Class: provider.ClassAuth, Provider: Name, Message: "no key is set"}
	}
	var names []string
	for token := ""; ; {
		x := &exchange{}
		found, err := p.models(ctx, x, token)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, p.failure(err, x)
		}
		for _, m := range found.Models {
			if len(m.SupportedGenerationMethods) == 0 || slices.Contains(m.SupportedGenerationMethods, "generateContent") {
				names = append(names, strings.TrimPrefix(m.Name, "models/"))
			}
		}
		if found.NextPageToken == "" || found.NextPageToken == token {
			return names, nil
		}
		token = found.NextPageToken
	}
}

// models asks for a page of the list.
func (p *Provider) models(ctx context.Context, x *exchange, token string) (page, error) {
	defer x.close()
	query := url.Values{}
	if token != "" {
		query.Set("pageToken", token)
	}
	if err := p.exchange(ctx, x, p.client(), http.MethodGet, "models", query.Encode(), provider.EncodedBody{}); err != nil {
		return page{}, err
	}
	text, err := io.ReadAll(io.LimitReader(x.answer, maxList))
	if err != nil {
		return page{}, err
	}
	var found page
	if err := json.Unmarshal(text, &found); err != nil {
		return page{}, &provider.Error{Class: provider.ClassInvalid, Message: "the server sent no list of models: " + string(text)}
	}
	if found.Error != nil {
		return page{}, *found.Error
	}
	return found, nil
}
