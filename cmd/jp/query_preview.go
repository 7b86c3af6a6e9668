package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

type shownPreview struct {
	Conversation *string                `json:"conversation"`
	Turn         int                    `json:"turn"`
	Model        string                 `json:"model"`
	Tokens       int                    `json:"tokens"`
	Window       *int                   `json:"window"`
	CostUSD      *string                `json:"cost_usd"`
	Compacts     bool                   `json:"compacts"`
	Request      agent.PreviewedRequest `json:"request"`
}

// previewQuery shows the request that a query would send, and its cost.
func previewQuery(ctx context.Context, e *ui.Env, r *repo.Repo, o agent.Request) error {
	p, err := agent.Preview(ctx, r, o, e.Frontend(r, o))
	if err != nil {
		return err
	}
	if e.Format.Structured() {
		s := shownPreview{Turn: p.Turn, Model: p.Model, Tokens: p.Tokens, CostUSD: repo.Given(p.CostUSD), Request: p.Request, Conversation: repo.Given(string(p.ID)), Compacts: p.Compacts}
		if p.Window > 0 {
			s.Window = &p.Window
		}
		return ui.WriteJSON(e.Results(), s)
	}
	return e.Paged(func(w io.Writer) error { return writePreview(w, p) })
}

func writePreview(w io.Writer, p agent.Previewed) error {
	for _, part := range p.Parts {
		fmt.Fprintf(w, "%8s  %-12s %s\n", conversation.Tokens(part.Tokens), part.From, safetext.Clean(conversation.Shorten(problem.OneLine(part.Text), 100)))
	}
	place := "a new conversation"
	if p.ID != "" {
		place = fmt.Sprintf("turn %d of %s", p.Turn, p.ID.Short())
	}
	words := []string{"about " + conversation.Tokens(p.Tokens) + " tokens"}
	if p.Window > 0 {
		words = append(words, conversation.PartOf(p.Tokens, p.Window))
	}
	cost := "the price is unknown (prices)"
	if p.CostUSD != "" {
		cost = conversation.Dollars(p.CostUSD) + " for the input if no cache has it"
	}
	_, err := fmt.Fprintf(w, "%s to %s · %s\n", place, safetext.Show(p.Model), strings.Join(append(words, cost), " · "))
	if err == nil && p.Compacts {
		_, err = fmt.Fprintln(w, "jp would compact the conversation first.")
	}
	return err
}
