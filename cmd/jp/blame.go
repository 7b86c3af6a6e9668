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

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

const blameHelp = `Say for each line of a file which event wrote it, and for one line also why:
what the model had just seen, what it was asked, and who allowed it. Lines that
are older than the conversation name their commit. With --all the conversation
is looked for whose tool wrote the line.

JSON: [{"line","text","conversation","seq","commit","time","author","tool","model"}];
with :LINE one such object, with "because", "for" and "allowed" ({"seq","text"} or
null). seq is null where no event wrote the line, commit where nothing recorded it.

Exit codes: 0 done · 2 usage · 5 no such file, line or conversation,
or it is incomplete here · 6 damaged`

type blameOptions struct {
	path string
	line int // 0: all
	id   string
	all  bool
}

func newBlameCommand(e *env) *cobra.Command {
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
				case err == nil && !isFile(filepath.Join(e.dir, args[0])):
					return usage("%s: lines begin with 1.", args[0])
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

func runBlame(ctx context.Context, e *env, o blameOptions) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	paths, err := r.inTree(e.host, []string{o.path})
	if err != nil {
		return err
	}
	views, err := r.blameViews(ctx, e, o)
	if err != nil {
		return err
	}
	lines, err := r.blame(ctx, views, paths[0], o)
	if err != nil {
		return err
	}
	return views[0].damage(showBlame(e, e.palette(e.stdout), lines, o))
}

// blameViews are the conversations to look in, the session's first and then the
// one that was active last.
func (r *repo) blameViews(ctx context.Context, e *env, o blameOptions) ([]*view, error) {
	if !o.all {
		v, err := r.find().view(ctx, e.host, o.id)
		return []*view{v}, err
	}
	infos, err := r.find().everyInfo(ctx)
	if err != nil {
		return nil, err
	}
	own, _ := r.find().visited(ctx, e.host, 0) // a session may have none
	slices.SortStableFunc(infos, func(a, b conversation.Info) int {
		if a.ID == own || b.ID == own {
			return cmp.Compare(bit(b.ID == own), bit(a.ID == own))
		}
		return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt)
	})
	var views []*view
	for _, i := range infos {
		v, err := r.find().view(ctx, e.host, string(i.ID))
		if err != nil {
			fmt.Fprintf(e.stderr, "%s is left out: %v\n", i.ID, safetext.Clean(err.Error()))
			continue
		}
		views = append(views, v)
	}
	if len(views) == 0 {
		return nil, fail(exitNotFound, "not_found", "there is no conversation yet.").hint(`jp query "…"`, "start one")
	}
	return views, nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blame asks each conversation, and keeps for each line the one that knows most.
func (r *repo) blame(ctx context.Context, views []*view, path string, o blameOptions) ([]blamedLine, error) {
	var best []blamedLine
	for _, v := range views {
		lines, err := v.blameLines(ctx, path, o.line)
		var f *failure
		if errors.As(err, &f) && f.exit == exitNotFound && o.all {
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
			if lines[i].known() > best[i].known() {
				best[i] = lines[i]
			}
		}
	}
	if best == nil {
		return nil, fail(exitNotFound, "not_found", "no conversation has %s, or that line of it.", path).hint("jp diff --turn all --name-only", "what the tools changed")
	}
	return best, nil
}

// known says how much is known of a line's origin: that a tool wrote it, that
// somebody did during the conversation, that it was there before, or nothing.
func (l blamedLine) known() int {
	switch {
	case l.event == nil && l.commit == nil:
		return 0
	case l.event == nil || l.event.Type() == conversation.TypeTurnStart:
		return 1
	case l.event.Type() == conversation.TypeToolCallResponse:
		return 3
	}
	return 2
}

func showBlame(e *env, p terminal.Palette, lines []blamedLine, o blameOptions) error {
	if e.format.structured() {
		objects := []map[string]any{}
		for _, l := range lines {
			objects = append(objects, l.object(o.line > 0))
		}
		if o.line > 0 {
			return writeJSON(e.results(), objects[0])
		}
		return writeJSON(e.results(), objects)
	}
	return e.paged(func(w io.Writer) error {
		if o.line > 0 {
			return explainLine(w, p, lines[0], o.all)
		}
		return printBlame(w, p, lines, o.all)
	})
}

// printBlame writes every line behind who wrote it and when, aligned.
func printBlame(w io.Writer, p terminal.Palette, lines []blamedLine, all bool) error {
	ref, author := 0, 0
	for _, l := range lines {
		ref, author = max(ref, safetext.Columns(l.ref(all))), max(author, safetext.Columns(l.author()))
	}
	author = min(author, 20)
	for _, l := range lines {
		who := safetext.Fit(l.author(), author)
		_, err := fmt.Fprintf(w, "%s%*s %s%*s %s %*d) %s\n",
			p.Yellow(l.ref(all)), ref-safetext.Columns(l.ref(all)), "", who, author-safetext.Columns(who), "",
			p.Dim(fmt.Sprintf("%16s", l.when())), len(itoa(len(lines))), l.number, safetext.Reveal(l.text))
		if err != nil {
			return err
		}
	}
	return nil
}

// explainLine writes a line of a file with everything that is known of it.
func explainLine(w io.Writer, p terminal.Palette, l blamedLine, all bool) error {
	rows, width := l.explain(all), 0
	for _, r := range rows {
		width = max(width, safetext.Columns(r[1]))
	}
	if _, err := fmt.Fprintln(w, p.Bold(safetext.Reveal(l.text))); err != nil {
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
