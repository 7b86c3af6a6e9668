package repo

import (
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/redact"
)

// An Outgoing replaces the secrets of texts that leave the repository as a file, independent of the settings
// for recording. It stores no values.
type Outgoing struct {
	redactor *redact.Redactor
	known    []redact.Secret
	found    map[string]bool // placeholders
}

// NewOutgoing replaces the findings of the rules, with placeholders by a key.
func NewOutgoing(key []byte) *Outgoing { return newOutgoing(redact.New(key), nil) }

func newOutgoing(redactor *redact.Redactor, known []redact.Secret) *Outgoing {
	return &Outgoing{redactor: redactor, known: slices.Clone(known), found: map[string]bool{}}
}

// Outgoing replaces the secrets of a conversation that leaves, and knows those that were
// replaced when it was recorded.
func (v *View) Outgoing() *Outgoing {
	r := v.Repo
	if r.Values != nil {
		return newOutgoing(r.Values.redactor, r.Values.vault(v.ID).Known())
	}
	return newOutgoing(r.Scanner(), nil)
}

// Scanner finds the secrets of what leaves the repository, whether they are replaced when jp records or not.
func (r *Repo) Scanner() *redact.Redactor {
	redactor := redact.New(nil)
	for _, key := range r.Env.values(r.keyVariables()) {
		redactor.AddSecret(strings.TrimSpace(key))
	}
	return redactor
}

// Pass runs pass, which replaces the secrets of a conversation part by part. If a part had a
// secret that was new, it runs pass once more: the parts before may have that secret, too.
func (o *Outgoing) Pass(pass func() error) error {
	for known := -1; known != len(o.known); {
		known = len(o.known)
		clear(o.found)
		if err := pass(); err != nil {
			return err
		}
	}
	return nil
}

// Beside replaces the secrets of texts outside of events. It replaces its findings in further texts, but not
// in events.
func (o *Outgoing) Beside() *Outgoing {
	return &Outgoing{o.redactor, slices.Clone(o.known), o.found}
}

// Events replaces the secrets of events: it finds those of all events by the rules, and then replaces all of
// them in each. The content of payloads must be in their Data.
func (o *Outgoing) Events(events []*conversation.Event) {
	for _, e := range events {
		e.Rewrite(func(name, text string) string {
			text, found := o.redactor.Redact(name, text)
			o.learn(found)
			return text
		})
	}
	for _, e := range events {
		e.Rewrite(func(name, text string) string {
			if name == "subject" || name == "title" {
				text = redact.ReplaceCut(text, o.known)
			}
			text = replaceKnown(name, text, o.known)
			o.count(text)
			return text
		})
	}
}

// Text replaces the secrets of a text outside of events.
func (o *Outgoing) Text(text string) string {
	text, found := o.redactor.Redact("", text)
	o.learn(found)
	text = redact.ReplaceKnown(text, o.known)
	o.count(text)
	return text
}

// Patch replaces the secrets of a diff, also those that go over several of its lines.
func (o *Outgoing) Patch(text string) string {
	text = o.Text(text)
	var bare strings.Builder
	for line := range strings.Lines(text) {
		bare.WriteString(line[1:])
	}
	for _, f := range o.redactor.Scan(bare.String()) {
		value := bare.String()[f.Start:f.End]
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= 8 {
				text = strings.ReplaceAll(text, line, "[secret:"+f.Rule+"]")
			}
		}
	}
	return text
}

func (o *Outgoing) learn(found []redact.Secret) {
	for _, s := range found {
		if !slices.Contains(o.known, s) {
			o.known = append(o.known, s)
		}
	}
}

func (o *Outgoing) count(text string) {
	if !strings.Contains(text, "[secret:") {
		return
	}
	_, placeholders := redact.Restore(text, func(string) (string, bool) { return "", false })
	for _, p := range placeholders {
		o.found[p] = true
	}
}

// Rules are the rules of the secrets that placeholders stand for, with how many there are of
// each.
func (o *Outgoing) Rules() map[string]int {
	rules := map[string]int{}
	for p := range maps.Keys(o.found) {
		rules[redact.RuleOf(p)]++
	}
	return rules
}
