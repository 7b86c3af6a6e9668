package main

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"jp/agent/action"
	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/cmd/jp/internal/webpage"
	"jp/export"
	"jp/internal/safefile"
)

const exportHelp = `Export a conversation. --to html writes a page: one file that runs no script and
loads nothing, with a link for each event (#e14), diffs, costs and forks. --to md
writes Markdown. --to json writes data that jp import jp reads, also in a
repository of another object format.

Secrets are replaced again before anything is written, whatever the settings say,
and the page names the rules that found them. jp searches text, and not images.

Exit codes: 0 done · 2 usage · 5 no such conversation · 6 damaged: what can be read
was exported`

type exportOptions struct{ to, output string }

func newExportCommand(e *ui.Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export [ID]", GroupID: "share", Args: cobra.MaximumNArgs(1),
		Short: "Export a conversation as a page or as data", Long: exportHelp,
		Example: "  jp export 4400 --to html -o page.html\n  jp export --to md | less\n  jp export 4400 --to json -o talk.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExport(cmd.Context(), e, o, append(args, "")[0])
		},
	}
	cmd.Flags().StringVar(&o.to, "to", "", "`FORMAT` of the export: html, md or json")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write `FILE` in place of stdout")
	return cmd
}

func runExport(ctx context.Context, e *ui.Env, o exportOptions, word string) error {
	wanted := export.ImagePayload
	switch o.to {
	case "json":
		wanted = export.EveryPayload
	case "html", "md":
	default:
		return problem.Usage("invalid format %q (want --to html, md or json).", o.to).Hint(action.Help("jp", "export"), "its flags, with examples")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	source, err := export.Load(ctx, r, word, wanted)
	if err != nil {
		return err
	}
	write := source.JSON
	switch o.to {
	case "md":
		write = func(w io.Writer) error { return source.Markdown(ctx, w) }
	case "html":
		forks, err := export.Forks(ctx, r)
		if err != nil {
			return err
		}
		write = func(w io.Writer) error {
			return source.Page(ctx, w, export.Options{Markdown: webpage.Markdown, Forks: forks[source.View.ID]})
		}
	}
	if err := o.put(e, write); err != nil {
		return err
	}
	if words := source.Secrets(); words != "" {
		e.Note("%s", words)
	}
	return source.View.Damage(nil)
}

// put writes to the file that the user named, as a whole, or to stdout.
func (o exportOptions) put(e *ui.Env, write func(io.Writer) error) error {
	if o.output == "" {
		return write(e.Results())
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	err := safefile.Replace(o.output, text.Bytes(), safefile.Options{Mode: 0o666, FolderMode: 0o777})
	if err != nil {
		err = problem.New(problem.ExitFailed, "failed", "cannot write %s: %v.", o.output, err)
	}
	return cmp.Or(err, nil)
}
