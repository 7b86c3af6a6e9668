package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/export"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

const exportHelp = `Export a conversation. --to html writes a page: one file that runs no script and
loads nothing, with a link for each event (#e14), diffs, costs and forks. --to md
writes Markdown. --to json writes data that jp import jp reads, also in a
repository of another object format.

--to claude, codex and opencode write a session that Claude Code, the Codex CLI or
opencode resumes, with every message, tool call and result. --install puts it into
the agent's own folder, for this directory, replaces nothing there, and prints the
command that resumes it. opencode first imports the file: the command says so. A
call without a result gets one that says so. Pictures
and texts go along, and other files by name. --compacted sends the summary of a
compaction in place of the events that it covers. jp names what is left out.

--all --to html DIR writes a page for each conversation, with links between forks,
and a list of them in DIR/index.html.

Secrets are replaced again before anything is written, whatever the settings say,
and the page names the rules that found them. jp searches text, and not images.

Exit codes: 0 done · 2 usage · 3 --install: another file is there · 5 no such
conversation, or no such agent here · 6 damaged: what can be read was exported`

type exportOptions struct {
	to, output              string
	all, install, compacted bool
}

func newExportCommand(e *ui.Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export [ID | --all DIR]", GroupID: "share", Args: cobra.MaximumNArgs(1),
		Short: "Export a conversation as a page, as data or to another agent", Long: exportHelp,
		Example: "  jp export 4400 --to html -o page.html\n  jp export --to md | less\n  jp export 4400 --to json -o talk.json\n  jp export 4400 --to claude --install\n  jp export --all --to html site",
		RunE: func(cmd *cobra.Command, args []string) error {
			word := append(args, "")[0]
			if o.all {
				return exportSite(cmd.Context(), e, o, word)
			}
			return runExport(cmd.Context(), e, o, word)
		},
	}
	cmd.Flags().StringVar(&o.to, "to", "", "`FORMAT` of the export: "+exportFormats())
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write `FILE` in place of stdout")
	cmd.Flags().BoolVar(&o.all, "all", false, "write a page for each conversation, and a list, into the folder")
	cmd.Flags().BoolVar(&o.install, "install", false, "write the session to where its agent looks for it")
	cmd.Flags().BoolVar(&o.compacted, "compacted", false, "to another agent: the summary of what was compacted")
	cmd.MarkFlagsMutuallyExclusive("all", "output", "install")
	return cmd
}

func exportFormats() string { return "html, md, json, " + strings.Join(export.Agents(), ", ") }

// exportSite writes a page for each conversation into a folder.
func exportSite(ctx context.Context, e *ui.Env, o exportOptions, dir string) error {
	if o.to != "html" || dir == "" {
		return problem.Usage("--all takes --to html and a folder.").Hint(action.Help("jp", "export"), "its flags, with examples")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := export.CheckFolder(dir, r); err != nil {
		return err
	}
	var damage error
	pages, current := 0, map[string]bool{}
	err = export.Site(ctx, r, pageOptions(), func(name string, page *export.Document) error {
		pages++
		current[name] = true
		path := filepath.Join(dir, name)
		return notWritten(path, safefile.ReplaceWith(path, page.Write, export.FileModes))
	}, func(id conversation.ID, err error) {
		current[export.PageName(id)] = true // an earlier export could read it
		e.Note("%s: %v", id, err)
		damage = cmp.Or(damage, err)
	})
	if err != nil {
		return err
	}
	e.Note("%s in %s.", conversation.Count(pages, "page"), safetext.Show(dir))
	removed, err := export.RemoveOld(dir, current)
	if removed > 0 {
		e.Note("%s of conversations that are not here any more: removed.", conversation.Count(removed, "page"))
	}
	return cmp.Or(err, damage)
}

func notWritten(path string, err error) error {
	if err != nil {
		err = problem.New(problem.ExitFailed, "failed", "cannot write %s: %v.", safetext.Show(path), err)
	}
	return err
}

func runExport(ctx context.Context, e *ui.Env, o exportOptions, word string) error {
	wanted, native := export.ImagePayload, slices.Contains(export.Agents(), o.to)
	switch {
	case o.to == "json", native:
		wanted = export.EveryPayload
	case o.to == "html", o.to == "md":
	case o.to == "":
		return problem.Usage("jp export needs a format: --to %s.", exportFormats()).Hint(action.Help("jp", "export"), "its flags, with examples")
	default:
		return problem.Usage("invalid format %q (want --to %s).", o.to, exportFormats()).Hint(action.Help("jp", "export"), "its flags, with examples")
	}
	if (o.install || o.compacted) && !native {
		return problem.Usage("--install and --compacted take --to %s.", strings.Join(export.Agents(), ", ")).Hint(action.Help("jp", "export"), "its flags, with examples")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	open := export.Open
	if native {
		open = export.Load
	}
	source, err := open(ctx, r, word, wanted)
	if err != nil {
		return err
	}
	var notes []string
	if native {
		session, failed := source.Native(o.to, e.Dir, o.compacted)
		if failed != nil {
			return failed
		}
		notes = session.Notes
		err = o.put(e, func(w io.Writer) error {
			if !o.install {
				return session.Write(w)
			}
			path, err := session.Install(e.Get)
			if err == nil {
				e.Note("The session is in %s. This resumes it:", safetext.Show(path))
				_, err = fmt.Fprintln(w, session.Resume(path))
			}
			return err
		})
	} else {
		d, failed := source.Document(ctx, o.to, pageOptions())
		if failed != nil {
			return failed
		}
		defer d.Close()
		err = o.put(e, d.Write)
	}
	for _, note := range notes {
		e.Note("%s", note)
	}
	if err != nil {
		return err
	}
	if words := source.Secrets(); words != "" {
		e.Note("%s", words)
	}
	return source.View.Damage(nil)
}

// put writes to the file that the user named, as a whole, or to stdout.
func (o exportOptions) put(e *ui.Env, write func(io.Writer) error) error {
	if o.output == "" || o.output == "-" {
		return write(e.Results())
	}
	return notWritten(o.output, export.WriteFile(o.output, write))
}

func pageOptions() export.Options {
	r := terminal.NewHTML()
	return export.Options{Markdown: r.Markdown, Code: r.Code}
}
