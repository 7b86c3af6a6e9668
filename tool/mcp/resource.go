package mcp

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxResource is the largest resource that is read, in bytes.
const maxResource = 20 << 20

// ReadResource reads what the server has under a URI. It starts the server if that does not run.
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
	type answer struct {
		result *sdk.ReadResourceResult
		err    error
	}
	answered := make(chan answer, 1)
	go func() { // the server may read nothing
		result, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		answered <- answer{result, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		c.owes.Store(true)
		return nil, context.Cause(ctx)
	}
	if a.err != nil {
		return nil, fmt.Errorf("the MCP server %s: %s", words(s.spec.Name), clean(c.breakdown(a.err).Error()))
	}
	var data []byte
	for _, part := range a.result.Contents {
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
