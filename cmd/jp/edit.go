package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/conversation"
)

type editOptions struct {
	word    string
	title   string
	pin     bool
	expires string
	labels  []string
	given   func(flag string) bool
}

func newEditCommand(e *env) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use: "edit [ID]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Change a conversation's title, pin, expiry or labels",
		Long: "Change what is known about a conversation. Each change is an event; nothing that was said changes. An empty\n" +
			"title, --pin=false, --expires=never and --label KEY= take it away again. What has expired is only marked so.\n\n" +
			"JSON: {\"action\",\"conversation\",\"files\"}\n\nExit codes: 0 done · 2 usage · 4 locked · 5 no such conversation · 6 damaged",
		Example: "  jp edit --title 'Cap the login retries'\n  jp edit 4400 --pin --label team=auth\n  jp edit 4400 --expires 2026-12-31",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.word, o.given = strings.Join(args, ""), cmd.Flags().Changed
			return runEdit(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.title, "title", "", "give it a `TITLE`")
	f.BoolVar(&o.pin, "pin", false, "pin it")
	f.StringVar(&o.expires, "expires", "", "mark it as expired from a `TIME` on: a day, RFC 3339, a duration from now, or never")
	f.StringArrayVar(&o.labels, "label", nil, "set a label `KEY=VALUE` (repeatable)")
	return cmd
}

func runEdit(ctx context.Context, e *env, o editOptions) error {
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	id, err := r.resolve(ctx, e, o.word)
	if err != nil {
		return err
	}
	held, err := r.hold(e, id)
	if err != nil {
		return err
	}
	defer held.Release()
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return aboutConversation(err, id)
	}
	if err := r.foreign(ctx, info); err != nil {
		return err
	}
	meta, err := o.metadata(info.Summary, e.now())
	if err != nil {
		return err
	}
	if _, err := r.store.Append(ctx, id, info.Head, []*conversation.Event{record(info, meta, e.now())}); err != nil {
		return err
	}
	if e.format.structured() {
		return writeJSON(e.results(), changed("edit", id))
	}
	info, err = r.store.Info(ctx, id)
	if err == nil {
		_, err = fmt.Fprintln(e.results(), namedInfo(info))
	}
	return err
}

// metadata is what the flags change.
func (o editOptions) metadata(now conversation.Summary, at time.Time) (*conversation.Metadata, error) {
	m := &conversation.Metadata{}
	if o.given("title") {
		title := strings.TrimSpace(o.title)
		m.Title, m.TitleSource = &title, "user"
	}
	if o.given("pin") {
		m.PinnedAt = &conversation.Moment{}
		if o.pin {
			m.PinnedAt.Time = at.UTC()
		}
	}
	if o.given("expires") {
		until, err := expiry(o.expires, at)
		if err != nil {
			return nil, err
		}
		m.ExpiresAt = &conversation.Moment{Time: until}
	}
	if len(o.labels) > 0 {
		labels, err := labelled(now.Labels, o.labels)
		if err != nil {
			return nil, err
		}
		m.Labels = labels
	}
	if m.Title == nil && m.PinnedAt == nil && m.ExpiresAt == nil && m.Labels == nil {
		return nil, usage("there is nothing to change.").hint("jp edit --help", "what can be changed")
	}
	return m, nil
}

// expiry is a moment to come: a day, RFC 3339, or a duration from now; the zero
// time for never.
func expiry(word string, now time.Time) (time.Time, error) {
	if word == "never" {
		return time.Time{}, nil
	}
	until, ok := parseTime(word, now)
	if !ok {
		return until, usage("--expires %q is not a time: 2026-12-31, RFC 3339, 30d, or never.", word)
	}
	if relativeTime.MatchString(word) {
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
			return nil, usage("--label %q is not KEY=VALUE.", word)
		case value == "":
			delete(labels, key)
		default:
			labels[key] = value
		}
	}
	return labels, nil
}
