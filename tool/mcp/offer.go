package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/conversation"
	"jp/tool"
)

// Bounds of what a server may offer.
const (
	maxOffers      = 256
	maxPages       = 64
	maxName        = 1 << 10
	maxDescription = 16 << 10
	maxSchema      = 64 << 10
)

// An Offer is a tool as its server lists it, without what cannot be seen.
type Offer struct {
	Name        string          `json:"name"` // the server's own, exactly
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Annotations json.RawMessage `json:"annotations,omitempty"` // compared and shown, never believed
}

func (o Offer) equal(other Offer) bool {
	return o.Name == other.Name && o.Description == other.Description &&
		bytes.Equal(o.Schema, other.Schema) && bytes.Equal(o.Annotations, other.Annotations)
}

// A Listing is all that a server offers, in the order of the names.
type Listing struct {
	Offers  []Offer
	LeftOut []string // what it lists besides that cannot be offered, and why: one line each
}

func (l Listing) find(name string) (Offer, bool) {
	i := slices.IndexFunc(l.Offers, func(o Offer) bool { return o.Name == name })
	if i < 0 {
		return Offer{}, false
	}
	return l.Offers[i], true
}

// listTools asks a server for all of its tools.
func listTools(ctx context.Context, session *sdk.ClientSession) (Listing, error) {
	if has := session.InitializeResult().Capabilities; has == nil || has.Tools == nil {
		return Listing{}, nil
	}
	var tools []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return Listing{}, err
		}
		tools = append(tools, page.Tools...)
		if cursor = page.NextCursor; cursor == "" || len(tools) > maxOffers {
			return listingOf(tools), nil
		}
	}
	return Listing{}, fmt.Errorf("its list of tools has no end after %d pages", maxPages)
}

// listingOf takes the tools that can be offered. Of tools with one name nobody
// can say which would run, so none of them is.
func listingOf(tools []*sdk.Tool) Listing {
	var l Listing
	leave := func(name, why string) {
		l.LeftOut = append(l.LeftOut, conversation.Shorten(words(name), 60)+": "+why)
	}
	named := map[string]int{}
	for _, t := range tools {
		named[t.Name]++
	}
	for _, t := range tools {
		offer, err := offerOf(t)
		switch {
		case named[t.Name] > 1:
			leave(t.Name, "two tools have this name")
		case err != nil:
			leave(t.Name, err.Error())
		default:
			l.Offers = append(l.Offers, offer)
		}
	}
	slices.SortFunc(l.Offers, func(a, b Offer) int { return cmp.Compare(a.Name, b.Name) })
	if more := len(l.Offers) - maxOffers; more > 0 {
		l.Offers = l.Offers[:maxOffers]
		l.LeftOut = append(l.LeftOut, fmt.Sprintf("%d or more tools: a server may offer %d", more, maxOffers))
	}
	slices.Sort(l.LeftOut)
	l.LeftOut = slices.Compact(l.LeftOut)
	return l
}

func offerOf(t *sdk.Tool) (Offer, error) {
	if strings.TrimSpace(t.Name) == "" || len(t.Name) > maxName {
		return Offer{}, errors.New("it has no name, or one that is too long")
	}
	schema, err := cleanSchema(t.InputSchema)
	if err != nil {
		return Offer{}, err
	}
	offer := Offer{Name: t.Name, Description: clean(t.Description), Schema: schema}
	if len(offer.Description) > maxDescription || len(offer.Schema) > maxSchema {
		return Offer{}, errors.New("its description or schema is too long")
	}
	if t.Annotations != nil {
		if offer.Annotations, err = canonical(t.Annotations); err != nil {
			return Offer{}, err
		}
	}
	if _, err := tool.Check(&tool.Definition{Name: "tool", Parameters: schema}, nil); errors.Is(err, tool.ErrInvalidSchema) {
		return Offer{}, errors.New("its schema is not a valid one of an object")
	}
	return offer, nil
}

// A Change is how one tool differs from what was approved.
type Change struct {
	Was, Is *Offer // nil: it is new, or gone
}

// Name is the tool's.
func (c Change) Name() string {
	if c.Is != nil {
		return c.Is.Name
	}
	return c.Was.Name
}

// Changes are the differences between what was approved and what a server lists
// now, in the order of the names.
func Changes(approved, listed []Offer) []Change {
	was, is := Listing{Offers: approved}, Listing{Offers: listed}
	var changes []Change
	for _, o := range listed {
		if old, ok := was.find(o.Name); !ok {
			changes = append(changes, Change{Is: &o})
		} else if !old.equal(o) {
			changes = append(changes, Change{Was: &old, Is: &o})
		}
	}
	for _, o := range approved {
		if _, ok := is.find(o.Name); !ok {
			changes = append(changes, Change{Was: &o})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Name(), b.Name()) })
	return changes
}
