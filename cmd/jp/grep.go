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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
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
}

const grepLong = `Find lines of what was said, thought, called, answered and asked, and of titles.

PATTERN is plain text, with -r a regular expression (RE2); one of several lines is several patterns. With -e
all arguments are conversations. Capitals count where a pattern has one, else not. Searched are the
conversations named, wherever they are, or all that are not archived; what was discarded is not. They come in
the order of ls, the one that was active last at the end; -n takes the last ones in which something is found.
SCOPE: user, assistant (both: chat), reasoning, tool-call, tool-result (both: tool), inquiry, title, all.

On a terminal turn, @event and scope stand before the text, which is cut around the match where it is too
long; with context, : marks what matches and - what does not. Elsewhere a line is ID:TURN:SEQ:SCOPE:TEXT, one
of context ID-TURN-SEQ-SCOPE-TEXT; a title has no TURN and SEQ, TEXT no control characters. ⏳ marks what
belongs to an incomplete turn.

JSON: [{"id","conversation","title","turn","seq","scope","time","text","is_match","submatches":[[from,to]],
"incomplete"?}], from and to in bytes of text; turn, seq and time of a title are null. -l: ["jp-c…"];
-c: [{"id","count"}].

Exit codes: 0 found · 1 nothing found · 2 usage, bad pattern · 5 no such conversation · 6 one that was named is damaged`

func newGrepCommand(e *env) *cobra.Command {
	var o grepOptions
	cmd := &cobra.Command{
		Use: "grep PATTERN [ID…]", Short: "Find text in conversations", GroupID: "look", Long: grepLong,
		Example: "  jp grep retries\n  jp grep -r 'retr(y|ies)' -C2 --scope chat,tool-result\n  jp grep -e 'login retries' -e backoff 4400 .\n" +
			"  jp grep -l --since 2d ErrTemporary\n  jp grep --json --scope chat retries | jq -r '.[]|\"\\(.id)@\\(.seq)\"'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(cmd.Flags(), args); err != nil {
				return err
			}
			return runGrep(cmd.Context(), e, o)
		},
	}
	o.define(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("ignore-case", "case-sensitive")
	cmd.MarkFlagsMutuallyExclusive("list", "count")
	return cmd
}

func (o *grepOptions) define(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.patterns, "pattern", "e", nil, "find `PATTERN`, too; all arguments are conversations")
	f.BoolVarP(&o.regexp, "regexp", "r", false, "patterns are regular expressions")
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "capitals do not count")
	f.BoolVarP(&o.sensitive, "case-sensitive", "s", false, "capitals count")
	f.IntVarP(&o.after, "after-context", "A", 0, "with `N` lines of the same event after each match")
	f.IntVarP(&o.before, "before-context", "B", 0, "with `N` lines of the same event before each match")
	f.IntVarP(&o.around, "context", "C", 0, "with `N` lines on both sides (before the command, -C is a folder)")
	f.StringSliceVar(&o.scopes, "scope", nil, "only in `SCOPE,…`")
	f.StringVar(&o.since, "since", "", "only conversations active since a `TIME`: 2h, 2026-11-21, RFC 3339")
	f.BoolVar(&o.archived, "archived", false, "in the archived ones")
	f.BoolVarP(&o.list, "list", "l", false, "only the conversations' ids")
	f.BoolVarP(&o.count, "count", "c", false, "only how many lines match in each conversation")
	f.IntVarP(&o.max, "max-count", "m", 0, "at most `N` matching lines of each conversation")
	f.IntVarP(&o.limit, "limit", "n", 0, "at most `N` conversations")
}

// settle tells patterns from conversations, and what -C stands for.
func (o *grepOptions) settle(flags *pflag.FlagSet, args []string) error {
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
	return cmp.Or(atLeast(flags, 0, "after-context", "before-context", "context"), atLeast(flags, 1, "max-count", "limit"))
}

// A grep is a search of conversations, and what it came to.
type grep struct {
	env    *env
	repo   *repo
	opts   grepOptions
	query  *search.Query
	infos  []conversation.Info
	found  bool
	failed []search.Result // what could not be searched
}

func runGrep(ctx context.Context, e *env, o grepOptions) error {
	query, err := o.query(e.quiet)
	if err != nil {
		return err
	}
	r, err := openRepo(ctx, e)
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
	if e.quiet {
		return g.verdict(g.show(ctx, results, func(search.Result) error { return errEnough }))
	}
	return g.verdict(e.paged(func(w io.Writer) error {
		out := g.output(w)
		if err := g.show(ctx, results, out.show); err != nil {
			return err
		}
		return out.close()
	}))
}

// begin searches until something is found, and says how far it has come: a pager
// that has started leaves no place for that.
func (g *grep) begin(ctx context.Context) (results iter.Seq[search.Result], done func()) {
	progress := g.env.progress("Conversations searched", len(g.infos))
	next, done := iter.Pull(g.results(ctx, counting{g.repo.store, progress}))
	first, ok := next()
	progress.stop()
	return func(yield func(search.Result) bool) {
		for ; ok && yield(first); first, ok = next() {
		}
	}, done
}

// counting is a source that counts the conversations that were read.
type counting struct {
	search.Source
	progress *progress
}

// Sift implements [search.Source].
func (c counting) Sift(ctx context.Context, of conversation.Info, s conversation.Sieve) ([]*conversation.Event, error) {
	defer c.progress.step()
	return c.Source.Sift(ctx, of, s)
}

// query compiles the search; where only conversations are asked for, it ends at
// the first match in each.
func (o grepOptions) query(quiet bool) (*search.Query, error) {
	s := search.Options{Regexp: o.regexp, Before: o.before, After: o.after, Max: o.max}
	if o.list || quiet {
		s.Max = 1
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
			return nil, usage("--scope %q is none of %s.", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(search.Scopes), " ", ", "), "[]"))
		}
		s.Scopes = append(s.Scopes, scope)
	}
	query, err := search.Compile(s)
	switch {
	case len(o.patterns) == 0:
		return nil, usage("there is nothing to search for.").hint("jp grep PATTERN", "search for this").hint("jp grep --help", "examples")
	case errors.Is(err, search.ErrEmpty):
		return nil, usage("the pattern is empty.").hint("jp print", "all that was said")
	case errors.Is(err, search.ErrPattern):
		return nil, usage("%v.", err).hint("jp grep "+o.plain(), "search for plain text: without -r")
	case err != nil:
		return nil, usage("%v.", err)
	}
	return query, nil
}

// plain are the patterns as arguments.
func (o grepOptions) plain() string {
	if len(o.patterns) == 1 && !strings.HasPrefix(o.patterns[0], "-") {
		return terminal.Escape(o.patterns[0])
	}
	var words []string
	for _, p := range o.patterns {
		words = append(words, "-e", p)
	}
	return terminal.EscapeAll(words)
}

// conversations are those to search, in the order of ls.
func (g *grep) conversations(ctx context.Context) (infos []conversation.Info, err error) {
	var since time.Time
	if g.opts.since != "" {
		var ok bool
		if since, ok = parseTime(g.opts.since, g.env.now()); !ok {
			return nil, usage("--since %q is not a time: 2h, 2026-11-21, or RFC 3339.", g.opts.since)
		}
	}
	switch {
	case len(g.opts.words) > 0:
		infos, err = g.named(ctx)
	case g.opts.archived:
		infos, err = g.repo.store.List(ctx, conversation.ScopeArchived)
	default:
		infos, err = g.repo.store.List(ctx, conversation.ScopeLive)
	}
	infos = slices.DeleteFunc(infos, func(i conversation.Info) bool {
		return i.Err == nil && i.Summary.LastEventAt.Before(since)
	})
	slices.SortFunc(infos, func(a, b conversation.Info) int {
		return cmp.Or(a.Summary.LastEventAt.Compare(b.Summary.LastEventAt), cmp.Compare(a.ID, b.ID))
	})
	return infos, err
}

// named are the conversations that the user named, each once.
func (g *grep) named(ctx context.Context) ([]conversation.Info, error) {
	names, err := g.repo.names(ctx, g.env, g.opts.words)
	var unknown *failure
	if errors.As(err, &unknown) && len(g.opts.patterns) == 1 {
		words := append(slices.Clone(g.opts.patterns), g.opts.words...)
		unknown.hint("jp grep "+terminal.Escape(strings.Join(words, " ")), "search for all these words")
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var infos []conversation.Info
	for _, name := range slices.Compact(names) {
		info, err := g.repo.known(ctx, g.env, name)
		if info.ID == "" {
			info.ID = conversation.ID(name)
		}
		info.Err = err
		infos = append(infos, info)
	}
	return infos, nil
}

// errEnough ends a search that needs to find nothing more.
var errEnough = errors.New("enough was found")

// show gives what is found in each conversation to show, and keeps what could not
// be searched.
func (g *grep) show(ctx context.Context, results iter.Seq[search.Result], show func(search.Result) error) error {
	for r := range results {
		if r.Err != nil {
			g.failed = append(g.failed, r)
		}
		if len(r.Lines) == 0 {
			continue
		}
		g.found = true
		if err := show(r); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// results are in the order of the conversations. The last ones in which
// something is found are looked for from the end.
func (g *grep) results(ctx context.Context, from search.Source) iter.Seq[search.Result] {
	if g.opts.limit == 0 {
		return search.Conversations(ctx, from, g.infos, g.query)
	}
	slices.Reverse(g.infos)
	var last []search.Result
	left := g.opts.limit
	for r := range search.Conversations(ctx, from, g.infos, g.query) {
		last = append(last, r)
		if len(r.Lines) > 0 {
			left--
		}
		if left == 0 {
			break
		}
	}
	slices.Reverse(last)
	return slices.Values(last)
}

// verdict is how a search ends. One of the conversations that could not be
// searched is its error if the user named them; the others are told.
func (g *grep) verdict(err error) error {
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	}
	var first *failure
	for _, r := range g.failed {
		f := failureOf(aboutConversation(r.Err, r.Info.ID))
		if first == nil && len(g.opts.words) > 0 {
			first = f
			continue
		}
		g.warn(r.Info.ID, f)
	}
	switch {
	case first != nil:
		return first
	case !g.found:
		return &failure{exit: exitFailed, silent: true}
	}
	return nil
}

func (g *grep) warn(id conversation.ID, f *failure) {
	if g.env.quiet {
		return
	}
	text := f.message
	if f.code != "damaged" {
		text = string(id) + ": " + text
	}
	fmt.Fprintf(g.env.stderr, "Warning: %s\n    jp verify %s   all that is wrong with it\n", oneLine(text), id.Short())
}
