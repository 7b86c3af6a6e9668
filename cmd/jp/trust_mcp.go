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

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// runTrustMCP is jp trust for the tools of an MCP server. No tool may approve them.
func runTrustMCP(ctx context.Context, e *ui.Env, o trustOptions) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case r.Wrong != nil:
		return r.Wrong
	case !o.show && toolset.FromProgram(r):
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	if err := hasServer(r, o.mcp); err != nil {
		return err
	}
	s := toolset.NewServer(r, e.Host, o.mcp)
	defer s.Close()
	if o.revoke {
		if err := s.Revoke(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Messages(), "The tools of the MCP server %s are not approved any more.\n", safetext.Show(o.mcp))
		return err
	}
	if show, err := acceptFiles(ctx, e, o, s); err != nil || show {
		return err
	}
	listing, err := s.List(ctx)
	var failed *toolset.StartError
	if errors.As(err, &failed) {
		return problem.New(problem.ExitFailed, "config", "%v.", err)
	}
	if err != nil {
		return err
	}
	return trustServer(ctx, e, o, s, listing)
}

// acceptFiles asks whether a server may start with the files of the repository that its command line
// names. With --show it does not start a server with unapproved files: shown means that the output is
// complete.
func acceptFiles(ctx context.Context, e *ui.Env, o trustOptions, s *toolset.Server) (shown bool, err error) {
	files, state := s.Files(), s.State()
	switch {
	case s.Startable():
		return false, nil
	case o.yes:
		s.Accept(files)
		return false, nil
	case o.show:
		text := ui.FilesText(s, files, state) + "jp does not start it to see what it offers before you approve these files.\n"
		if err := tellServer(e, ui.ApprovalSheet{Server: s, Before: state}, false, text); err != nil {
			return true, err
		}
		return true, &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	tty, err := serverTTY(e, s)
	if err != nil {
		return false, err
	}
	defer tty.Close()
	accepted, err := ui.AskFiles(ctx, tty, e.Palette(tty.File()), s)
	if err == nil && !accepted {
		err = problem.Unchanged(problem.ExitDecision, "usage")
	}
	return false, err
}

// serverTTY is the terminal on which the user is asked about a server.
func serverTTY(e *ui.Env, s *toolset.Server) (*terminal.TTY, error) {
	tty, err := terminal.OpenTTY()
	if err != nil {
		name := s.Spec().Name
		return nil, problem.New(problem.ExitDecision, "usage", "there is no terminal to ask whether the tools of the MCP server %s are approved.", name).
			Hint(action.TrustServerShow(name), "what it offers").Hint(action.TrustServerNow(name), "approve it without being asked")
	}
	return tty, nil
}

// trustServer shows a server's tools, and approves them if the user does.
func trustServer(ctx context.Context, e *ui.Env, o trustOptions, s *toolset.Server, listing toolset.ToolList) error {
	sheet := ui.ApprovalSheet{Server: s, Listing: listing, Before: s.State()}
	whole := toolset.ApprovedWhole(sheet.Before)
	switch {
	case o.show:
		if err := tellServer(e, sheet, whole, sheet.Text()); err != nil || whole {
			return err
		}
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	case !toolset.ApprovedOffers(sheet.Before) && !o.yes:
		if err := confirmServer(ctx, e, sheet); err != nil {
			return err
		}
	}
	if err := s.Approve(listing.Offers); err != nil {
		return err
	}
	text := fmt.Sprintf("Approved: %s of the MCP server %s.\n", conversation.Count(len(listing.Offers), "tool"), safetext.Show(o.mcp))
	if o.yes { // a person who was asked has seen them
		for _, line := range listing.LeftOut {
			text += "Not offered: " + safetext.Show(line) + "\n"
		}
	}
	return tellServer(e, sheet, true, text)
}

func confirmServer(ctx context.Context, e *ui.Env, sheet ui.ApprovalSheet) error {
	tty, err := serverTTY(e, sheet.Server)
	if err != nil {
		return err
	}
	defer tty.Close()
	sheet.Palette, sheet.Width = e.Palette(tty.File()), tty.Width()
	approved, err := sheet.Ask(ctx, tty)
	if err == nil && !approved {
		err = problem.Unchanged(problem.ExitDecision, "usage")
	}
	return err
}

// hasServer is the error for an unknown server.
func hasServer(r *repo.Repo, name string) error {
	if _, ok := r.Config.MCP[name]; ok {
		if r.At.TopLevel == "" {
			return problem.Usage("a bare repository has no folder for a server to run in.")
		}
		return nil
	}
	for _, k := range r.Report.Inert {
		if strings.HasPrefix(k.Key, "mcp."+name+".") {
			return problem.New(problem.ExitDecision, "untrusted", "%v: %s has no effect: %s.", k.Origin, k.Key, k.Reason).Hint(action.Trust, "shows what the file asks for")
		}
	}
	f := problem.Usage("no MCP server %q is configured.", name)
	for _, known := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		f.Hint(action.TrustServer(known), "is one")
	}
	return f
}

type serverJSON struct {
	Server   string           `json:"server"`
	Command  []string         `json:"command"`
	URL      string           `json:"url,omitempty"` // of a server over HTTP
	Approved bool             `json:"approved"`      // all that it offers
	Files    []serverFileJSON `json:"files"`
	Tools    []serverToolJSON `json:"tools"`
	LeftOut  []string         `json:"left_out"`
	Prompts  []ui.PromptJSON  `json:"prompts"`
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

// tellServer reports the outcome, in words or as JSON.
func tellServer(e *ui.Env, sheet ui.ApprovalSheet, approved bool, text string) error {
	if !e.Format.Structured() {
		_, err := fmt.Fprint(e.Results(), text)
		return err
	}
	spec := sheet.Server.Spec()
	out := serverJSON{Server: spec.Name, Command: append([]string{}, spec.Command...), URL: spec.URL, Approved: approved, Tools: []serverToolJSON{}, LeftOut: append([]string{}, sheet.Listing.LeftOut...)}
	files := sheet.Server.Files()
	out.Files = []serverFileJSON{}
	fileStates := map[string]string{}
	for _, c := range sheet.Before.Files {
		fileStates[c.Name] = c.What
		if c.What == "gone" {
			out.Files = append(out.Files, serverFileJSON{Name: c.Name, State: "gone"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out.Files = append(out.Files, serverFileJSON{name, files[name], cmp.Or(fileStates[name], "approved")})
	}
	states := map[string]string{}
	for _, o := range sheet.Listing.Offers {
		states[o.Name] = "approved"
		if !sheet.Before.Approved {
			states[o.Name] = "new"
		}
	}
	for _, c := range sheet.Before.Changes {
		switch {
		case c.Was == nil:
			states[c.Name()] = "new"
		case c.Is != nil:
			states[c.Name()] = "changed"
		}
	}
	for _, c := range sheet.Before.Changes {
		if c.Is == nil {
			out.Tools = append(out.Tools, serverTool(spec.Name, *c.Was, "gone"))
		}
	}
	for _, o := range sheet.Listing.Offers {
		out.Tools = append(out.Tools, serverTool(spec.Name, o, states[o.Name]))
	}
	out.Prompts = ui.PromptsJSON(spec.Name, sheet.Listing)
	return ui.WriteJSON(e.Results(), out)
}

func serverTool(server string, o toolset.ToolInfo, state string) serverToolJSON {
	return serverToolJSON{toolset.ToolName(server, o.Name), o.Name, o.Description, o.Schema, state}
}
