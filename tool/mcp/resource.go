package mcp

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxResource is the largest resource that is read, in bytes.
const maxResource = 20 << 20

// ReadResource reads the content of a URI from the server. It starts the server if necessary.
func (s *Server) ReadResource(ctx context.Context, uri string) ([]byte, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	c, _, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.StartTimeout, errSilent)
	defer cancel()
	result, err := answered(ctx, c, func(ctx context.Context) (*sdk.ReadResourceResult, error) {
		return c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("the MCP server %s: %s", words(s.spec.Name), clean(c.breakdown(err).Error()))
	}
	var data []byte
	for _, part := range result.Contents {
		data = append(append(data, part.Text...), part.Blob...)
	}
	if len(data) > maxResource {
		return nil, fmt.Errorf("it has more than %d MiB", maxResource>>20)
	}
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	return data, nil
}
