package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool/mcp"
)

// runTrustMCP is jp trust for what an MCP server offers. What is approved is not
// bound to a repository, so no tool of any may approve it.
func runTrustMCP(ctx context.Context, e *env, o trustOptions) error {
	r, err := e.findRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case r.wrong != nil:
		return r.wrong
	case !o.show && r.fromProgram():
		return fail(exitDecision, "untrusted", "%v.", errFromTool)
	}
	if err := r.hasServer(o.mcp); err != nil {
		return err
	}
	s := r.server(e.host, o.mcp)
	defer s.Close()
	if o.revoke {
		if err := s.Revoke(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.stderr, "The tools of the MCP server %s are not approved any more.\n", safetext.Show(o.mcp))
		return err
	}
	listing, err := s.Look(ctx)
	var failed *mcp.StartError
	if errors.As(err, &failed) {
		return fail(exitFailed, "config", "%v.", err)
	}
	if err != nil {
		return err
	}
	return e.trustServer(ctx, o, s, listing)
}

// trustServer shows what a server offers, and approves it if the user does.
func (e *env) trustServer(ctx context.Context, o trustOptions, s *mcp.Server, listing mcp.Listing) error {
	sheet := approvalSheet{server: s, listing: listing, before: s.State()}
	whole := approvedWhole(sheet.before)
	switch {
	case o.show:
		if err := e.tellServer(sheet, whole, sheet.text()); err != nil || whole {
			return err
		}
		return &failure{exit: exitFailed, silent: true}
	case !whole && !o.yes:
		if err := e.confirmServer(ctx, sheet); err != nil {
			return err
		}
	}
	if err := s.Approve(listing.Offers); err != nil {
		return err
	}
	return e.tellServer(sheet, true, fmt.Sprintf("Approved: %s of the MCP server %s.\n",
		conversation.Count(len(listing.Offers), "tool"), safetext.Show(o.mcp)))
}

func (e *env) confirmServer(ctx context.Context, sheet approvalSheet) error {
	name := sheet.server.Spec().Name
	tty, err := terminal.OpenTTY()
	if err != nil {
		command := "jp trust --mcp " + safetext.Escape(name)
		return fail(exitDecision, "usage", "there is no terminal to ask whether the tools of the MCP server %s are approved.", name).
			hint(command+" --show", "what it offers").hint(command+" -y", "approve it without being asked")
	}
	defer tty.Close()
	sheet.palette, sheet.width = e.palette(tty.File()), tty.Width()
	approved, err := sheet.ask(ctx, tty)
	if err == nil && !approved {
		err = unchanged(exitDecision, "usage")
	}
	return err
}

// hasServer says why there is no such server.
func (r *repo) hasServer(name string) error {
	if _, ok := r.config.MCP[name]; ok {
		if r.TopLevel == "" {
			return usage("a bare repository has no folder for a server to run in.")
		}
		return nil
	}
	for _, k := range r.report.Inert {
		if strings.HasPrefix(k.Key, "mcp."+name+".") {
			return fail(exitDecision, "untrusted", "%v: %s has no effect: %s.", k.Origin, k.Key, k.Reason).hint("jp trust", "shows what the file asks for")
		}
	}
	f := usage("no MCP server %q is configured.", name)
	for _, known := range slices.Sorted(maps.Keys(r.config.MCP)) {
		f.hint("jp trust --mcp "+safetext.Escape(known), "is one")
	}
	return f
}

// A serverJSON is what a server offers.
type serverJSON struct {
	Server   string           `json:"server"`
	Command  []string         `json:"command"`
	Approved bool             `json:"approved"` // all that it offers
	Tools    []serverToolJSON `json:"tools"`
	LeftOut  []string         `json:"left_out"`
}

type serverToolJSON struct {
	Name        string          `json:"name"`
	Tool        string          `json:"tool"` // as the server calls it
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	State       string          `json:"state"` // before: approved, new, changed or gone
}

// tellServer says what became of it, in words or as JSON.
func (e *env) tellServer(sheet approvalSheet, approved bool, text string) error {
	if !e.format.structured() {
		_, err := fmt.Fprint(e.results(), text)
		return err
	}
	spec := sheet.server.Spec()
	out := serverJSON{Server: spec.Name, Command: spec.Command, Approved: approved, Tools: []serverToolJSON{}, LeftOut: append([]string{}, sheet.listing.LeftOut...)}
	states := sheet.states()
	for _, c := range sheet.before.Changes {
		if c.Is == nil {
			out.Tools = append(out.Tools, serverTool(spec.Name, *c.Was, "gone"))
		}
	}
	for _, o := range sheet.listing.Offers {
		out.Tools = append(out.Tools, serverTool(spec.Name, o, states[o.Name]))
	}
	return writeJSON(e.results(), out)
}

func serverTool(server string, o mcp.Offer, state string) serverToolJSON {
	return serverToolJSON{mcp.ToolName(server, o.Name), o.Name, o.Description, o.Schema, state}
}

// states say of each tool that is listed what it was before.
func (a approvalSheet) states() map[string]string {
	states := map[string]string{}
	for _, o := range a.listing.Offers {
		states[o.Name] = "approved"
		if !a.before.Approved {
			states[o.Name] = "new"
		}
	}
	for _, c := range a.before.Changes {
		switch {
		case c.Was == nil:
			states[c.Name()] = "new"
		case c.Is != nil:
			states[c.Name()] = "changed"
		}
	}
	return states
}
