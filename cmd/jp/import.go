package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/importer"
	"jp/internal/action"
	"jp/internal/safetext"
)

const importHelp = `Import sessions that another agent recorded: requests, answers, reasoning, tool
calls and results, one conversation for each session. FORMAT is claude (Claude
Code), codex (Codex CLI), opencode, gemini (Gemini CLI), goose, jp-upstream (the jp
of dcdpr, a folder) or jp (a file of jp export --to json). A second import of a
file adds what is new in it, and of an older copy nothing. opencode and goose keep their sessions in a database: FILE takes those that ran in this working
tree, and FILE#ID takes one of any folder. jp reads a copy of the database.

Branches become forks, and the work of sub-agents becomes conversations of their
own. If an imported conversation went on here, the next import puts what is new
into a fork.

The conversation is someone else's: you can read, search and fork it, and jp runs
nothing in it. jp fork ID --adopt makes a fork that is yours. A call without a
result gets one that says so. Secrets are replaced as in any event. Files are
rebuilt from the session's edits where the content before them is known. Records
without a place in a conversation are counted in the report, and so are damaged
and unknown ones.

--list shows the sessions of this machine that ran in this working tree.
--dry-run reports what an import would add. If a file cannot be imported, jp says
why and goes on with the others. The exit code is that of the last such file.

JSON: an array with an object for each file: {"format","file","session","id",
"state","dry_run","dir","started","ended","model","events","added","turns",
"requests","texts","reasoning","calls","results","unknown_outcomes","edits",
"rebuilt","files",
"forks":[{"id","of","from","state","events","added"}],"children":[the same],
"left_out","unknown","refused"}; with --list {"format","file","session","id",
"started","dir","bytes","request","imported"}

Exit codes: 0 done · 1 no session in a file · 2 usage · 3 the file's earlier
records have changed · 4 another process uses the conversation · 5 no such file`

type importOptions struct{ list, dry bool }

func newImportCommand(e *ui.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use: "import FORMAT [FILE…]", GroupID: "share", Args: cobra.MinimumNArgs(1),
		Short: "Import sessions of other agents", Long: importHelp,
		Example: "  jp import claude --list\n  jp import claude --dry-run ~/.claude/projects/*/*.jsonl\n  jp import codex rollout-2026-11-25T01-42-50.jsonl\n  jp import opencode ~/.local/share/opencode/opencode.db",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runImport(cmd.Context(), e, o, args[0], args[1:])
		},
	}
	cmd.Flags().BoolVar(&o.list, "list", false, "list the sessions of this working tree, and import nothing")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "report, and write nothing")
	cmd.MarkFlagsMutuallyExclusive("list", "dry-run")
	return cmd
}

func runImport(ctx context.Context, e *ui.Env, o importOptions, word string, files []string) error {
	format := importer.FormatNamed(word)
	if format == nil && word != importer.JP {
		var names []string
		for _, f := range importer.Formats {
			names = append(names, f.Name())
		}
		names = append(names, importer.JP)
		return problem.Usage("invalid format %q (want %s).", word, strings.Join(names, ", ")).Hint(action.Help("jp", "import"), "its arguments, with examples")
	}
	if o.list != (len(files) == 0) {
		return problem.Usage("jp import takes session files, or --list.").Hint(action.Help("jp", "import"), "its arguments, with examples")
	}
	if o.list && format == nil {
		return problem.Usage("--list finds sessions of other agents.").Hint(action.List, "the conversations of this repository")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.list {
		found, err := importer.List(ctx, r, format)
		if err != nil {
			return err
		}
		if e.Format.Structured() {
			return ui.WriteJSON(e.Results(), slices.Concat([]importer.Found{}, found))
		}
		if len(found) == 0 && !e.Quiet {
			_, err := fmt.Fprintln(e.Messages(), "No session of this working tree was found.")
			return err
		}
		for _, f := range found {
			state := "new"
			if f.Imported {
				state = "imported as " + f.ID.Short()
			}
			request := conversation.Shorten(problem.OneLine(f.Request), conversation.TitleColumns)
			if _, err := fmt.Fprintf(e.Results(), "%s  %s  %s\n    %s\n", f.Started.Format(time.DateOnly), state, request, safetext.Show(f.File)); err != nil {
				return err
			}
		}
		return nil
	}
	reports := []*importer.Report{}
	one := func(file string) error {
		read := func() (*importer.Report, error) {
			return importer.File(ctx, r, format, file, importer.Options{Dry: o.dry})
		}
		if format == nil {
			read = func() (*importer.Report, error) { return importer.Export(ctx, r, file, o.dry) }
		}
		report, err := read()
		if err != nil {
			return importer.NameFormat(err, file, word)
		}
		if reports = append(reports, report); !e.Format.Structured() {
			printImport(e, report)
		}
		return nil
	}
	failed := ui.ForEach(ctx, e, files, func(file string) error {
		sessions, err := importer.Sessions(format, []string{file}, r.At.TopLevel)
		return errors.Join(err, ui.ForEach(ctx, e, sessions, one))
	})
	if e.Format.Structured() && len(reports) > 0 {
		return errors.Join(failed, ui.WriteJSON(e.Results(), reports))
	}
	return failed
}

// printImport shows the result for one file: the conversation on stdout, all else beside it.
func printImport(e *ui.Env, r *importer.Report) {
	if !e.Quiet {
		out := e.Messages()
		did := "Imported"
		if r.DryRun {
			did = "Would import"
		}
		fmt.Fprintf(out, "%s %s: %s of %s (%s).\n", did, safetext.Show(r.File), conversation.Count(r.Added, "new event"), problem.Itoa(r.Events), r.State)
		fmt.Fprintf(out, "%s, %s, %s, %s, %s; %d without a recorded outcome. Files: %s.\n", conversation.Count(r.Turns, "turn"),
			conversation.Count(r.Texts, "text"), conversation.Count(r.Reasoning, "thought"), conversation.Count(r.Calls, "tool call"), conversation.Count(r.Results, "result"), r.Unknowns, r.Files)
		printParts(out, "Forks", r.Forks)
		printParts(out, "Sub-agents", r.Children)
		for _, part := range []struct {
			words  string
			counts map[string]int
		}{{"Left out", r.LeftOut}, {"Unknown to jp", r.Unknown}, {"Refused", r.Refused}} {
			var words []string
			for _, kind := range slices.Sorted(maps.Keys(part.counts)) {
				words = append(words, fmt.Sprintf("%s (%d)", safetext.Show(kind), part.counts[kind]))
			}
			if len(words) > 0 {
				fmt.Fprintf(out, "%s: %s.\n", part.words, strings.Join(words, ", "))
			}
		}
		if !r.DryRun {
			fmt.Fprintf(out, "You can read it. %s makes a fork that is yours.\n", action.AdoptOnly(string(r.ID)))
		}
	}
	if !r.DryRun {
		fmt.Fprintln(e.Results(), r.ID)
	}
}

// printParts lists conversations beside that of the session.
func printParts(out io.Writer, words string, parts []importer.Part) {
	const most = 20
	var list []string
	for _, p := range parts[:min(len(parts), most)] {
		at := ""
		if p.From >= 0 {
			at = fmt.Sprintf(" of %s@%d", p.Of.Short(), p.From)
		}
		list = append(list, fmt.Sprintf("%s%s (%s, %s)", p.ID.Short(), at, conversation.Count(p.Events, "event"), p.State))
	}
	if more := len(parts) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	if len(list) > 0 {
		fmt.Fprintf(out, "%s: %s.\n", words, strings.Join(list, ", "))
	}
}
