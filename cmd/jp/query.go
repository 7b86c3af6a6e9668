package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

const queryHelp = `Ask the model, in this session's conversation or a new one, and let it use tools.

The question is piped input, followed by the given text. Without a text, an
editor opens. On a terminal the answer streams. Piped, stdout gets the final
message only. jp shows an event once it is durable. If another process is using
the conversation, jp waits for it on a terminal. Otherwise it exits with code 4.

Exit codes: 0 done · 1 refused, over a limit, or an answer that breaks the
schema · 2 usage, configuration, model · 3 a decision is needed first ·
4 locked · 5 no such conversation · 6 damaged · 7 the provider failed ·
130, 143, 129, 131 interrupted (recorded events stay)`

const queryExamples = `  jp query "Why does login hang when the server is down?"
  git diff | jp query "Review this."
  jp query -y --new "Cap the retries, and test it."
  jp query --json "…" | jq -r 'select(.type=="result").message'
  jp query --detach "Port the tests."    # in the background; jp attach looks at it
  jp query -a shot.png -a 'src/**/*.css' "Why is it cut off?"
  jp query -s '{"type":"object","properties":{"ok":{"type":"boolean"}}}' "Is it green?" | jq .ok
  jp query --no-persist "What did we decide about retries?"   # asked beside the conversation
  jp query -m script/demo "…"            # needs no key`

func newQueryCommand(e *ui.Env) *cobra.Command {
	var o agent.Request
	cmd := &cobra.Command{
		Use: "query [TEXT…]", Aliases: []string{"q"}, GroupID: "ask",
		Short: "Ask the model", Long: queryHelp, Example: queryExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Input.Text = args
			if cmd.Flags().Changed("fork") && o.Target.Fork == "" {
				o.Target.Fork = agent.ForkAtEnd
				return runQuery(cmd.Context(), e, o)
			}
			if err := o.CheckFork(); err != nil {
				return err
			}
			return runQuery(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Target.New, "new", "n", false, "start a new conversation")
	f.StringVarP(&o.Target.ID, "id", "i", "", "ask in this conversation `ID`")
	f.StringVar(&o.Target.Fork, "fork", "", "ask in a fork, made at event `E` (--fork=E) or at the end")
	f.Lookup("fork").NoOptDefVal = agent.ForkAtEnd
	runFlags(&o, f)
	f.StringArrayVarP(&o.Input.Attachments, "attachment", "a", nil, "attach `PATH`: a file, a pattern, - for stdin, or a conversation ID[@turn:N]; files come first (repeatable)")
	f.StringArrayVar(&o.Input.Skills, "skill", nil, "give the model the skill `NAME` with the question (repeatable)")
	f.StringVarP(&o.Input.Schema, "schema", "s", "", "answer with data that fits this JSON schema, `FILE` or JSON")
	f.StringVar(&o.Target.Title, "title", "", "give the conversation a `TITLE`")
	f.BoolVarP(&o.Input.Edit, "edit", "e", false, "write the text in an editor")
	f.BoolVarP(&o.Input.NoEdit, "no-edit", "E", false, "never open an editor; without a text: ask the last question again")
	f.BoolVar(&o.Input.Stdin, "stdin", false, "wait for standard input without limit")
	f.BoolVar(&o.Input.NoStdin, "no-stdin", false, "never read standard input")
	f.BoolVar(&o.Resume.Continue, "continue-turn", false, "resume an incomplete turn; takes no text")
	f.BoolVar(&o.Resume.Discard, "discard-turn", false, "discard an incomplete turn, then ask; with -E and no text: ask its question again")
	f.BoolVar(&o.NoPersist, "no-persist", false, "record nothing and take no lock; tools only read")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be sent, its tokens and its cost; send and record nothing")
	f.BoolVar(&o.Turn.NoInstructions, "no-instructions", false, "give the model no AGENTS.md in this turn")
	resumeFlags(&o, f)
	cmd.MarkFlagsMutuallyExclusive("new", "id")
	cmd.MarkFlagsMutuallyExclusive("new", "fork")
	cmd.MarkFlagsMutuallyExclusive("edit", "no-edit")
	cmd.MarkFlagsMutuallyExclusive("stdin", "no-stdin")
	return cmd
}

// runFlags are the flags of the commands that run a turn.
func runFlags(o *agent.Request, f *pflag.FlagSet) {
	f.StringVarP(&o.Turn.Model, "model", "m", "", "ask this model, `PROVIDER/NAME` or an alias")
	f.StringArrayVarP(&o.Turn.Profiles, "profile", "p", nil, "use profile `NAME`: plan, edits, auto or one of your configuration (repeatable)")
	f.BoolVarP(&o.Turn.Yes, "yes", "y", false, "approve the tool runs of this turn in advance")
	f.StringArrayVarP(&o.Tools.Enable, "tool", "t", nil, "switch tool `NAME` on, from now on (repeatable)")
	f.StringArrayVar(&o.Tools.Disable, "no-tool", nil, "switch tool `NAME` off, from now on (repeatable)")
	f.BoolVarP(&o.Tools.None, "no-tools", "T", false, "no tools in this turn, except those of -t")
	f.StringVar(&o.Turn.Policy, "policy", "", "`POLICY` while no user is there to ask: auto, defaults, deny, queue or defer (default queue; in the foreground defer if CI is set)")
	f.BoolVar(&o.Turn.NonInteractive, "non-interactive", false, "never ask, even on a terminal")
	f.BoolVar(&o.Turn.Wait, "wait", false, "wait as long as a provider asks, even beyond limits.retry_wait")
	f.BoolVar(&o.Show.Partial, "partial", false, "with jsonl: also text that still streams")
}

// resumeFlags are the flags of the commands that can go on with a turn.
func resumeFlags(o *agent.Request, f *pflag.FlagSet) {
	f.StringVar(&o.Resume.Pending, "pending", "", "do `WHAT` with a call of unknown outcome: run (again) or report (to the model)")
	f.BoolVar(&o.Resume.Anyway, "anyway", false, "go on in another place than the turn's")
	f.BoolVar(&o.Detach, "detach", false, "go on in the background, and print the conversation's id")
}

// runQuery runs one turn, or goes on with one. It checks in this order: the target, the lock, an open
// decision, configuration and model.
func runQuery(ctx context.Context, e *ui.Env, o agent.Request) (err error) {
	o.Show.Quiet, o.Show.Verbose = e.Quiet, e.Verbose
	if err := o.Check(); err != nil {
		return err
	}
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.DryRun {
		p, err := agent.Preview(ctx, r, o, e.Frontend(r, o))
		if err != nil {
			return err
		}
		if e.Format.Structured() {
			s := shownPreview{Turn: p.Turn, Model: p.Model, Tokens: p.Tokens, CostUSD: repo.Given(p.CostUSD), Request: p.Request, Conversation: repo.Given(string(p.ID)), Compacts: p.Compacts}
			if p.Window > 0 {
				s.Window = &p.Window
			}
			return ui.WriteJSON(e.Results(), s)
		}
		return e.Paged(func(w io.Writer) error {
			for _, part := range p.Parts {
				fmt.Fprintf(w, "%8s  %-12s %s\n", conversation.Tokens(part.Tokens), part.From, safetext.Clean(conversation.Shorten(problem.OneLine(part.Text), 100)))
			}
			place := "a new conversation"
			if p.ID != "" {
				place = fmt.Sprintf("turn %d of %s", p.Turn, p.ID.Short())
			}
			words := []string{"about " + conversation.Tokens(p.Tokens) + " tokens"}
			if p.Window > 0 {
				words = append(words, conversation.PartOf(p.Tokens, p.Window))
			}
			cost := "the price is unknown (prices)"
			if p.CostUSD != "" {
				cost = conversation.Dollars(p.CostUSD) + " for the input if no cache has it"
			}
			_, err := fmt.Fprintf(w, "%s to %s · %s\n", place, safetext.Show(p.Model), strings.Join(append(words, cost), " · "))
			if err == nil && p.Compacts {
				_, err = fmt.Fprintln(w, "jp would compact the conversation first.")
			}
			return err
		})
	}
	return agent.Ask(ctx, r, o, e.Frontend(r, o))
}

type shownPreview struct {
	Conversation *string                `json:"conversation"`
	Turn         int                    `json:"turn"`
	Model        string                 `json:"model"`
	Tokens       int                    `json:"tokens"`
	Window       *int                   `json:"window"`
	CostUSD      *string                `json:"cost_usd"`
	Compacts     bool                   `json:"compacts"`
	Request      agent.PreviewedRequest `json:"request"`
}
