package google

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genai"

	"jp/provider"
)

// Models lists the models that make content, in the server's order. Its errors
// are those of Stream.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if p.options.Key == "" {
		return nil, &provider.Error{Class: provider.ClassAuth, Provider: Name, Message: "no key is set"}
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: p.options.Key, Backend: genai.BackendGeminiAPI, HTTPClient: p.client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: p.options.baseURL()},
	})
	if err != nil {
		return nil, p.failure(err, &exchange{})
	}
	var names []string
	for m, err := range client.Models.All(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, p.failure(err, &exchange{})
		case len(m.SupportedActions) == 0 || slices.Contains(m.SupportedActions, "generateContent"):
			names = append(names, strings.TrimPrefix(m.Name, "models/"))
		}
	}
	return names, nil
}

// client is the caller's, but one that follows no redirect: it would take the
// key to another server.
func (p *Provider) client() *http.Client {
	client := http.Client{}
	if p.options.Client != nil {
		client = *p.options.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
