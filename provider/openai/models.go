package openai

import (
	"context"
	"io"
	"net/http"
	"strings"

	"jp/provider"
)

// maxList bounds the list of models, in bytes.
const maxList = 16 << 20

// Models lists the models of the server, in its order. Its errors are those of
// a request.
func (o Options) Models(ctx context.Context) ([]string, error) {
	response, err := o.do(ctx, http.MethodGet, "models", "application/json", provider.EncodedBody{})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, o.broken(err, false)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return nil, o.refused(response)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxList))
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err == nil {
		err = decode(data, &list)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, o.failure(provider.Error{Class: provider.ClassInvalid, Message: "the server sent no list of models: " + strings.TrimSpace(string(data))})
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
