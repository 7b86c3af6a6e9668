package web

import (
	"context"
	"net/url"
)

// Bounds of a page, for tests.
const (
	MostWork = mostWork
	MostText = mostText
)

// Markdown converts a page, and returns how many bytes were written for it.
func Markdown(ctx context.Context, text, address string) (markdown string, work int, err error) {
	at, err := url.Parse(address)
	if err != nil {
		return "", 0, err
	}
	p, err := convert(ctx, text, at)
	if err != nil {
		return "", 0, err
	}
	return p.String(), p.work, nil
}
