package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/fork"
)

const bisectHelp = `Find the first event of a conversation whose files fail a check. jp halves the events
that changed files, and puts the files of each into a worktree of its own: yours stay
as they are. The good end is before the first event, the bad end the newest event.

With --run a command judges: exit 0 is good, 125 skips, other codes up to 127 are
bad. It runs in that worktree, as you and outside the sandbox. Without --run, test
the files yourself, then run jp bisect good, bad or skip. jp bisect shows where you
are. After an interruption, both go on. jp bisect reset ends it.

JSON: {"conversation","state":"found|testing|undecided","first","commit","tool",
"because","for","allowed","suspects","testing","folder","left"}.

Exit codes: 0 found, or the next files are ready · 1 undecided, or an end has the
other verdict · 2 usage · 4 another bisect runs · 5 no such conversation or event`

type bisectOptions struct{ good, bad, run string }

func newBisectCommand(e *ui.Env) *cobra.Command {
	var o bisectOptions
	cmd := &cobra.Command{
		Use: "bisect [ID|good|bad|skip|reset]", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Short: "Find the event that broke a check", Long: bisectHelp,
		Example: "  jp bisect --run 'go test ./...'\n  jp bisect 4400 --good @9\n  jp bisect skip",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBisect(cmd.Context(), e, slices.Concat(args, []string{""})[0], o)
		},
	}
	cmd.Flags().StringVar(&o.good, "good", "", "event `@E` whose files pass")
	cmd.Flags().StringVar(&o.bad, "bad", "", "event `@E` whose files fail")
	cmd.Flags().StringVar(&o.run, "run", "", "shell command `CMD` that judges the files")
	return cmd
}

func runBisect(ctx context.Context, e *ui.Env, word string, o bisectOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := fork.OpenBisection(ctx, e.Host, r)
	if err != nil {
		return err
	}
	defer b.Close()
	v := fork.Verdict(word)
	switch judged := v == fork.Good || v == fork.Bad || v == fork.Skip; {
	case (judged || word == "reset") && o != bisectOptions{}:
		return problem.Usage("jp bisect %s takes no flags.", word)
	case word == "reset":
		return b.End(ctx)
	case b.Lost != nil:
		return b.Lost
	case judged:
		if err := b.Judge(v); err != nil {
			return err
		}
	case b.View == nil || word != "" || o.good != "" || o.bad != "":
		if err := b.Start(ctx, e.Host, word, o.good, o.bad); err != nil {
			return err
		}
	}
	if o.run == "" {
		if _, err := b.Advance(ctx); err != nil {
			return err
		}
		return e.OnScreen(b.View).ShowBisect(ctx, b)
	}
	if err := b.Run(ctx, o.run, e.Stderr, func(s fork.Step, v fork.Verdict) { fmt.Fprintf(e.Stderr, "%s %s\n", s.Name(), v) }); err != nil {
		return err
	}
	if err := b.End(ctx); err != nil {
		return err
	}
	return e.OnScreen(b.View).ShowBisect(ctx, b)
}
