package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/internal/safetext"
)

func newUseCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "use [ID]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Make a conversation this session's",
		Long: "Make a conversation the one that this session is about: where jp query asks, and what other commands mean\n" +
			"where none is named. \"-\" is the one before. Without ID you choose from a list, which needs a terminal.\n\n" +
			"JSON: {\"action\",\"conversation\",\"files\"}\n\nExit codes: 0 done · 2 no ID, and no terminal · 5 no such conversation · 6 damaged",
		Example: "  jp use 4400\n  jp use -\n  jp use",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUse(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runUse(ctx context.Context, e *env, word string) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	choose := r.find().resolve
	if word == "" {
		choose = func(ctx context.Context, e *host, _ string) (conversation.ID, error) {
			id, err := r.find().pick(ctx, e)
			var none *failure
			if errors.As(err, &none) && none.exit == exitUsage {
				none.message = "say which conversation; there is no terminal to choose at, or none to choose from."
			}
			return id, err
		}
	}
	id, err := choose(ctx, e.host, word)
	if err != nil {
		return err
	}
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return r.aboutDamage(ctx, err, info)
	}
	if err := r.session(e.host).use(id, e.now()); err != nil {
		return err
	}
	if e.format.structured() {
		return writeJSON(e.results(), changed("use", id))
	}
	_, err = fmt.Fprintf(e.results(), "%s  %s\n", id, safetext.Clean(oneLine(info.Summary.Title)))
	return err
}
