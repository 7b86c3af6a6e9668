package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
)

const trustHelp = `Approve the settings of this repository's .jp/config.toml that need approval:
models, commands, endpoints, hooks, servers, permissions, looser limits. Until
then those keys have no effect. You approve the exact file, in this working tree:
if one byte changes, jp asks again and shows the difference. An approved file may
tighten permissions, and cannot loosen them.

The approval does not cover programs in the repository that the file names: check
these as well.

--head ID accepts an older event as the newest one, after git update-ref or a
restored backup set the conversation back.

--instructions approves AGENTS.md files for work in the current folder. Committed
files, and files that you edited between two turns, need no approval. jp shows any
other content, and gives it to the model once you approve it.

--mcp NAME approves the tools of an MCP server. jp starts the server and shows
what it offers. The approval covers exactly that.

JSON: {"file","sha256","trusted","keys":[{"key","value","line","effect"}]}, with --show
"left_out":[{"tool","why"}] too, the tools that the model would refuse;
for instructions {"files":[{"path","state","committed","difference"}]};
for a server {"server","command","approved","tools":[{"name","tool","state"}],"left_out"}

Exit codes: 0 trusted, or nothing needs it · 1 with --show: not trusted ·
2 the file is wrong, or not in a repository · 3 not approved, or no terminal to
ask`

type trustOptions struct {
	show         bool
	revoke       bool
	yes          bool
	instructions bool   // for files of instructions
	mcp          string // the MCP server; "" for the workspace's file
	head         string // the conversation whose newest event is accepted
}

func newTrustCommand(e *ui.Env) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use: "trust", Short: "Approve this repository's configuration", GroupID: "setup", Args: cobra.NoArgs,
		Long: trustHelp, Example: "  jp trust --show    # what it asks for\n  jp trust\n  jp trust --revoke\n  jp trust --instructions\n  jp trust --mcp docs",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.head != "":
				return runTrustHead(cmd.Context(), e, o)
			case o.mcp != "":
				return runTrustMCP(cmd.Context(), e, o)
			case o.instructions:
				return runTrustInstructions(cmd.Context(), e, o)
			}
			return runTrust(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.show, "show", false, "only show the settings, and whether they are approved")
	f.BoolVar(&o.revoke, "revoke", false, "revoke all approvals here, also of earlier versions")
	f.BoolVarP(&o.yes, "yes", "y", false, "approve without asking")
	f.BoolVar(&o.instructions, "instructions", false, "approve AGENTS.md files that are not as committed")
	f.StringVar(&o.mcp, "mcp", "", "approve the tools of the MCP server `NAME`")
	f.StringVar(&o.head, "head", "", "accept an older event as the newest one of the conversation `ID`")
	cmd.MarkFlagsMutuallyExclusive("show", "revoke", "yes")
	cmd.MarkFlagsMutuallyExclusive("mcp", "head", "instructions")
	cmd.MarkFlagsMutuallyExclusive("show", "head")
	cmd.MarkFlagsMutuallyExclusive("revoke", "head")
	cmd.AddCommand(newTrustKeyCommand(e))
	return cmd
}

// A trustRequest is a workspace's file with the settings that need approval.
type trustRequest struct {
	content []byte
	hash    string
	trusted bool
	keys    []trustKey
	vendor  string             // of the model that is asked here
	untold  []agent.UntoldTool // tools that it would refuse; known with --show
}

// A trustKey is a setting that needs approval.
type trustKey struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Line   int    `json:"line"`
	Effect bool   `json:"effect"` // after approval: settings that loosen permissions never have one
}

func runTrust(ctx context.Context, e *ui.Env, o trustOptions) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.At.TopLevel == "" {
		return problem.Usage("a bare repository has no %s.", config.WorkspaceFile)
	}
	if !o.show && toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	asked, err := asksForTrust(r, e)
	if err != nil && !o.revoke { // a broken file is no obstacle to revoking
		return err
	}
	switch {
	case o.show:
		asked.vendor, asked.untold = agent.UntoldHere(r, e.Host)
		if err := asked.sayApproved(e); err != nil {
			return err
		}
		if !e.Format.Structured() {
			asked.list(e.Results(), func(value string) string { return value })
			agent.ListUntold(e.Results(), asked.vendor, asked.untold)
		}
		if asked.needed() && !asked.trusted {
			return &problem.Error{Exit: problem.ExitFailed, Silent: true}
		}
		return nil
	case o.revoke:
		return revoke(r, e, asked)
	case asked.trusted || !asked.needed():
		return asked.sayApproved(e)
	case !o.yes:
		before, err := r.Approvals().Last()
		if err != nil {
			return err
		}
		if err := e.Confirm(ctx, ui.Confirmation{
			List: func(w io.Writer, p terminal.Palette) {
				fmt.Fprintf(w, "%s asks for:\n\n", p.Bold(config.WorkspaceFile))
				asked.list(w, func(value string) string { return safetext.Bound(value, shownValue) })
				if before != nil {
					fmt.Fprint(w, "\nSince you approved it last:\n\n")
					lines := strings.Split(strings.TrimSuffix(udiff.Unified("", "", string(before), string(asked.content)), "\n"), "\n")
					for _, line := range lines[min(2, len(lines)):] { // behind the names
						if line != "" && !strings.HasPrefix(line, "@@") {
							fmt.Fprintf(w, "  %s %s\n", line[:1], safetext.Show(strings.TrimSpace(line[1:])))
						}
					}
				}
				fmt.Fprintln(w)
			},
			Question: "Trust this?",
			Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask whether %s is to be trusted.", config.WorkspaceFile).
				Hint(action.TrustShow, "what it asks for").Hint(action.TrustNow, "approve it without being asked"),
		}); err != nil {
			return err
		}
	}
	if err := r.Approvals().Approve(asked.content); err != nil {
		return err
	}
	asked.trusted = true
	return asked.sayApproved(e)
}

// asksForTrust reads the workspace's file, and finds the settings in it that have no effect without
// approval.
func asksForTrust(r *repo.Repo, e *ui.Env) (trustRequest, error) {
	content, err := config.ReadWorkspaceFile(r.At.TopLevel)
	if err != nil || content == nil {
		return trustRequest{}, err
	}
	asked := trustRequest{content: content, hash: config.Hash(content)}
	asked.trusted = r.Approvals().Trusted(asked.hash)
	options := config.Options{UserFile: r.Paths.UserFile, OwnFile: r.Standings().OwnFile(), Workspace: r.At.TopLevel, Environ: e.Environ}
	_, held, err := config.Load(options)
	if err != nil {
		return asked, err
	}
	options.Trusted = func(string) bool { return true }
	_, free, err := config.Load(options)
	if err != nil {
		return asked, err
	}
	if held.WorkspaceHash != asked.hash || free.WorkspaceHash != asked.hash {
		return asked, problem.New(problem.ExitFailed, "config", "%s changed while it was read; look again.", config.WorkspaceFile)
	}
	for _, k := range held.Inert {
		if k.Origin.Layer == config.LayerWorkspace {
			held := slices.ContainsFunc(free.Inert, func(f config.InertKey) bool { return f.Key == k.Key && f.Origin == k.Origin })
			asked.keys = append(asked.keys, trustKey{Key: k.Key, Value: k.Value, Line: k.Origin.Line, Effect: !held})
		}
	}
	return asked, nil
}

// needed reports whether an approval would change anything.
func (t trustRequest) needed() bool {
	return slices.ContainsFunc(t.keys, func(k trustKey) bool { return k.Effect })
}

// shownValue is how many columns of a value the question shows.
const shownValue = 400

// list writes the settings that need approval, escaped and cut, so that all fit the
// screen.
func (t trustRequest) list(w io.Writer, shown func(string) string) {
	for _, k := range t.keys {
		note := ""
		if !k.Effect {
			note = "   (no effect: it would loosen what holds without it)"
		}
		fmt.Fprintf(w, "  %s = %s%s\n", safetext.Show(k.Key), shown(safetext.Show(k.Value)), note)
	}
}

// state describes the request on one line.
func (t trustRequest) state() string {
	switch {
	case t.content == nil:
		return "There is no " + config.WorkspaceFile + " here; nothing needs trust."
	case !t.needed():
		return config.WorkspaceFile + " asks for nothing that needs trust."
	case t.trusted:
		return "Trusted: " + config.WorkspaceFile + " as it stands here (sha256 " + t.hash[:12] + "…)."
	}
	return config.WorkspaceFile + " is not trusted; this has no effect:"
}

// sayApproved prints the state of the request.
func (t trustRequest) sayApproved(e *ui.Env) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), t.object())
	}
	_, err := fmt.Fprintln(e.Results(), t.state())
	return err
}

// A trustObject is a request for trust as programs read it.
type trustObject struct {
	File    string             `json:"file"`
	SHA256  string             `json:"sha256"`
	Trusted bool               `json:"trusted"`
	Keys    []trustKey         `json:"keys"`
	LeftOut []agent.UntoldTool `json:"left_out,omitempty"`
}

func (t trustRequest) object() trustObject {
	keys := t.keys
	if keys == nil {
		keys = []trustKey{}
	}
	return trustObject{config.WorkspaceFile, t.hash, t.trusted, keys, t.untold}
}

// revoke takes back all approvals of the file, also those of earlier content.
func revoke(r *repo.Repo, e *ui.Env, asked trustRequest) error {
	done, err := r.Approvals().Revoke()
	if err != nil {
		return err
	}
	asked.trusted = false
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), struct {
			trustObject
			Revoked bool `json:"revoked"` // something was approved until now
		}{asked.object(), done})
	}
	said := "It was not trusted."
	if done {
		said = config.WorkspaceFile + " is not trusted any more, whatever it says."
	}
	_, err = fmt.Fprintln(e.Results(), said)
	return err
}
