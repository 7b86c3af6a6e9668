package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/search"
)

type grepOptions struct {
	patterns   []string
	words      []string // the conversations named
	regexp     bool
	ignoreCase bool
	sensitive  bool
	before     int
	after      int
	around     int
	scopes     []string
	since      string
	archived   bool
	list       bool
	count      bool
	max        int
	limit      int
	recall     bool
	all        bool
}

const grepLong = `Find lines in requests, answers, reasoning, tool calls, results, questions and
titles.

PATTERN is plain text, or with -r a regular expression (RE2). Several lines are
several patterns. With -e all arguments are conversations. Case matters if a
pattern has a capital. grep searches the named conversations, or all that are not
archived. It skips discarded turns, and the calls of recall tools, which repeat
other conversations (--recall includes them). A line that forks share comes once,
with their names (--all repeats it). The most recently active conversation comes last. -n takes the last ones with a match.
SCOPE: user, assistant (both: chat), reasoning, tool-call, tool-result (both:
tool), inquiry, title, all.

On a terminal, turn, @event and scope precede the text, which is cut around the
match. With context, : marks matches and - the other lines. Elsewhere a match is
ID:TURN:SEQ:SCOPE:TEXT, and a context line ID-TURN-SEQ-SCOPE-TEXT. Titles have
no TURN and SEQ, and TEXT has no control characters. ⏳ marks an incomplete turn.

JSON: [{"id","conversation","title","turn","seq","scope","time","text","is_match","submatches":[[from,to]],
"incomplete"?,"forks"?}], from and to in bytes of text; turn, seq and time of a title are null. -l: ["jp-c…"];
-c: [{"id","count"}].

Exit codes: 0 found · 1 no match · 2 usage, bad pattern ·
5 no such conversation, or a named one is incomplete here · 6 a named one is
damaged`

func newGrepCommand(e *ui.Env) *cobra.Command {
	var o grepOptions
	cmd := &cobra.Command{
		Use: "grep PATTERN [ID…]", Short: "Find text in conversations", GroupID: "look", Long: grepLong,
		Example: "  jp grep retries\n  jp grep -r 'retr(y|ies)' -C2 --scope chat,tool-result\n  jp grep -e 'login retries' -e backoff 4400 .\n" +
			"  jp grep -l --since 2d ErrTemporary\n  jp grep --json --scope chat retries | jq -r '.[]|\"\\(.id)@\\(.seq)\"'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			return runGrep(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.patterns, "pattern", "e", nil, "also find `PATTERN`; all arguments are conversations")
	f.BoolVarP(&o.regexp, "regexp", "r", false, "patterns are regular expressions")
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore case")
	f.BoolVarP(&o.sensitive, "case-sensitive", "s", false, "match case")
	f.IntVarP(&o.after, "after-context", "A", 0, "with `N` lines of the same event after each match")
	f.IntVarP(&o.before, "before-context", "B", 0, "with `N` lines of the same event before each match")
	f.IntVarP(&o.around, "context", "C", 0, "with `N` lines on both sides (before the command, -C is a folder)")
	f.StringSliceVar(&o.scopes, "scope", nil, "only in `SCOPE` (repeatable, or several with commas)")
	f.StringVar(&o.since, "since", "", "only conversations active since a `TIME`: 2h, 2026-11-21, RFC 3339")
	f.BoolVar(&o.archived, "archived", false, "search archived ones")
	f.BoolVarP(&o.list, "list", "l", false, "only the conversations' ids")
	f.BoolVarP(&o.count, "count", "c", false, "only the number of matching lines of each conversation")
	f.IntVarP(&o.max, "max-count", "m", 0, "at most `N` matching lines of each conversation")
	f.IntVarP(&o.limit, "limit", "n", 0, "at most `N` conversations")
	f.BoolVar(&o.all, "all", false, "repeat a line in each fork that shares it, as -c, -l, -m and -n do")
	f.BoolVar(&o.recall, "recall", false, "also in calls and results of the recall tools")
	cmd.MarkFlagsMutuallyExclusive("ignore-case", "case-sensitive")
	cmd.MarkFlagsMutuallyExclusive("list", "count")
	return cmd
}

// resolve separates patterns from conversations, and resolves -C.
func (o *grepOptions) resolve(flags *pflag.FlagSet, args []string) error {
	if !flags.Changed("before-context") {
		o.before = o.around
	}
	if !flags.Changed("after-context") {
		o.after = o.around
	}
	o.words = args
	if len(o.patterns) == 0 && len(args) > 0 {
		o.patterns, o.words = args[:1], args[1:]
	}
	if flags.Changed("scope") && len(o.scopes) == 0 {
		return problem.Usage("--scope is empty.")
	}
	if slices.Contains(o.words, "") {
		return problem.Usage("an argument is empty; it names nothing.").Hint(action.Help("jp", "grep"), "its arguments, with examples")
	}
	return cmp.Or(atLeast(flags, 0, "after-context", "before-context", "context"), atLeast(flags, 1, "max-count", "limit"))
}

// A grep is a search of conversations, and its result.
type grep struct {
	env    *ui.Env
	repo   *repo.Repo
	opts   grepOptions
	query  *search.Query
	infos  []conversation.Info
	found  bool
	failed []search.Result // conversations that could not be searched
	absent absence
}

func runGrep(ctx context.Context, e *ui.Env, o grepOptions) error {
	query, err := o.query(e.Quiet)
	if err != nil {
		return err
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	g := &grep{env: e, repo: r, opts: o, query: query}
	if g.infos, err = g.conversations(ctx); err != nil {
		return err
	}
	results, done := g.begin(ctx)
	defer done()
	if e.Quiet {
		return g.verdict(g.show(ctx, results, func(search.Result) error { return errEnough }))
	}
	return g.verdict(e.Paged(func(w io.Writer) error {
		out := g.output(w)
		if err := g.show(ctx, results, out.show); err != nil {
			return err
		}
		return out.close()
	}))
}

// begin searches until the first match, and shows its progress: a pager that has started leaves no
// place for that.
func (g *grep) begin(ctx context.Context) (results iter.Seq[search.Result], done func()) {
	progress := g.env.Progress("Conversations searched", len(g.infos))
	next, done := iter.Pull(g.results(ctx, noting{counting{g.repo.Store, progress}, &g.absent}))
	first, ok := next()
	progress.Stop()
	return func(yield func(search.Result) bool) {
		for ; ok && yield(first); first, ok = next() {
		}
	}, done
}

// counting is a source that counts the conversations that were read.
type counting struct {
	search.Source
	progress *ui.Progress
}

// Scan implements [search.Source].
func (c counting) Scan(ctx context.Context, of conversation.Info, s conversation.Prefilter) ([]*conversation.Event, error) {
	defer c.progress.Step()
	return c.Source.Scan(ctx, of, s)
}

// query compiles the search. If only conversations are asked for, it ends at the first match in each.
func (o grepOptions) query(quiet bool) (*search.Query, error) {
	s := search.Options{Regexp: o.regexp, Before: o.before, After: o.after, Max: o.max, Count: o.count}
	if o.list || quiet {
		s.Max = 1
	}
	if !o.recall {
		s.Without = toolset.IsRecall
	}
	if o.list || quiet || o.count {
		s.Before, s.After = 0, 0
	}
	switch {
	case o.ignoreCase:
		s.Case = search.Ignore
	case o.sensitive:
		s.Case = search.Sensitive
	}
	for _, p := range o.patterns {
		s.Patterns = append(s.Patterns, strings.Split(strings.TrimSuffix(p, "\n"), "\n")...)
	}
	for _, name := range o.scopes {
		scope := search.Scope(name)
		if !slices.Contains(search.Scopes, scope) {
			return nil, problem.Usage("invalid --scope %q (want one of %s).", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(search.Scopes), " ", ", "), "[]"))
		}
		s.Scopes = append(s.Scopes, scope)
	}
	query, err := search.Compile(s)
	switch {
	case len(o.patterns) == 0:
		return nil, problem.Usage("there is nothing to search for.").Hint(action.Grep, "search for this").Hint(action.Help("jp", "grep"), "examples")
	case errors.Is(err, search.ErrEmpty):
		return nil, problem.Usage("the pattern is empty.").Hint(action.PrintSession, "all that was said")
	case errors.Is(err, search.ErrPattern):
		return nil, problem.Usage("%v.", err).Hint(action.GrepFor(o.plain()...), "search for plain text: without -r")
	case err != nil:
		return nil, problem.Usage("%v.", err)
	}
	return query, nil
}

// plain are the patterns as arguments.
func (o grepOptions) plain() []string {
	if len(o.patterns) == 1 && !strings.HasPrefix(o.patterns[0], "-") {
		return o.patterns
	}
	var words []string
	for _, p := range o.patterns {
		words = append(words, "-e", p)
	}
	return words
}
