package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

const blameHelp = `Show which event wrote each line of a file. For one line, also show why: what the
model had just read, the request, and who allowed it. Lines that are older than
the conversation show their commit. With --all, jp searches all conversations for
the tool that wrote the line.

JSON: [{"line","text","conversation","seq","commit","time","author","tool","model"}];
with :LINE one such object, with "because", "for" and "allowed" ({"seq","text"} or
null). seq is null if no event wrote the line, commit if nothing recorded it.

Exit codes: 0 done · 2 usage · 5 no such file, line or conversation,
or it is incomplete here · 6 damaged`

type blameOptions struct {
	path string
	line int // 0: all
	id   string
	all  bool
}

func newBlameCommand(e *ui.Env) *cobra.Command {
	var o blameOptions
	cmd := &cobra.Command{
		Use: "blame PATH[:LINE]", GroupID: "look", Args: cobra.ExactArgs(1),
		Short: "Show which event, call and question wrote a line", Long: blameHelp,
		Example: "  jp blame auth/retry.go:14\n  jp blame auth/retry.go\n  jp blame --all main.go:3",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			if path, line, found := cutLast(args[0], ":"); found {
				n, err := strconv.Atoi(line)
				switch {
				case err == nil && n > 0:
					o.path, o.line = path, n
				case err == nil && !repo.IsFile(filepath.Join(e.Dir, args[0])):
					return problem.Usage("%s: lines begin with 1.", args[0])
				}
			}
			return runBlame(cmd.Context(), e, o)
		},
	}
	cmd.Flags().StringVarP(&o.id, "id", "i", "", "look in this conversation `ID`")
	cmd.Flags().BoolVar(&o.all, "all", false, "look in all conversations")
	cmd.MarkFlagsMutuallyExclusive("id", "all")
	return cmd
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
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
	views, err := blameViews(ctx, r, e, o)
	if err != nil {
		return err
	}
	lines, err := blameFile(ctx, r, views, paths[0], o)
	if err != nil {
		return err
	}
	return views[0].Damage(showBlame(e, e.Palette(e.Stdout), lines, o))
}

// blameViews are the conversations to look in, the session's first and then the
// one that was active last.
func blameViews(ctx context.Context, r *repo.Repo, e *ui.Env, o blameOptions) ([]*repo.View, error) {
	if !o.all {
		v, err := r.Find().View(ctx, e.Host, o.id)
		return []*repo.View{v}, err
	}
	infos, err := r.Find().EveryInfo(ctx)
	if err != nil {
		return nil, err
	}
	own, _ := r.Find().Visited(ctx, e.Host, 0) // a session may have none
	slices.SortStableFunc(infos, func(a, b conversation.Info) int {
		if a.ID == own || b.ID == own {
			return cmp.Compare(bit(b.ID == own), bit(a.ID == own))
		}
		return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt)
	})
	var views []*repo.View
	for _, i := range infos {
		v, err := r.Find().View(ctx, e.Host, string(i.ID))
		if err != nil {
			fmt.Fprintf(e.Messages(), "%s is left out: %v\n", i.ID, safetext.Clean(err.Error()))
			continue
		}
		views = append(views, v)
	}
	if len(views) == 0 {
		return nil, problem.New(problem.ExitNotFound, "not_found", "there is no conversation yet.").Hint(action.Ask, "start one")
	}
	return views, nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blameFile asks each conversation, and keeps for each line the one that knows most.
func blameFile(ctx context.Context, r *repo.Repo, views []*repo.View, path string, o blameOptions) ([]blame.BlamedLine, error) {
	var best []blame.BlamedLine
	for _, v := range views {
		lines, err := blame.BlameLines(ctx, v, path, o.line)
		var f *problem.Error
		if errors.As(err, &f) && f.Exit == problem.ExitNotFound && o.all {
			continue
		}
		if err != nil {
			return nil, err
		}
		if best == nil {
			best = lines
			continue
		}
		for i := range min(len(best), len(lines)) {
			if lines[i].Known() > best[i].Known() {
				best[i] = lines[i]
			}
		}
	}
	if best == nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "no conversation has %s, or that line of it.", path).Hint(action.DiffTools, "what the tools changed")
	}
	return best, nil
}

func showBlame(e *ui.Env, p terminal.Palette, lines []blame.BlamedLine, o blameOptions) error {
	if e.Format.Structured() {
		objects := []map[string]any{}
		for _, l := range lines {
			objects = append(objects, l.Object(o.line > 0))
		}
		if o.line > 0 {
			return ui.WriteJSON(e.Results(), objects[0])
		}
		return ui.WriteJSON(e.Results(), objects)
	}
	return e.Paged(func(w io.Writer) error {
		if o.line > 0 {
			return explainLine(w, p, lines[0], o.all)
		}
		return printBlame(w, p, lines, o.all)
	})
}

// printBlame writes every line behind who wrote it and when, aligned.
func printBlame(w io.Writer, p terminal.Palette, lines []blame.BlamedLine, all bool) error {
	ref, author := 0, 0
	for _, l := range lines {
		ref, author = max(ref, safetext.Columns(l.Ref(all))), max(author, safetext.Columns(l.Author()))
	}
	author = min(author, 20)
	for _, l := range lines {
		who := safetext.Fit(l.Author(), author)
		_, err := fmt.Fprintf(w, "%s%*s %s%*s %s %*d) %s\n",
			p.Yellow(l.Ref(all)), ref-safetext.Columns(l.Ref(all)), "", who, author-safetext.Columns(who), "",
			p.Dim(fmt.Sprintf("%16s", l.When())), len(problem.Itoa(len(lines))), l.Number, safetext.Reveal(l.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

// explainLine writes a line of a file with everything that is known of it.
func explainLine(w io.Writer, p terminal.Palette, l blame.BlamedLine, all bool) error {
	rows, width := l.Explain(all), 0
	for _, r := range rows {
		width = max(width, safetext.Columns(r[1]))
	}
	if _, err := fmt.Fprintln(w, p.Bold(safetext.Reveal(l.Text))); err != nil {
		return err
	}
	for _, r := range rows {
		_, err := fmt.Fprintf(w, "  %-7s  %s%*s  %s\n", r[0], p.Yellow(r[1]), width-safetext.Columns(r[1]), "", safetext.Clean(r[2]))
		if err != nil {
			return err
		}
	}
	return nil
}
