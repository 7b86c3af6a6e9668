package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

const blameHelp = `Show which event wrote each line of a file. For one line, also show why: what the
model had just read, the request, and who allowed it. jp looks in all conversations,
fetched ones too, and finds a line by its text after a rename, copy, squash, rebase
or merge. Other lines show their commit.

With --commit, show which conversations the lines of a commit come from, with the
events that wrote them, and how many lines no conversation has. jp compares the
commit with its first parent. It also shows the conversations that the message
names in a trailer Jp-Conversation, which anyone can write.

JSON: [{"line","text","conversation","seq","commit","time","author","tool","model"}];
with :LINE one such object, with "because", "for" and "allowed" ({"seq","text"} or
null). If no event wrote the line, seq is null and conversation that of the session.
If nothing recorded the line, commit is null, too.

Exit codes: 0 done · 2 usage · 5 no such file, line, commit or conversation,
or it is incomplete here · 6 damaged`

type blameOptions struct {
	path string
	line int    // 0: all
	id   string // "": look in all conversations
}

func newBlameCommand(e *ui.Env) *cobra.Command {
	var o blameOptions
	var commit bool
	cmd := &cobra.Command{
		Use: "blame PATH[:LINE]|COMMIT", GroupID: "look", Args: cobra.ExactArgs(1),
		Short: "Show which event, call and question wrote a line", Long: blameHelp,
		Example: "  jp blame auth/retry.go:14\n  jp blame auth/retry.go\n  jp blame -i 4400 main.go:3\n  jp blame --commit HEAD",
		RunE: func(cmd *cobra.Command, args []string) error {
			if commit {
				return runWhy(cmd.Context(), e, args[0])
			}
			o.path = args[0]
			if at := strings.LastIndexByte(args[0], ':'); at >= 0 {
				n, err := strconv.Atoi(args[0][at+1:])
				switch {
				case err == nil && n > 0:
					o.path, o.line = args[0][:at], n
				case err == nil && !safefile.IsRegular(filepath.Join(e.Dir, args[0])):
					return problem.Usage("%s: lines begin with 1.", args[0])
				}
			}
			return runBlame(cmd.Context(), e, o)
		},
	}
	cmd.Flags().StringVarP(&o.id, "id", "i", "", "look only in conversation `ID`")
	cmd.Flags().Bool("all", true, "look in all conversations, the default")
	_ = cmd.Flags().MarkHidden("all")
	cmd.Flags().BoolVar(&commit, "commit", false, "show where the lines of a commit come from")
	cmd.MarkFlagsMutuallyExclusive("id", "all", "commit")
	return cmd
}

func runBlame(ctx context.Context, e *ui.Env, o blameOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	paths, err := r.InTree(e.Host, []string{o.path})
	if err != nil {
		return err
	}
	q := blame.Question{Path: paths[0], Line: o.line}
	if o.id != "" {
		names, err := r.Find().Names(ctx, e.Host, []string{o.id})
		if err != nil {
			return err
		}
		q.Only = names[0]
	} else if id, err := r.Find().Visited(ctx, e.Host, 0); err == nil {
		q.Session = string(id)
	}
	index, err := blame.OpenIndex(ctx, r)
	if err != nil {
		return err
	}
	for name, err := range index.Left {
		fmt.Fprintf(e.Messages(), "%s is left out: %v\n", name, safetext.Clean(err.Error()))
	}
	lines, err := index.Lines(ctx, q)
	if err == nil && o.line > 0 {
		err = lines[0].Trace(ctx, e.Host)
	}
	if err != nil {
		return err
	}
	if err := ui.ShowBlame(lines, o.line > 0, e); err != nil || q.Only == "" {
		return err
	}
	return index.Left[q.Only]
}
