package repo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/redact"
)

// secrets replaces the secrets in recorded texts, and keeps their values where only this user can read them:
// outside the repository, by conversation.
type secrets struct {
	redactor *redact.Redactor
	dir      string
	log      *slog.Logger

	Still bool // the values are dropped

	mu         sync.Mutex
	vaults     map[conversation.ID]*redact.Vault
	found      map[string]string // rule, by placeholder, since the last report
	unsearched []string          // attachments other than texts
}

// openSecrets returns nil if the settings leave secrets as they are.
func (r *Repo) openSecrets(e *Host, key []byte) *secrets {
	if !r.Config.Secrets.Redact {
		return nil
	}
	s := &secrets{
		redactor: redact.New(key), dir: filepath.Join(r.Paths.StateDir, "secrets"), log: e.logger(),
		vaults: map[conversation.ID]*redact.Vault{}, found: map[string]string{},
	}
	for _, key := range e.values(r.keyVariables()) {
		s.redactor.AddSecret(strings.TrimSpace(key))
	}
	return s
}

// Add makes a provider's key a secret, in any form.
func (s *secrets) Add(key string) {
	if s != nil {
		s.redactor.AddSecret(key)
	}
}

// rewriter takes each group of events from the store, or is nil.
func (s *secrets) rewriter() func(conversation.ID, []*conversation.Event) error {
	if s == nil {
		return nil
	}
	return func(id conversation.ID, events []*conversation.Event) error {
		s.rewrite(id, events)
		return nil
	}
}

// rewrite replaces secrets in a group of events: it finds those of all its events by the rules, and adds the
// conversation's earlier ones.
func (s *secrets) rewrite(id conversation.ID, events []*conversation.Event) {
	vault := s.vault(id)
	known := vault.Known()
	var found []redact.Secret
	for _, e := range events {
		s.noteUnsearched(e)
		e.Rewrite(func(name, text string) string {
			text, secrets := s.redactor.Redact(name, text)
			found = append(found, secrets...)
			return replaceKnown(name, text, known)
		})
	}
	all := append(known, found...)
	if len(all) == 0 {
		return
	}
	for _, e := range events {
		e.Rewrite(func(name, text string) string {
			if name == "subject" || name == "title" {
				text = redact.ReplaceCut(text, all)
			}
			return replaceKnown(name, text, found)
		})
	}
	s.keep(vault, found)
}

// replaceKnown replaces known secrets, except in ids that join events: a secret that was found after the
// first of these stays in the others.
func replaceKnown(name, text string, known []redact.Secret) string {
	if name == "tool_call_id" || name == "question_id" {
		return text
	}
	return redact.ReplaceKnown(text, known)
}

// keep stores the values for later processes. A tool that needs a value runs only with it. Provider keys stay
// out of the store and of tools.
func (s *secrets) keep(v *redact.Vault, found []redact.Secret) {
	if len(found) == 0 {
		return
	}
	usable := slices.DeleteFunc(slices.Clone(found), func(f redact.Secret) bool { return redact.RuleOf(f.Placeholder) == redact.OwnRule })
	if err := v.Add(usable...); err != nil {
		s.log.Warn("the values of secrets are not kept; tools will not get them", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range found {
		s.found[secret.Placeholder] = redact.RuleOf(secret.Placeholder)
	}
}

func (s *secrets) noteUnsearched(e *conversation.Event) {
	for i := range e.Payloads {
		if p := &e.Payloads[i]; len(p.Data) > 0 && !p.IsText() && p.MediaType != "" {
			s.mu.Lock()
			s.unsearched = append(s.unsearched, p.Name)
			s.mu.Unlock()
		}
	}
}

func (s *secrets) vault(id conversation.ID) *redact.Vault {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.vaults[id]
	if v == nil {
		v = redact.NewVault(filepath.Join(s.dir, string(id)), s.redactor)
		if s.Still {
			v.Still()
		}
		s.vaults[id] = v
	}
	return v
}

// Share lets a conversation use the values of another one, since it has that one's placeholders.
func (s *secrets) Share(from, with conversation.ID) {
	if s == nil || from == "" || from == with {
		return
	}
	if err := s.vault(with).Add(s.vault(from).Known()...); err != nil {
		s.log.Warn("the values of secrets are not kept; tools will not get them", "error", err)
	}
}

// forget removes the values of a conversation.
func (r *Repo) forgetSecrets(id conversation.ID) {
	_ = os.Remove(filepath.Join(r.Paths.StateDir, "secrets", string(id))) // there may be none
}

// Redacts reports whether a text under a name looks like a secret. It is nil if secrets stay as they are.
func (s *secrets) Redacts() func(name, text string) bool {
	if s == nil {
		return nil
	}
	return func(name, text string) bool {
		redacted, _ := s.redactor.Redact(name, text)
		return redacted != text
	}
}

// Concealer replaces secrets in an unrecorded text for display, or is nil.
func (s *secrets) Concealer(id conversation.ID) func(text string) string {
	if s == nil {
		return nil
	}
	return func(text string) string {
		text, _ = s.redactor.Redact("content", text)
		return redact.ReplaceKnown(text, s.vault(id).Known())
	}
}

// Redactor replaces secrets in a recorded text, and keeps their values for the tools of the conversation, or
// is nil.
func (s *secrets) Redactor(id conversation.ID) func(text string) string {
	if s == nil {
		return nil
	}
	return func(text string) string {
		vault := s.vault(id)
		known := vault.Known()
		text, found := s.redactor.Redact("content", text)
		s.keep(vault, found)
		return redact.ReplaceKnown(text, known)
	}
}

// Restorer puts the values of a conversation's placeholders into a tool's input, or is nil.
func (s *secrets) Restorer(id conversation.ID) func(json.RawMessage) (json.RawMessage, error) {
	if s == nil {
		return nil
	}
	return func(value json.RawMessage) (json.RawMessage, error) { return s.restore(s.vault(id), value) }
}

func (s *secrets) restore(v *redact.Vault, value json.RawMessage) (json.RawMessage, error) {
	var missing, unfit []string
	out := conversation.RewriteJSON(value, func(_, text string) string {
		text, unknown := redact.Restore(text, func(placeholder string) (string, bool) {
			secret, ok := v.Value(placeholder)
			if ok && !redact.Usable(redact.Secret{Placeholder: placeholder, Value: secret}) {
				unfit = append(unfit, placeholder)
				return placeholder, true
			}
			return secret, ok
		})
		missing = append(missing, unknown...)
		return text
	})
	switch {
	case len(missing) > 0:
		return nil, fmt.Errorf("the value of %s is not known here", strings.Join(missing, ", "))
	case len(unfit) > 0:
		return nil, fmt.Errorf("the value of %s holds characters that a shell takes for more than data; the user has to do this", strings.Join(unfit, ", "))
	}
	return out, nil
}

// Inspector gives the reason to leave a file out of a snapshot, or is nil.
func (s *secrets) Inspector() func(path string, was, is []byte) string {
	if s == nil {
		return nil
	}
	return s.inspect
}

// inspect is the reason to keep a file out of a snapshot: a new secret in it, or in its name.
func (s *secrets) inspect(path string, was, is []byte) (why string) {
	for _, text := range []string{path, string(is)} {
		for _, f := range s.redactor.Scan(text) {
			if !bytes.Contains(was, []byte(text[f.Start:f.End])) {
				return "holds a secret (" + f.Rule + ")"
			}
		}
	}
	for _, known := range s.known() {
		if redact.Distinct(known) && bytes.Contains(is, []byte(known.Value)) && !bytes.Contains(was, []byte(known.Value)) {
			return "holds a secret (" + redact.RuleOf(known.Placeholder) + ")"
		}
	}
	return ""
}

// known are the secrets of the conversations that this process writes.
func (s *secrets) known() []redact.Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []redact.Secret
	for _, v := range s.vaults {
		all = append(all, v.Known()...)
	}
	return all
}

// report names the secrets replaced since the last report, and the unsearched attachments.
func (s *secrets) report(e *Host) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.found); n > 0 {
		were, before := "secrets were", " before recording"
		if n == 1 {
			were = "secret was"
		}
		if s.Still {
			before = ""
		}
		var rules []string
		for _, rule := range s.found {
			rules = append(rules, rule)
		}
		slices.Sort(rules)
		e.Note("%d %s replaced%s (%s).", n, were, before, strings.Join(slices.Compact(rules), ", "))
	}
	if n := len(s.unsearched); n > 0 {
		e.Note("Not searched for secrets: %s.", safetext.Show(strings.Join(s.unsearched, ", ")))
	}
	clear(s.found)
	s.unsearched = nil
}
