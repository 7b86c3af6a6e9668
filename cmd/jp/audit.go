package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/repo"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

const auditHelp = `Show who allowed or refused each tool call, when, and by which rule: a person, an
allow rule, a mode, a hook, a policy, or, in a record, the rules of another agent.
Calls that needed no permission are unasked. jp looks in all conversations, fetched
ones too, or in those that the commits of RANGE come from (jp pr --help). Forks share
the decisions before them. "unsigned" marks what this user's jp did not write.

JSON: [{"time","conversation","seq","decided","tool","argument","outcome","who",
"rule","text","signed"}]

Exit codes: 0 done, also if there are none · 2 usage · 5 no such range · 6 a
conversation is damaged: the rest was listed`

func newAuditCommand(e *ui.Env) *cobra.Command {
	since := ""
	cmd := &cobra.Command{
		Use: "audit [RANGE]", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Short: "Show who allowed what, when, and by which rule", Long: auditHelp,
		Example: "  jp audit\n  jp audit --since 7d\n  jp audit main.. --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAudit(cmd.Context(), e, args, since)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only decisions since `TIME`: 2h, 2026-11-21, RFC 3339")
	return cmd
}

func runAudit(ctx context.Context, e *ui.Env, args []string, since string) error {
	var from time.Time
	if since != "" {
		var ok bool
		if from, ok = repo.ParseTime(since, e.Now()); !ok {
			return repo.NoTime("--since", since, "a time: 2h, 2026-11-21, or RFC 3339")
		}
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	left := map[string]error{}
	var names []string
	if len(args) > 0 {
		commits, unread, err := commitsOf(ctx, r, args)
		if err != nil {
			return err
		}
		left, names = unread, []string{}
		for _, s := range commits.Conversations {
			names = append(names, s.Conversation)
		}
	}
	all, err := blame.Audit(ctx, r, names, from, func(i conversation.Info, err error) { left[i.Name()] = err })
	if err != nil {
		return err
	}
	if err := ui.ShowAudit(all, e); err != nil {
		return err
	}
	return leftOut(ctx, e, left)
}
