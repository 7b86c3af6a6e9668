package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

type editOptions struct {
	word    string
	title   agent.TitleFlag
	model   string
	pin     bool
	expires string
	labels  []string
	later   bool // jp started itself to let a model write the title
	given   func(flag string) bool
}

const editHelp = `Change a conversation's title, pin, expiry or labels. Each change is an event, and
all texts stay. --pin=false, --expires=never and --label KEY= remove a value. After
--title '' the first request is the title again. --expires only marks the conversation. --title takes the next
word. Without one, the conversation's model, or that of -m, writes the title from
the first request and the last answers.

JSON: {"action","conversation","files"}

Exit codes: 0 done · 2 usage, configuration, model · 4 locked ·
5 no such conversation · 6 damaged at its end, or anywhere for --title '' and a
title by the model · 7 the model wrote no title`

func newEditCommand(e *ui.Env) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use: "edit [ID]", GroupID: "shape",
		Short: "Change a conversation's title, pin, expiry or labels",
		Long:  editHelp,
		Example: "  jp edit --title 'Cap the login retries'\n  jp edit --title            # the model writes it\n" +
			"  jp edit 4400 --pin --label team=auth\n  jp edit 4400 --expires 2026-12-31",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.MaximumNArgs(1)(cmd, args); err != nil {
				return o.title.Mistaken(problem.Usage("jp edit takes one conversation."), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.word, o.given = strings.Join(args, ""), cmd.Flags().Changed
			return runEdit(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.Var(&o.title, "title", "set the `TITLE`; without one the model writes it")
	f.Lookup("title").NoOptDefVal = agent.TitleFromModel
	f.StringVarP(&o.model, "model", "m", "", "let this model write the title, `PROVIDER/NAME` or an alias")
	f.BoolVar(&o.later, "background", false, "write the title that is due as soon as the conversation is free")
	f.Lookup("background").Hidden = true
	f.BoolVar(&o.pin, "pin", false, "pin it")
	f.StringVar(&o.expires, "expires", "", "mark it as expired from a `TIME` on: a day, RFC 3339, a duration from now, or never")
	f.StringArrayVar(&o.labels, "label", nil, "set a label `KEY=VALUE` (repeatable)")
	return cmd
}

func runEdit(ctx context.Context, e *ui.Env, o editOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	id, err := r.Find().Resolve(ctx, e.Host, o.word)
	if err != nil {
		return o.title.Mistaken(err, strings.Fields(o.word))
	}
	if o.later {
		return agent.GiveTitle(ctx, r, id)
	}
	held, err := r.Hold(ctx, e.Host, id)
	if err != nil {
		return err
	}
	defer held.Release()
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return repo.AboutConversation(err, id)
	}
	if err := r.Standings().Foreign(ctx, info); err != nil {
		return err
	}
	meta, err := o.metadata(info.Summary, e.Now())
	if err != nil {
		return err
	}
	if o.title.ByModel {
		written, err := agent.WriteTitle(ctx, r, e.Host, info, o.model, func(model string) {
			if ui.IsTerminal(e.Stderr) {
				e.Note("%s is asked for a title …", safetext.Clean(model))
			}
		})
		if err != nil {
			return err
		}
		meta.Title, meta.TitleSource, meta.Model, meta.Usage = written.Title, written.TitleSource, written.Model, written.Usage
	}
	if meta.Title != nil && *meta.Title == "" {
		events, err := r.Store.Load(ctx, info.Head)
		if err != nil {
			return repo.AboutConversation(err, id)
		}
		untitled := conversation.Summarize(slices.DeleteFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeMetadata }))
		meta.Title, meta.TitleSource = &untitled.Title, "request"
	}
	if _, err := r.Store.Append(ctx, id, info.Head, []*conversation.Event{repo.Record(info, meta, e.Now())}); err != nil {
		return err
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), ui.Changed("edit", id))
	}
	info, err = r.Store.Info(ctx, id)
	if err == nil {
		_, err = fmt.Fprintln(e.Results(), repo.NamedInfo(info))
	}
	return err
}

// metadata has the changes that the flags ask for.
func (o editOptions) metadata(now conversation.Summary, at time.Time) (*conversation.Metadata, error) {
	m := &conversation.Metadata{}
	if o.model != "" && !o.title.ByModel {
		return nil, problem.Usage("--model is for --title without a value: the model writes it.")
	}
	if o.given("title") {
		if err := agent.CheckTitle(o.title.Text); err != nil {
			return nil, err
		}
		m.Title, m.TitleSource = &o.title.Text, "user"
	}
	if o.given("pin") {
		m.PinnedAt = &conversation.OptionalTime{}
		if o.pin {
			m.PinnedAt.Time = at.UTC()
		}
	}
	if o.given("expires") {
		until, err := expiry(o.expires, at)
		if err != nil {
			return nil, err
		}
		m.ExpiresAt = &conversation.OptionalTime{Time: until}
	}
	if len(o.labels) > 0 {
		labels, err := labelled(now.Labels, o.labels)
		if err != nil {
			return nil, err
		}
		m.Labels = labels
	}
	if m.Title == nil && m.PinnedAt == nil && m.ExpiresAt == nil && m.Labels == nil {
		return nil, problem.Usage("there is nothing to change.").Hint(action.Help("jp", "edit"), "what can be changed")
	}
	return m, nil
}

// expiry is a moment to come: a day, RFC 3339, or a duration from now; the zero
// time for never.
func expiry(word string, now time.Time) (time.Time, error) {
	if word == "never" {
		return time.Time{}, nil
	}
	until, ok := repo.ParseTime(word, now)
	if !ok {
		return until, repo.NoTime("--expires", word, "a time: 2026-12-31, RFC 3339, 30d, or never")
	}
	if repo.RelativeTime().MatchString(word) {
		until = now.Add(now.Sub(until))
	}
	return until.UTC(), nil
}

// labelled are all labels after some were set, or with an empty value taken
// away.
func labelled(now map[string]string, words []string) (map[string]string, error) {
	labels := maps.Clone(now)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || key == "":
			return nil, problem.Usage("--label %q is not KEY=VALUE.", word)
		case value == "":
			delete(labels, key)
		default:
			labels[key] = value
		}
	}
	return labels, nil
}
