package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safetext"
)

func newVerifyCommand(e *env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "verify [ID…]", Short: "Check that conversations are whole", GroupID: "look",
		Long: "Check that every commit of a conversation is the event that it should be, that the files' trees change only\n" +
			"where they may, and that the events make sense together. What ends in a shallow clone is incomplete here, and not damaged;\n" +
			"large texts that are not here are counted. One that only this repository can have had is lost, which is damage, and so is\n" +
			"a ref that was set back to an older event.\n\n" +
			"Exit codes: 0 all is well · 2 usage, or this session has no conversation ·\n5 no such conversation, or it is incomplete here · 6 damaged",
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
	// Standing is why it may not: foreign, elsewhere, renamed, rolled_back; own where it may.
	Standing conversation.Standing `json:"standing"`
	Events   int                   `json:"events"`
	Absent   int                   `json:"absent"` // large texts and attachments that are not here
	Problems []problemJSON         `json:"problems"`

	partial bool   // the rest was not fetched, and nothing else is wrong
	repo    string // that it was written in
	brought string // what may bring what is absent
}

type problemJSON struct {
	Commit  string `json:"commit"`
	Seq     int    `json:"seq"`
	Problem string `json:"problem"`
}

// at is which event it is, as far as that is known.
func (p problemJSON) at() (at string) {
	if p.Seq >= 0 {
		at = fmt.Sprintf(" @%d", p.Seq)
	}
	if p.Commit != "" {
		at += fmt.Sprintf(" %.10s", p.Commit)
	}
	return at
}

func runVerify(ctx context.Context, e *env, words []string, all bool) error {
	if all && len(words) > 0 {
		return usage("--all and conversations exclude each other.")
	}
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	infos, err := r.verified(ctx, e, words, all)
	if err != nil {
		return err
	}
	verdicts := []verdictJSON{}
	bad, events := 0, 0
	var parts []conversation.Info
	damaged := fail(exitDamaged, "damaged", "")
	for _, info := range infos {
		v := r.verify(ctx, info)
		events += v.Events
		switch {
		case v.partial:
			parts = append(parts, info)
		case !v.OK:
			bad++
			damaged.takeAway(gitstore.BrokenRef(info.Err))
			if t := r.twiceOf(info.ID); t != nil && info.Remote == "" {
				damaged.makeTwo(t)
			}
			if v.Standing == conversation.StandingRolledBack {
				damaged.hints = append(damaged.hints, r.standings().standingFailure(info.ID, info.Head, v.Standing, "", "").hints...)
			}
		}
		verdicts = append(verdicts, v)
	}
	if err := r.printVerdicts(e, verdicts, events); err != nil {
		return err
	}
	if all {
		if err := r.store.CheckRefs(); err != nil {
			damaged.message = fmt.Sprintf("%v: refs can be hidden by that, of conversations too.", err)
			return damaged.hint(packedRefsHint())
		}
	}
	switch {
	case bad > 0:
		damaged.message = conversation.Count(bad, "conversation") + " damaged."
		return damaged
	case len(parts) == 1:
		return partial(parts[0])
	case len(parts) > 1:
		return fail(exitNotFound, "not_found", "%s incomplete here, and not damaged: older events were not fetched.", conversation.Count(len(parts), "conversation")).
			hint(unshallow(parts[0].Remote), "brings them")
	}
	return nil
}

// packedRefsHint is what to do about a packed-refs that git has not written.
func packedRefsHint() (command, explained string) {
	return "git for-each-ref", "what git finds of it; a line is an object, a space and a ref, and lines are sorted by their refs: mend it, or bring back the file as it was"
}

// verify checks one conversation.
func (r *repo) verify(ctx context.Context, of conversation.Info) verdictJSON {
	found, err := conversation.Verdict{}, of.Err
	if of.Head != "" {
		found, err = r.store.VerifyAt(ctx, of)
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
		at := &view{repo: r, id: of.ID, remote: of.Remote}
		if at.events, _ = r.store.Load(ctx, of.Head); len(at.events) > 0 { // what is before damage counts
			v.brought = r.broughtBy(at.source(at.events[0]), of.Remote)
		}
	}
	for _, p := range found.Problems {
		v.Problems = append(v.Problems, problemJSON{p.Commit, p.Seq, p.Text})
	}
	return v
}

func (r *repo) printVerdicts(e *env, verdicts []verdictJSON, events int) error {
	switch e.format {
	case formatJSON:
		return writeJSON(e.results(), verdicts)
	case formatJSONL:
		for _, v := range verdicts {
			if err := writeJSON(e.results(), v); err != nil {
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
			fmt.Fprintf(e.results(), "%s: %s; it can be read, not continued\n", v.ID, strings.TrimPrefix(r.standings().standingWords(v.Standing, v.repo), "was "))
		}
		if v.Absent > 0 {
			fmt.Fprintf(e.results(), "%s: %s not here, which is no damage%s\n", v.ID, absentTexts(v.Absent), v.brought)
		}
		for _, p := range v.Problems {
			fmt.Fprintf(e.results(), "%s%s: %s\n", v.ID, p.at(), safetext.Clean(p.Problem))
		}
	}
	_, err := fmt.Fprintf(e.results(), "ok: %s of %d, %s\n", conversation.Count(ok, "conversation"), len(verdicts), conversation.Count(events, "event"))
	return err
}

// verified are the conversations that words name, or all local ones. Of one that
// cannot be read there is the name.
func (r *repo) verified(ctx context.Context, e *env, words []string, all bool) (infos []conversation.Info, err error) {
	if all {
		for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
			heads, err := r.store.Heads(scope)
			if err != nil {
				return nil, err
			}
			infos = append(infos, heads...)
		}
		return infos, nil
	}
	names, err := r.find().names(ctx, e.host, words)
	for _, name := range names {
		info, err := r.find().known(ctx, e.host, name)
		if info.ID == "" {
			info.ID = conversation.ID(name)
		}
		info.Err = err
		infos = append(infos, info)
	}
	return infos, err
}
