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
	"jp/gitstore"
	"jp/internal/action"
	"jp/internal/safetext"
)

func newVerifyCommand(e *ui.Env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "verify [ID…]", Short: "Check that conversations are complete and undamaged", GroupID: "look",
		Long: `Check every commit of a conversation, the changes of its trees, and the order of
its events. A conversation that ends in a shallow clone is incomplete here, and
not damaged. verify counts large texts that are missing here. It reports damage if
such a text can only have been here, or if a ref was set back to an older event.

Exit codes: 0 all is well · 2 usage, or this session has no conversation ·
5 no such conversation, or it is incomplete here · 6 damaged`,
		Example: "  jp verify\n  jp verify --all --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return runVerify(cmd.Context(), e, args, all) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "every conversation, archived ones too")
	return cmd
}

type verdictJSON struct {
	ID    string `json:"id"`
	OK    bool   `json:"ok"`
	Local bool   `json:"local"` // it may act: this user's jp wrote it here
	// Standing is own if the conversation may act, else the reason: foreign, elsewhere, renamed,
	// rolled_back.
	Standing conversation.Standing `json:"standing"`
	Events   int                   `json:"events"`
	Absent   int                   `json:"absent"` // large texts and attachments that are not here
	Problems []problemJSON         `json:"problems"`

	partial bool   // the rest was not fetched, and nothing else is wrong
	repo    string // that it was written in
	brought string // how to fetch the absent texts
	lost    bool   // a text or file is missing that no fetched remote has
}

type problemJSON struct {
	Commit  string `json:"commit"`
	Seq     int    `json:"seq"`
	Problem string `json:"problem"`
}

func runVerify(ctx context.Context, e *ui.Env, words []string, all bool) error {
	if all && len(words) > 0 {
		return problem.Usage("--all and conversations exclude each other.")
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := r.Standings().Name(false); err != nil {
		return problem.New(problem.ExitFailed, "failed", "jp could not read the name of this repository: %v.", err)
	}
	infos, err := verified(ctx, r, e, words, all)
	if err != nil {
		return err
	}
	verdicts := []verdictJSON{}
	bad, events := 0, 0
	var parts []conversation.Info
	damaged := problem.New(problem.ExitDamaged, "damaged", "")
	for _, info := range infos {
		v := verify(ctx, r, info)
		events += v.Events
		switch {
		case v.partial:
			parts = append(parts, info)
		case !v.OK:
			bad++
			repo.TakeAway(damaged, gitstore.BrokenRef(info.Err))
			var gone *problem.Error
			if errors.As(info.Err, &gone) {
				damaged.Hints = append(damaged.Hints, gone.Hints...)
			}
			if t := r.Find().TwiceOf(info.ID); t != nil && info.Remote == "" {
				repo.MakeTwo(damaged, t)
			}
			if v.Standing == conversation.StandingRolledBack {
				damaged.Hints = append(damaged.Hints, r.Standings().StandingFailure(info.ID, info.Head, v.Standing, "", "").Hints...)
			}
			if v.lost {
				fetches, remotes := r.MayBring(ctx, info.ID)
				for i, fetch := range fetches {
					damaged.Hint(fetch, "brings what is missing of "+info.ID.Short()+", if you pushed it to "+safetext.Show(remotes[i]))
				}
			}
		}
		verdicts = append(verdicts, v)
	}
	if err := printVerdicts(r, e, verdicts, events); err != nil {
		return err
	}
	if all {
		if err := r.Store.CheckRefs(); err != nil {
			damaged.Message = fmt.Sprintf("%v: refs can be hidden by that, of conversations too.", err)
			return damaged.Hint(packedRefsHint())
		}
	}
	switch {
	case bad > 0:
		damaged.Message = conversation.Count(bad, "conversation") + " damaged."
		return damaged
	case len(parts) == 1:
		return repo.Partial(parts[0])
	case len(parts) > 1:
		return problem.New(problem.ExitNotFound, "not_found", "%s incomplete here, and not damaged: older events were not fetched.", conversation.Count(len(parts), "conversation")).
			Hint(repo.Unshallow(parts[0].Remote), "brings them")
	}
	return nil
}

// packedRefsHint is the advice about a packed-refs file that git did not write.
func packedRefsHint() (list action.Action, explained string) {
	return action.ListRefs, "what git finds of it; a line is an object, a space and a ref, and lines are sorted by their refs: mend it, or bring back the file as it was"
}

func verify(ctx context.Context, r *repo.Repo, of conversation.Info) verdictJSON {
	found, err := conversation.Verdict{}, of.Err
	if of.Head != "" {
		found, err = r.Store.VerifyAt(ctx, of)
	}
	shallow := errors.Is(err, gitstore.ErrShallow)
	if shallow {
		err = gitstore.ErrShallow
	}
	if err != nil {
		found.Problems = append(found.Problems, conversation.Problem{Seq: -1, Text: strings.TrimPrefix(err.Error(), fmt.Sprintf("conversation %s: ", of.ID))})
	}
	v := verdictJSON{partial: shallow, ID: of.Name(), OK: found.OK(), Local: found.Local && found.Standing == conversation.StandingOwn, Standing: found.Standing, repo: found.Elsewhere, Events: found.Events, Absent: found.Absent, Problems: []problemJSON{}}
	if v.Absent > 0 {
		at := &repo.View{Repo: r, ID: of.ID, Remote: of.Remote}
		if at.Events, _ = r.Store.Load(ctx, of.Head); len(at.Events) > 0 { // events before the damage count
			v.brought = r.BroughtBy(at.Source(at.Events[0]), of.Remote)
		}
	}
	if !v.OK && of.Head != "" && of.Remote == "" {
		if events, err := r.Store.Load(ctx, of.Head); err == nil {
			lost, _ := r.Store.LostOf(of.ID, events)
			v.lost = len(lost) > 0
		}
	}
	for _, p := range found.Problems {
		v.Problems = append(v.Problems, problemJSON{p.Commit, p.Seq, p.Text})
	}
	return v
}

func printVerdicts(r *repo.Repo, e *ui.Env, verdicts []verdictJSON, events int) error {
	switch e.Format {
	case ui.FormatJSON:
		return ui.WriteJSON(e.Results(), verdicts)
	case ui.FormatJSONL:
		for _, v := range verdicts {
			if err := ui.WriteJSON(e.Results(), v); err != nil {
				return err
			}
		}
		return nil
	}
	ok := 0
	for _, v := range verdicts {
		if v.OK {
			ok++
		}
		if !v.Local && v.Events > 0 && v.Standing != conversation.StandingRolledBack {
			fmt.Fprintf(e.Results(), "%s: %s; it can be read, not continued\n", v.ID, strings.TrimPrefix(r.Standings().StandingWords(v.Standing, v.repo), "was "))
		}
		if v.Absent > 0 {
			fmt.Fprintf(e.Results(), "%s: %s not here, which is no damage%s\n", v.ID, absentTexts(v.Absent), v.brought)
		}
		for _, p := range v.Problems {
			var at string
			if p.Seq >= 0 {
				at = fmt.Sprintf(" @%d", p.Seq)
			}
			if p.Commit != "" {
				at += fmt.Sprintf(" %.10s", p.Commit)
			}
			fmt.Fprintf(e.Results(), "%s%s: %s\n", v.ID, at, safetext.Clean(p.Problem))
		}
	}
	_, err := fmt.Fprintf(e.Results(), "ok: %s of %d, %s\n", conversation.Count(ok, "conversation"), len(verdicts), conversation.Count(events, "event"))
	return err
}

// verified are the conversations that words name, or all local ones. An unreadable one has its name
// only.
func verified(ctx context.Context, r *repo.Repo, e *ui.Env, words []string, all bool) (infos []conversation.Info, err error) {
	if all {
		for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
			heads, err := r.Store.Heads(scope)
			if err != nil {
				return nil, err
			}
			infos = append(infos, heads...)
		}
		missing, err := r.Store.SeenRefs().Missing()
		for _, m := range missing {
			if gone := r.Find().Gone(m.ID); gone != nil && m.There { // no damage: the note that jp deleted it may not have fit the disk
				e.Note("%s   %s brings it back", strings.TrimSuffix(gone.Message, "."), action.SetRef(gitstore.RefOf(m.ID), string(m.Head)))
			}
		}
		return infos, err
	}
	names, err := r.Find().Names(ctx, e.Host, words)
	for _, name := range names {
		info, err := r.Find().Known(ctx, e.Host, name)
		if info.ID == "" {
			info.ID = conversation.ID(name)
		}
		info.Err = err
		infos = append(infos, info)
	}
	return infos, err
}
