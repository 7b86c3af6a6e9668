package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/skills"
)

const skillsHelp = `List the skills that the model may read: yours and this repository's, with
warnings where a SKILL.md breaks the format. With NAME, show that skill. The first
use of a repository's skill is asked, by content. --approve answers in advance.

JSON: [{"name","description","path","user","approved","warnings","unusable"}]

Exit codes: 0 done · 2 no such skill`

type skillsOptions struct{ approve, revoke bool }

func newSkillsCommand(e *ui.Env) *cobra.Command {
	var o skillsOptions
	cmd := &cobra.Command{
		Use: "skills [NAME]", Short: "List the skills, or show one", GroupID: "setup", Args: cobra.MaximumNArgs(1),
		Long: skillsHelp, Example: "  jp skills\n  jp skills release-notes\n  jp skills --approve release-notes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSkills(cmd.Context(), e, o, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&o.approve, "approve", false, "approve the repository's skill NAME as it is")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "take the approval of the skill NAME back")
	cmd.MarkFlagsMutuallyExclusive("approve", "revoke")
	return cmd
}

type listedSkill struct {
	skills.Skill
	Approved bool `json:"approved"`
}

func runSkills(ctx context.Context, e *ui.Env, o skillsOptions, name string) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	set := contextfiles.OpenSkills(r, e.Host)
	defer set.Close()
	if name == "" {
		if o.approve || o.revoke {
			return problem.Usage("name the skill.").Hint(action.Skills, "list the skills")
		}
		return listSkills(e, set)
	}
	k := set.Named(name)
	if k == nil {
		return problem.Usage("there is no skill %q.", name).Hint(action.Skills, "list the skills")
	}
	if o.approve || o.revoke {
		switch {
		case toolset.FromProgram(r):
			return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
		case k.User:
			e.Note("The skill %s is yours and needs no approval.", safetext.Show(k.Name))
			return nil
		case k.Unusable != "":
			return problem.Usage("jp could not use the skill %s: %s.", safetext.Show(k.Name), k.Unusable)
		case o.revoke:
			done, err := set.Revoke(*k)
			if err == nil && !done {
				e.Note("The skill %s was not approved.", safetext.Show(k.Name))
			}
			return err
		}
		if err := set.Approve(*k); err != nil {
			return err
		}
		e.Note("Approved the skill %s as it is, in this working tree.", safetext.Show(k.Name))
		return nil
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), []listedSkill{{*k, set.Approved(*k)}})
	}
	if k.Unusable != "" {
		return problem.Usage("jp could not use the skill %s: %s.", safetext.Show(name), k.Unusable)
	}
	_, err = fmt.Fprintln(e.Results(), strings.TrimRight(safetext.Clean(k.Body()), "\n"))
	return err
}

func listSkills(e *ui.Env, set *contextfiles.Skills) error {
	if e.Format.Structured() {
		all := []listedSkill{}
		for _, k := range set.All {
			all = append(all, listedSkill{k, set.Approved(k)})
		}
		return ui.WriteJSON(e.Results(), all)
	}
	if len(set.All) == 0 {
		e.Note("There are no skills. A skill is a folder with a SKILL.md in .agents/skills of the repository, or in ~/.agents/skills.")
		return nil
	}
	for _, k := range set.All {
		if _, err := fmt.Fprintf(e.Results(), "%s  %s  %s\n", safetext.Show(k.Name), safetext.Show(k.Path), safetext.Bound(safetext.Clean(k.Description), 100)); err != nil {
			return err
		}
		if k.Unusable != "" {
			fmt.Fprintf(e.Results(), "  cannot be used: %s\n", safetext.Clean(k.Unusable))
		}
		if !set.Approved(k) && k.Unusable == "" {
			fmt.Fprintln(e.Results(), "  not approved yet: jp asks before its first use")
		}
		for _, w := range k.Warnings {
			fmt.Fprintf(e.Results(), "  warning: %s\n", safetext.Clean(w))
		}
	}
	return nil
}
