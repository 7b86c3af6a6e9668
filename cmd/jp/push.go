package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/share"
)

type pushOptions struct {
	words   []string // [REMOTE] [ID…]
	all     bool
	history bool
	allow   []string // objects that leave in spite of a finding
	own     bool
	yes     bool
	remove  bool
}

const pushHelp = `Push conversations to a git remote: this session's, those of ID, or all of them.
Conversations of delegates and large texts go along. Without REMOTE, jp takes the
remote of the last push. At the first push to a remote, and when its URL has
changed, jp shows the URL and asks. jp never pushes by itself and never forces a
ref.

Before anything leaves, jp searches all that would: events, texts, files. It
refuses secrets, files above 50 MB, files that git ignores, and files that lack
their filter, and names the event of each. Your own commits that the remote lacks
go along below a conversation: jp lists them, and asks.

If git signs with an SSH key (gpg.format ssh, user.signingKey), jp signs the list
of your conversations. Your other machines then take them for yours.

--delete deletes conversations at the remote, if they are as the remote has just
said. Here they stay.

JSON: {"remote","url","conversations":[{"id","ref","head","there","relation","pushed"}],
"commits":[{"id","subject"}],"findings":[{"object","path","why","conversation",
"event","commit"}],"signed"}

Exit codes: 0 pushed, or nothing to push · 1 the remote failed or refused ·
2 usage · 3 something must not leave, or there is no terminal to ask ·
5 no such conversation or remote`

func newPushCommand(e *ui.Env) *cobra.Command {
	var o pushOptions
	cmd := &cobra.Command{
		Use: "push [REMOTE] [ID…]", GroupID: "share", Short: "Push conversations to a git remote", Long: pushHelp,
		Example: "  jp push                    # this session's conversation\n  jp push origin 4400\n  jp push git@example.com:team/conversations.git --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runPush(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "push all conversations, archived ones too")
	f.BoolVar(&o.history, "with-history", false, "push your own commits below a conversation, too, without asking")
	f.StringArrayVar(&o.allow, "allow", nil, "push `OBJECT`, although jp found something in it")
	f.BoolVar(&o.remove, "delete", false, "delete the conversations at the remote; here they stay")
	f.BoolVarP(&o.yes, "yes", "y", false, "agree to the remote's URL, or to --delete, without asking")
	cmd.MarkFlagsMutuallyExclusive("all", "delete")
	return cmd
}

// again are the words of the same push with more flags.
func (o pushOptions) again(flags ...string) []string {
	words := slices.Clone(o.words)
	if o.all {
		words = append(words, "--all")
	}
	for _, object := range o.allow {
		words = append(words, "--allow", object)
	}
	if o.history {
		words = append(words, "--with-history")
	}
	return append(words, flags...)
}

func runPush(ctx context.Context, e *ui.Env, o pushOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	word, ids, err := share.Split(ctx, r, o.words)
	if err != nil {
		return err
	}
	m, err := share.Find(ctx, r, word)
	if err != nil {
		return err
	}
	if o.remove {
		return removeThere(ctx, e, r, m, ids, o)
	}
	if err := agreeRemote(ctx, e, r, m, o.yes); err != nil {
		return err
	}
	return push(ctx, e, r, m, ids, o)
}

// removeThere deletes conversations at the remote.
func removeThere(ctx context.Context, e *ui.Env, r *repo.Repo, m share.Remote, words []string, o pushOptions) error {
	ids, err := pushed(ctx, e, r, words, false)
	if err != nil {
		return err
	}
	if !o.yes {
		if err := e.Confirm(ctx, ui.Confirmation{
			Question: fmt.Sprintf("Delete %s at %s?", conversation.Count(len(ids), "conversation"), safetext.Show(m.Name)),
			List: func(out io.Writer, _ terminal.Palette) {
				fmt.Fprintf(out, "%s is %s\n", safetext.Show(m.Name), safetext.Show(m.URL))
				for _, id := range ids {
					fmt.Fprintf(out, "  %s\n", id)
				}
			},
			Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask, so nothing was deleted. --yes agrees."),
		}); err != nil {
			return err
		}
	}
	if err := share.Remove(ctx, r, m, ids); err != nil {
		return err
	}
	for _, id := range ids {
		fmt.Fprintf(e.Results(), "%s deleted at %s\n", id, safetext.Show(m.Name))
	}
	return nil
}

// agreeRemote asks about the URL of a remote, unless the user has agreed to it.
func agreeRemote(ctx context.Context, e *ui.Env, r *repo.Repo, m share.Remote, yes bool) error {
	public := m.Public(ctx, r)
	if m.Agreed(public) {
		return m.Agree(ctx, r, public)
	}
	tell := func(out io.Writer) {
		fmt.Fprintf(out, "%s is %s\n", safetext.Show(m.Name), safetext.Show(m.URL))
		if m.Was != "" && m.Was != m.URL {
			fmt.Fprintf(out, "It was %s\n", safetext.Show(m.Was))
		}
		if public {
			fmt.Fprintln(out, "Anybody can read what is there.")
		}
	}
	if yes {
		tell(e.Messages())
	} else if err := e.Confirm(ctx, ui.Confirmation{
		Question: "Push conversations there?", List: func(out io.Writer, _ terminal.Palette) { tell(out) },
		Unasked: problem.New(problem.ExitDecision, "usage", "%s is %s, and there is no terminal to ask whether conversations may go there.", safetext.Show(m.Name), safetext.Show(m.URL)).
			Hint(action.PushYes(m.Word()), "agree to it"),
	}); err != nil {
		return err
	}
	return m.Agree(ctx, r, public)
}

// push plans, asks, pushes and reports.
func push(ctx context.Context, e *ui.Env, r *repo.Repo, m share.Remote, words []string, o pushOptions) error {
	ids, err := pushed(ctx, e, r, words, o.all)
	if err != nil {
		return err
	}
	p, err := share.NewPlan(ctx, r, m, ids)
	if err != nil {
		return err
	}
	if err := p.Refused(); err != nil {
		return err
	}
	if err := refuseFindings(p, o); err != nil {
		return err
	}
	if len(p.Commits) > 0 && !o.history {
		if err := askHistory(ctx, e, p, o); err != nil {
			return err
		}
	}
	failed := p.Push(ctx)
	signed, unsigned := false, error(nil)
	if failed == nil {
		signed, unsigned = p.Vouch(ctx)
	}
	if e.Format.Structured() {
		return errors.Join(failed, unsigned, ui.WriteJSON(e.Results(), map[string]any{
			"remote": m.Name, "url": m.URL, "conversations": p.Items, "commits": append([]share.Commit{}, p.Commits...),
			"findings": append([]share.Finding{}, p.Findings...), "signed": signed,
		}))
	}
	n := 0
	for _, i := range p.Items {
		switch {
		case i.Pushed:
			n++
			fmt.Fprintf(e.Results(), "%s pushed\n", i.ID)
		case i.Relation == share.Even:
		case i.Relation == share.Behind:
			e.Note("%s has newer events at %s. %s   brings them", i.ID.Short(), safetext.Show(m.Name), action.FetchTalks)
		default:
			e.Note("%s was not pushed.", i.ID.Short())
		}
	}
	switch {
	case failed != nil:
		return failed
	case unsigned != nil:
		return unsigned
	case n == 0:
		e.Note("%s has all events.", safetext.Show(m.Name))
	case !signed:
		e.Note("The list is not signed, so these conversations are someone else's on your other machines. %s   how to sign it", action.Help("jp", "trust", "key"))
	}
	return nil
}

// pushed are the conversations to push.
func pushed(ctx context.Context, e *ui.Env, r *repo.Repo, words []string, all bool) (ids []conversation.ID, err error) {
	if all && len(words) > 0 {
		return nil, problem.Usage("--all pushes all conversations; name none with it.")
	}
	if all {
		live, err := r.Store.IDs(conversation.ScopeLive)
		if err != nil {
			return nil, err
		}
		archived, err := r.Store.IDs(conversation.ScopeArchived)
		return append(live, archived...), err
	}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words {
		id, err := r.Find().Resolve(ctx, e.Host, word)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// refuseFindings is the error of what must not leave.
func refuseFindings(p *share.Plan, o pushOptions) error {
	var lines, again []string
	for _, f := range p.Findings {
		if slices.ContainsFunc(o.allow, func(word string) bool { return len(word) >= 7 && strings.HasPrefix(f.Object, word) }) {
			continue
		}
		where := "commit " + f.Commit[:min(len(f.Commit), 10)] + " of yours"
		if f.Conversation != "" {
			where = fmt.Sprintf("%s@%d", f.Conversation.Short(), f.Event)
		}
		again = append(again, "--allow", f.Object[:10])
		what := cmp.Or(safetext.Show(f.Path), "its text")
		lines = append(lines, fmt.Sprintf("%s: %s %s (%s)", where, what, f.Why, f.Object[:10]))
	}
	if len(lines) == 0 {
		return nil
	}
	err := problem.New(problem.ExitDecision, "findings", "%s must not leave. Nothing was pushed.", conversation.Count(len(lines), "object"))
	err.Details = append(err.Details, lines[:min(len(lines), 20)]...)
	if more := len(lines) - 20; more > 0 {
		err.Details = append(err.Details, fmt.Sprintf("and %d more", more))
	}
	return err.Hint(action.PushAgain(o.again(again...)...), "push all of it all the same, once you have looked at each")
}

// askHistory asks about the user's own commits.
func askHistory(ctx context.Context, e *ui.Env, p *share.Plan, o pushOptions) error {
	const most = 10
	name := safetext.Show(p.Remote.Name)
	return e.Confirm(ctx, ui.Confirmation{
		Question: fmt.Sprintf("Push %s of yours, too?", conversation.Count(len(p.Commits), "commit")),
		List: func(out io.Writer, _ terminal.Palette) {
			fmt.Fprintf(out, "Below the conversations are commits of yours that %s lacks:\n", name)
			for _, c := range p.Commits[:min(len(p.Commits), most)] {
				fmt.Fprintf(out, "  %.10s %s\n", c.ID, safetext.Show(c.Subject))
			}
			if more := len(p.Commits) - most; more > 0 {
				fmt.Fprintf(out, "  and %d more\n", more)
			}
		},
		Unasked: problem.New(problem.ExitDecision, "usage", "%s of yours would go along, which %s lacks. Nothing was pushed.", conversation.Count(len(p.Commits), "commit"), name).
			Hint(action.PushAgain(o.again("--with-history")...), "push them, too").
			Hint(action.ForkDetached(p.Moving()[0].ID.Short()), "make a copy that stands on no commit, to push that"),
	})
}

const fetchHelp = `Fetch the conversations of a git remote. Everybody's can be read as REMOTE/ID, and
forked. Your own go on here under their id, if a key that you trust (jp trust key)
signed their list at the push. Approvals never travel: jp asks again, and a call
that was open is not run.

In a repository where you have fetched nothing of yours yet, jp asks whether the
signed list is of this repository; --own says yes. A conversation that you removed
here stays removed.

JSON: {"remote","changed":[ID],"set_back":[ID],"taken":[{"id","new","fork"}],
"left":[{"id","why"}],"waiting","unknown"}

Exit codes: 0 done · 1 the remote failed · 2 usage · 3 a signed list is not what
it should be · 5 no such remote`

func newFetchCommand(e *ui.Env) *cobra.Command {
	var o pushOptions
	cmd := &cobra.Command{
		Use: "fetch [REMOTE]", GroupID: "share", Short: "Fetch conversations from a git remote", Long: fetchHelp, Args: cobra.MaximumNArgs(1),
		Example: "  jp fetch\n  jp fetch origin && jp ls --remote",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runFetch(cmd.Context(), e, o, false)
		},
	}
	cmd.Flags().BoolVar(&o.own, "own", false, "the signed list is of this repository")
	return cmd
}

const syncHelp = `Fetch from a git remote, and push all conversations there. If a conversation has
events of its own both here and there, the one here becomes a fork, and the id has
the events from there. Both stay whole.

The rules are those of jp fetch and jp push.

Exit codes: those of jp fetch and jp push`

func newSyncCommand(e *ui.Env) *cobra.Command {
	o := pushOptions{all: true}
	cmd := &cobra.Command{
		Use: "sync [REMOTE]", GroupID: "share", Short: "Fetch conversations, and push all", Long: syncHelp, Args: cobra.MaximumNArgs(1),
		Example: "  jp sync\n  jp sync --own",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runFetch(cmd.Context(), e, o, true)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.own, "own", false, "the signed list is of this repository")
	f.BoolVar(&o.history, "with-history", false, "push your own commits below a conversation, too, without asking")
	f.StringArrayVar(&o.allow, "allow", nil, "push `OBJECT`, although jp found something in it")
	f.BoolVarP(&o.yes, "yes", "y", false, "agree to the remote's URL without asking")
	return cmd
}

func runFetch(ctx context.Context, e *ui.Env, o pushOptions, sync bool) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	m, err := share.Find(ctx, r, strings.Join(o.words, ""))
	if err != nil {
		return err
	}
	if sync {
		if err := agreeRemote(ctx, e, r, m, o.yes); err != nil {
			return err
		}
	}
	got, err := share.Fetch(ctx, r, m, share.FetchRequest{Forks: sync, Agree: func(ctx context.Context, n int, key share.Key) (bool, error) {
		if o.own || !ui.HasTerminal() {
			return o.own, nil
		}
		err := e.Confirm(ctx, ui.Confirmation{
			Question: fmt.Sprintf("Is this the repository of %s of yours?", conversation.Count(n, "conversation")),
			List: func(out io.Writer, _ terminal.Palette) {
				fmt.Fprintf(out, "%s has %s. Your key signed their list:\n  %s\n", safetext.Show(m.Name), conversation.Count(n, "conversation"), safetext.Show(key.String()))
			},
		})
		var f *problem.Error
		if errors.As(err, &f) && f.Exit == problem.ExitDecision {
			return false, nil
		}
		return err == nil, err
	}})
	if err != nil {
		return err
	}
	if !e.Format.Structured() {
		printFetched(e, m, got)
	}
	if sync {
		return push(ctx, e, r, m, nil, o)
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), got)
	}
	return nil
}

func printFetched(e *ui.Env, m share.Remote, got *share.Fetched) {
	name := safetext.Show(m.Name)
	for _, t := range got.Taken {
		words := "goes on here"
		switch {
		case t.Fork != "":
			words = "has the events of " + name + "; those of here are in the fork " + string(t.Fork)
		case t.New:
			words = "is here now"
		}
		fmt.Fprintf(e.Results(), "%s %s\n", t.ID, words)
	}
	for _, l := range got.Left {
		e.Note("%s stays as it is here: %s.", l.ID.Short(), safetext.Show(l.Why))
	}
	for _, id := range got.SetBack {
		e.Note("%s was set back at %s. What is there now can be read as %s/aside/%s.", id.Short(), name, name, id.Short())
	}
	if n := len(got.Changed); n > 0 {
		e.Note("%s of %s changed. %s   lists them", conversation.Count(n, "conversation"), name, action.ListRemote(m.Name))
	}
	if got.Waiting > 0 {
		e.Note("%s at %s may be yours. %s   takes them over, if this is their repository", conversation.Count(got.Waiting, "conversation"), name, action.FetchOwn)
	}
	if got.Unknown > 0 {
		e.Note("%s has %s by keys that you do not trust. %s   trusts the key that you sign with", name, conversation.Count(got.Unknown, "signed list"), action.TrustKey)
	}
	if len(got.Taken)+len(got.Left)+len(got.Changed)+len(got.SetBack)+got.Waiting == 0 {
		e.Note("Nothing new at %s.", name)
	}
}

const trustKeyHelp = `Trust a public SSH key: conversations whose list it signed at a push are yours on
this machine, and go on here. Trust your own keys alone.

jp trust key add takes the key from FILE, a .pub file, or without FILE the key
that git signs with here (gpg.format ssh, user.signingKey). Do it once on each of
your machines. Without FILE or name, jp trust key lists the keys.

Exit codes: 0 done · 2 usage · 3 not agreed, or no terminal to ask`

func newTrustKeyCommand(e *ui.Env) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "key [add|remove] [FILE]", Short: "Trust the keys of your other machines", Long: trustKeyHelp, Args: cobra.MaximumNArgs(2),
		Example: "  jp trust key\n  jp trust key add\n  jp trust key add laptop.pub\n  jp trust key remove laptop.pub",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTrustKey(cmd.Context(), e, args, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust the key without asking")
	return cmd
}

func runTrustKey(ctx context.Context, e *ui.Env, args []string, yes bool) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	keyring := share.Keys(r)
	if len(args) == 0 {
		keys, err := keyring.All()
		if err != nil {
			return err
		}
		for _, key := range keys {
			fmt.Fprintln(e.Results(), safetext.Show(key.String()))
		}
		if len(keys) == 0 {
			e.Note("No key is trusted. %s   trusts the one that you sign with", action.TrustKey)
		}
		return nil
	}
	add := args[0] == "add"
	if !add && args[0] != "remove" {
		return problem.Usage("invalid word %q (want add or remove).", args[0]).Hint(action.Help("jp", "trust", "key"), "its arguments, with examples")
	}
	var key share.Key
	if len(args) == 2 {
		text, err := os.ReadFile(args[1])
		if err != nil {
			return problem.Usage("%v.", err)
		}
		if key, err = share.ParseKey(string(text)); err != nil {
			return err
		}
	} else {
		var path string
		if key, path, err = share.SigningKey(ctx, r); err != nil {
			return err
		}
		if path == "" {
			return problem.Usage("no SSH key is set up for signing here. Name the key's .pub file, or set gpg.format to ssh, and user.signingKey, in your own settings of git.")
		}
	}
	if add && !yes {
		if err := e.Confirm(ctx, ui.Confirmation{
			Question: "Are conversations with its signature yours?", List: func(out io.Writer, _ terminal.Palette) { fmt.Fprintln(out, safetext.Show(key.String())) },
			Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask, so nothing changed."),
		}); err != nil {
			return err
		}
	}
	changed, err := keyring.Set(ctx, key, add)
	switch {
	case err != nil:
		return err
	case !changed:
		e.Note("Nothing changed.")
	case add:
		e.Note("Conversations that this key signed at a push are yours here.")
	default:
		e.Note("Nothing that this key signs from now on is yours here. Conversations that you took over stay.")
	}
	return nil
}
