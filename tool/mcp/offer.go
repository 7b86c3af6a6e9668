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

// Bounds of a server's offer.
const (
	maxOffers      = 256
	maxPages       = 64
	maxName        = 1 << 10
	maxDescription = 16 << 10
	maxSchema      = 64 << 10
)

// A ToolInfo is a tool as its server lists it, without invisible characters.
type ToolInfo struct {
	Name        string          `json:"name"` // the server's own, exactly
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Annotations json.RawMessage `json:"annotations,omitempty"` // compared and shown, never believed
}

func (o ToolInfo) equal(other ToolInfo) bool {
	return o.Name == other.Name && o.Description == other.Description &&
		bytes.Equal(o.Schema, other.Schema) && bytes.Equal(o.Annotations, other.Annotations)
}

// A ToolList is all that a server offers, in the order of the names.
type ToolList struct {
	Offers  []ToolInfo
	LeftOut []string // one line for each listed tool that cannot be offered, with the reason
	Prompts []PromptInfo
}

func (l ToolList) find(name string) (ToolInfo, bool) {
	i := slices.IndexFunc(l.Offers, func(o ToolInfo) bool { return o.Name == name })
	if i < 0 {
		return ToolInfo{}, false
	}
	return l.Offers[i], true
}

func listTools(ctx context.Context, session *sdk.ClientSession) (ToolList, error) {
	if has := session.InitializeResult().Capabilities; has == nil || has.Tools == nil {
		return ToolList{}, nil
	}
	var tools []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return ToolList{}, err
		}
		tools = append(tools, page.Tools...)
		if cursor = page.NextCursor; cursor == "" || len(tools) > maxOffers {
			return listingOf(tools), nil
		}
	}
	return ToolList{}, fmt.Errorf("its list of tools has no end after %d pages", maxPages)
}

// listingOf takes the tools that can be offered. Of tools with one name it is unknown
// which would run, so all of them are left out.
func listingOf(tools []*sdk.Tool) ToolList {
	var l ToolList
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
	slices.SortFunc(l.Offers, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	if more := len(l.Offers) - maxOffers; more > 0 {
		l.Offers = l.Offers[:maxOffers]
		l.LeftOut = append(l.LeftOut, fmt.Sprintf("%d or more tools: a server may offer %d", more, maxOffers))
	}
	slices.Sort(l.LeftOut)
	l.LeftOut = slices.Compact(l.LeftOut)
	return l
}

func offerOf(t *sdk.Tool) (ToolInfo, error) {
	if strings.TrimSpace(t.Name) == "" || len(t.Name) > maxName {
		return ToolInfo{}, errors.New("it has no name, or one that is too long")
	}
	schema, err := cleanSchema(t.InputSchema)
	if err != nil {
		return ToolInfo{}, err
	}
	offer := ToolInfo{Name: t.Name, Description: clean(t.Description), Schema: schema}
	if len(offer.Description) > maxDescription || len(offer.Schema) > maxSchema {
		return ToolInfo{}, errors.New("its description or schema is too long")
	}
	if t.Annotations != nil {
		if offer.Annotations, err = canonical(t.Annotations); err != nil {
			return ToolInfo{}, err
		}
	}
	if (&tool.Definition{Parameters: schema}).CheckSchema() != nil {
		return ToolInfo{}, errors.New("its schema is not a valid one of an object")
	}
	return offer, nil
}

// A Change is a difference of one tool from the approved one.
type Change struct {
	Was, Is *ToolInfo // nil: it is new, or gone
}

// Name is the tool's.
func (c Change) Name() string {
	if c.Is != nil {
		return c.Is.Name
	}
	return c.Was.Name
}

// Changes are the differences between the approved tools and the tools listed now, in the order of the names.
func Changes(approved, listed []ToolInfo) []Change {
	was, is := ToolList{Offers: approved}, ToolList{Offers: listed}
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
