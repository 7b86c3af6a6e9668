package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"jp/agent/problem"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool/mcp"
)

// askApproval starts a server and lets the user approve its tools. It leaves unapproved ones out. An
// end of the input is no approval. A server that starts files of the repository is started only after
// a yes to those.
func askApproval(ctx context.Context, tty terminal.Asker, p terminal.Palette, s *toolset.Server) error {
	if accepted, err := AskFiles(ctx, tty, p, s); err != nil || !accepted {
		return err
	}
	does := "Starting"
	if s.Spec().URL != "" {
		does = "Asking"
	}
	fmt.Fprintf(tty, "%s the MCP server %s to see what it offers.\n", does, safetext.Show(s.Spec().Name))
	listing, err := s.List(ctx)
	if err != nil {
		return err
	}
	state := s.State()
	switch {
	case toolset.ApprovedWhole(state):
		return nil // it is again as it was approved
	case toolset.ApprovedOffers(state):
		return s.Approve(listing.Offers) // only its files had changed, and those are approved
	}
	sheet := ApprovalSheet{Server: s, Listing: listing, Before: s.State(), Palette: p, Width: tty.Width()}
	approved, err := sheet.Ask(ctx, tty)
	if err != nil || !approved {
		return err
	}
	return s.Approve(listing.Offers)
}

// AskFiles asks whether a server may start with the files of the repository that its command line
// names, if those are not approved. Only a yes accepts them, as they were when they were listed.
func AskFiles(ctx context.Context, tty terminal.Asker, p terminal.Palette, s *toolset.Server) (accepted bool, err error) {
	files, state := s.Files(), s.State()
	if s.Startable() {
		return true, nil
	}
	fmt.Fprint(tty, FilesText(s, files, state))
	accepted, err = approves(ctx, tty, nil, p.Bold("n")+" no, leave it out", p.Bold("y")+" yes, start it with exactly these files")
	if accepted {
		s.Accept(files)
	}
	return accepted, err
}

// FilesText shows which files of the repository a server starts with. The command line comes last.
func FilesText(s *toolset.Server, files mcp.Files, state toolset.State) string {
	var b strings.Builder
	if state.Approved {
		fmt.Fprintf(&b, "%s since you approved the MCP server %s.\n", toolset.ChangedFiles(state.Files), safetext.Show(s.Spec().Name))
	}
	fmt.Fprintf(&b, "The MCP server %s starts with files of this repository. What they load in turn is not listed.\n", safetext.Show(s.Spec().Name))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "  %s  sha256 %s\n", safetext.Show(name), files[name])
	}
	fmt.Fprintf(&b, "  It runs: %s\n", safetext.EscapeAll(s.Spec().Command))
	return b.String()
}

// Ask shows the sheet and asks. Only a yes approves; Ctrl+C and the loss of the
// terminal are errors.
func (a ApprovalSheet) Ask(ctx context.Context, tty terminal.Asker) (approved bool, err error) {
	p := a.Palette
	fmt.Fprint(tty, a.Text())
	return approves(ctx, tty, a.details, p.Bold("n")+" no, leave out what is not approved", p.Bold("y")+" yes, approve exactly this", p.Bold("d")+" details")
}

func approves(ctx context.Context, tty terminal.Asker, details func() string, choices ...string) (bool, error) {
	yes, err := yesNo(ctx, tty, terminal.Choices(tty.Width(), 2, "", choices...), details)
	if errors.Is(err, errAborted) {
		err = problem.New(problem.ExitInterrupted, "interrupted", "nothing was approved.")
	}
	return yes, err
}

// An ApprovalSheet shows a server's tools beside the approved ones. All of its text is clean.
type ApprovalSheet struct {
	Server  *toolset.Server
	Listing toolset.ToolList
	Before  toolset.State // the approved tools, and how the listing differs from them
	Palette terminal.Palette
	Width   int // in columns; 0: lines are not cut
}

// Text is the whole in a few lines for each tool. The command line comes last, since the rest may be
// more than the screen shows.
func (a ApprovalSheet) Text() string {
	var b strings.Builder
	spec, known := a.Server.Spec(), a.Before.Approved
	switch {
	case toolset.ApprovedWhole(a.Before):
		fmt.Fprintf(&b, "The MCP server %s is as you approved it.\n", safetext.Show(spec.Name))
	case known:
		fmt.Fprintf(&b, "The MCP server %s is not as you approved it.\n", safetext.Show(spec.Name))
	default:
		fmt.Fprintf(&b, "The MCP server %s offers %s.\n", safetext.Show(spec.Name), conversation.Count(len(a.Listing.Offers), "tool"))
	}
	if known && len(a.Before.Changes) > 0 {
		a.changes(&b, a.Before.Changes)
	} else {
		for _, o := range a.Listing.Offers {
			a.offer(&b, "  ", o)
		}
	}
	for _, line := range a.Listing.LeftOut {
		fmt.Fprintf(&b, "  %s\n", a.Palette.Dim("not offered: "+a.fit(safetext.Clean(line), 15)))
	}
	if len(a.Listing.Prompts) > 0 {
		var names []string
		for _, p := range a.Listing.Prompts {
			names = append(names, promptCommand(spec.Name, p))
		}
		fmt.Fprintf(&b, "  %s\n", a.Palette.Dim("commands for its prompts: "+a.fit(safetext.Clean(strings.Join(names, ", ")), 29)))
	}
	if spec.URL != "" {
		fmt.Fprintf(&b, "  It is at: %s\n", safetext.Show(spec.URL))
	} else {
		fmt.Fprintf(&b, "  It runs: %s\n", safetext.EscapeAll(spec.Command))
	}
	if was := a.Server.Before(); was != nil && !known {
		fmt.Fprintf(&b, "  %s %s\n", a.Palette.Yellow("You approved it with another command:"), safetext.EscapeAll(was))
	}
	if len(spec.Env) > 0 {
		fmt.Fprintf(&b, "  with %s\n", safetext.EscapeAll(slices.Sorted(maps.Keys(spec.Env))))
	}
	if len(spec.Headers) > 0 {
		fmt.Fprintf(&b, "  with the headers %s\n", safetext.EscapeAll(slices.Sorted(maps.Keys(spec.Headers))))
	}
	return b.String()
}

// brief is how many lines of a description are shown at once.
const brief = 4

func (a ApprovalSheet) offer(b *strings.Builder, lead string, o toolset.ToolInfo) {
	fmt.Fprintf(b, "%s%s\n", lead, a.Palette.Bold(safetext.Show(o.Name)))
	lines := strings.Split(safetext.Clean(o.Description), "\n")
	for _, line := range lines[:min(len(lines), brief)] {
		if line != "" {
			fmt.Fprintf(b, "      %s\n", a.fit(line, 6))
		}
	}
	if more := len(lines) - brief; more > 0 {
		fmt.Fprintf(b, "      %s\n", a.Palette.Dim(fmt.Sprintf("…%d more lines (d)", more)))
	}
}

// changes shows new and removed tools, and the differences of the others.
func (a ApprovalSheet) changes(b *strings.Builder, changes []toolset.Change) {
	for _, c := range changes {
		switch {
		case c.Was == nil:
			a.offer(b, "  "+a.Palette.Green("+")+" ", *c.Is)
		case c.Is == nil:
			fmt.Fprintf(b, "  %s %s (gone)\n", a.Palette.Red("-"), safetext.Show(c.Name()))
		default:
			fmt.Fprintf(b, "  %s %s\n", a.Palette.Yellow("!"), a.Palette.Bold(safetext.Show(c.Name())))
			a.difference(b, *c.Was, *c.Is)
		}
	}
}

func (a ApprovalSheet) difference(b *strings.Builder, was, is toolset.ToolInfo) {
	lines := strings.Split(strings.TrimSuffix(udiff.Unified("", "", offerText(was), offerText(is)), "\n"), "\n")
	for _, line := range lines[min(2, len(lines)):] { // behind the names
		if !strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, `\`) {
			fmt.Fprintf(b, "      %s\n", a.Palette.Change(line))
		}
	}
}

// details are the full text for the model, and the server's claims.
func (a ApprovalSheet) details() string {
	var b strings.Builder
	for _, o := range a.Listing.Offers {
		fmt.Fprintf(&b, "  %s  (%s)\n", a.Palette.Bold(safetext.Show(o.Name)), toolset.ToolName(a.Server.Spec().Name, o.Name))
		for line := range strings.Lines(offerText(o)) {
			fmt.Fprintf(&b, "      %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return b.String()
}

// offerText is all of an offer but its name, in lines.
func offerText(o toolset.ToolInfo) string {
	text := o.Description + "\nArguments: " + indented(o.Schema) + "\n"
	if len(o.Annotations) > 0 {
		text += "It says of itself: " + string(o.Annotations) + "\n"
	}
	return safetext.Clean(text)
}

func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// fit cuts a line that begins behind some columns.
func (a ApprovalSheet) fit(line string, behind int) string {
	if a.Width == 0 {
		return line
	}
	return safetext.Fit(line, max(a.Width-behind, 20))
}

// A PromptJSON is a command for a prompt of a server.
type PromptJSON struct {
	Command     string   `json:"command"`
	Description string   `json:"description"`
	Arguments   []string `json:"arguments"`
	Required    []string `json:"required"` // of the arguments
}

// PromptsJSON are the commands for the prompts that a server lists.
func PromptsJSON(server string, listing toolset.ToolList) []PromptJSON {
	all := []PromptJSON{}
	for _, p := range listing.Prompts {
		prompt := PromptJSON{promptCommand(server, p), p.Description, []string{}, []string{}}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, a.Name)
			if a.Required {
				prompt.Required = append(prompt.Required, a.Name)
			}
		}
		all = append(all, prompt)
	}
	return all
}

func promptCommand(server string, p mcp.PromptInfo) string { return "/" + server + ":" + p.Name }
