package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

func newUseCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "use [ID]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Choose this session's conversation",
		Long: `Choose the conversation of this session: jp query asks there, and other commands
use it by default. "-" is the one before. Without ID you choose from a list on a
terminal.

JSON: {"action","conversation","files"}

Exit codes: 0 done · 2 no ID, and no terminal · 5 no such conversation · 6 damaged`,
		Example: "  jp use 4400\n  jp use -\n  jp use",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUse(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runUse(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	choose := r.Find().Resolve
	if word == "" {
		choose = func(ctx context.Context, e *repo.Host, _ string) (conversation.ID, error) {
			id, err := r.Find().Pick(ctx, e)
			var none *problem.Error
			if errors.As(err, &none) && none.Exit == problem.ExitUsage {
				none.Message = "say which conversation; there is no terminal to choose at, or none to choose from."
			}
			return id, err
		}
	}
	id, err := choose(ctx, e.Host, word)
	if err != nil {
		return err
	}
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return r.AboutDamage(ctx, err, info)
	}
	if err := r.Session(e.Host).Use(id, e.Now()); err != nil {
		return err
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), ui.Changed("use", id))
	}
	_, err = fmt.Fprintf(e.Results(), "%s  %s\n", id, safetext.Clean(problem.OneLine(info.Summary.Title)))
	return err
}
