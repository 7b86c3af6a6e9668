package main

import (
	"cmp"
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

// runTrustMCP is jp trust for what an MCP server offers. No tool may approve it.
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
	if show, err := e.acceptFiles(ctx, o, s); err != nil || show {
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

// acceptFiles asks whether a server may start with the files of the repository that its
// command line names. With --show it is not started with files that are not approved:
// shown says that this is all there is to show.
func (e *env) acceptFiles(ctx context.Context, o trustOptions, s *mcp.Server) (shown bool, err error) {
	files, state := s.Files(), s.State()
	switch {
	case s.Startable():
		return false, nil
	case o.yes:
		s.Accept(files)
		return false, nil
	case o.show:
		text := filesText(s, files, state) + "jp does not start it to see what it offers before you approve these files.\n"
		if err := e.tellServer(approvalSheet{server: s, before: state}, false, text); err != nil {
			return true, err
		}
		return true, &failure{exit: exitFailed, silent: true}
	}
	tty, err := e.serverTTY(s)
	if err != nil {
		return false, err
	}
	defer tty.Close()
	accepted, err := askFiles(ctx, tty, e.palette(tty.File()), s)
	if err == nil && !accepted {
		err = unchanged(exitDecision, "usage")
	}
	return false, err
}

// serverTTY is the terminal on which the user is asked about a server.
func (e *env) serverTTY(s *mcp.Server) (*terminal.TTY, error) {
	tty, err := terminal.OpenTTY()
	if err != nil {
		name := s.Spec().Name
		command := "jp trust --mcp " + safetext.Escape(name)
		return nil, fail(exitDecision, "usage", "there is no terminal to ask whether the tools of the MCP server %s are approved.", name).
			hint(command+" --show", "what it offers").hint(command+" -y", "approve it without being asked")
	}
	return tty, nil
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
	case !approvedOffers(sheet.before) && !o.yes:
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
	tty, err := e.serverTTY(sheet.server)
	if err != nil {
		return err
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
	Files    []serverFileJSON `json:"files"`
	Tools    []serverToolJSON `json:"tools"`
	LeftOut  []string         `json:"left_out"`
}

// A serverFileJSON is a file of the repository that the command line of a server names.
type serverFileJSON struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	State  string `json:"state"` // before: approved, new, changed or gone
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
	files := sheet.server.Files()
	out.Files = []serverFileJSON{}
	fileStates := map[string]string{}
	for _, c := range sheet.before.Files {
		fileStates[c.Name] = c.What
		if c.What == "gone" {
			out.Files = append(out.Files, serverFileJSON{Name: c.Name, State: "gone"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out.Files = append(out.Files, serverFileJSON{name, files[name], cmp.Or(fileStates[name], "approved")})
	}
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
