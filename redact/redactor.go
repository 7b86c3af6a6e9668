package redact

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
)

// A Secret is a value with the placeholder that stands for it.
type Secret struct {
	Placeholder string
	Value       string
}

// A Redactor replaces secrets by placeholders. Goroutines may share it.
type Redactor struct {
	scanner Scanner
	key     []byte

	mu  sync.RWMutex
	own []string
}

// New returns a redactor whose placeholders are those of a key. Without a key
// they are this redactor's only.
func New(key []byte) *Redactor {
	if len(key) == 0 {
		key = []byte(rand.Text())
	}
	return &Redactor{key: deriveKey(key)}
}

// OwnRule is the rule of values that jp itself was given.
const OwnRule = "provider-key"

// leastOwn is how long such a value must be to be found, in bytes: a server of one's own
// may take a word for a key.
const leastOwn = 12

// AddSecret makes a value a secret wherever it stands, whatever it looks like.
func (r *Redactor) AddSecret(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(value) >= leastOwn && !slices.Contains(r.own, value) {
		r.own = append(r.own, value)
	}
}

// Scan finds secrets, as [Scanner.Scan] does, and the values that are jp's own.
func (r *Redactor) Scan(text string) []Finding {
	found := r.scanner.Scan(text)
	r.mu.RLock()
	defer r.mu.RUnlock()
	known := len(found)
	for _, value := range r.own {
		found = append(found, places(text, OwnRule, value)...)
	}
	if len(found) == known {
		return found
	}
	return mergeFindings(text, found)
}

// places are where a value stands in a text.
func places(text, rule, value string) (found []Finding) {
	plain := withoutEscapes(text)
	for at := 0; ; {
		i := strings.Index(plain.text[at:], value)
		if i < 0 {
			return found
		}
		start, end := plain.origin(at+i, at+i+len(value))
		found = append(found, Finding{rule, start, end})
		at += i + len(value)
	}
}

// Redact returns the text with its secrets replaced, and what they were. name is
// what the text is the value of, such as the name of an option, "" for nothing: a
// password is found by what it is called.
func (r *Redactor) Redact(name, text string) (string, []Secret) {
	secrets := r.replaceAll(&text, "", "")
	if name != "" && len(text) <= longestNamed {
		secrets = append(secrets, r.replaceAll(&text, `"`+name+`": "`, `"`)...)
	}
	return text, secrets
}

// replaceAll replaces what is found in a text that stands between two others. What
// stood beside a secret can be one now, so it looks again until nothing is found.
func (r *Redactor) replaceAll(text *string, before, behind string) []Secret {
	var all []Secret
	for range mostLooks {
		secrets := r.replaceIn(text, before+*text+behind, len(before))
		if len(secrets) == 0 {
			return all
		}
		all = append(all, secrets...)
	}
	return all
}

// mostLooks bounds the time that a text made for it can take.
const mostLooks = 32

// longestNamed is how long a value is that is found by its name, in bytes.
const longestNamed = 4 << 10

// replaceIn replaces what is found in the context of a text, which begins in it
// at a byte.
func (r *Redactor) replaceIn(text *string, context string, at int) []Secret {
	var secrets []Secret
	var out strings.Builder
	from, end := at, at+len(*text)
	for _, f := range r.Scan(context) {
		if f.Start < from || f.End > end {
			continue
		}
		value := withoutEscapes(context[f.Start:f.End]).text
		s := Secret{Placeholder: placeholder(f.Rule, code(r.key, value)), Value: value}
		out.WriteString(context[from:f.Start])
		out.WriteString(s.Placeholder)
		secrets, from = append(secrets, s), f.End
	}
	if len(secrets) > 0 {
		out.WriteString(context[from:end])
		*text = out.String()
	}
	return secrets
}

// leastKnown is how long a value must be to be replaced wherever it stands, and
// leastCut how much of it, where a text is cut off within it; in bytes.
const leastKnown, leastCut = 12, 5

// ReplaceKnown replaces secrets that are known already, whatever stands around
// them. One that could be a word is not replaced.
func ReplaceKnown(text string, known []Secret) string {
	var held []string // value, placeholder, value …
	for _, s := range known {
		if Distinct(s) && len(s.Value) <= len(text) {
			held = append(held, s.Value, s.Placeholder)
		}
	}
	// A replacer of all takes as long to make as many looks at a text.
	const many = 4 << 20
	if len(held)*len(text) > many && strings.IndexByte(text, 0x1b) < 0 {
		return replaceOutside(text, strings.NewReplacer(held...).Replace)
	}
	for i := 0; i < len(held); i += 2 {
		text = replaceOne(text, held[i], held[i+1])
	}
	return text
}

// replaceOne replaces one value.
func replaceOne(text, value, placeholder string) string {
	if strings.Contains(text, value) {
		text = replaceOutside(text, func(piece string) string { return strings.ReplaceAll(piece, value, placeholder) })
	}
	if strings.IndexByte(text, 0x1b) < 0 {
		return text
	}
	return replaceOutside(text, func(piece string) string {
		for {
			found := places(piece, "", value)
			if len(found) == 0 {
				return piece
			}
			piece = piece[:found[0].Start] + placeholder + piece[found[0].End:]
		}
	})
}

// Distinct reports whether a value is a secret wherever it stands: it is too long
// for a word that happens to be one somewhere, and has digits.
func Distinct(s Secret) bool {
	return len(s.Value) >= leastKnown && strings.ContainsAny(s.Value, "0123456789")
}

// replaceOutside replaces what stands outside of placeholders.
func replaceOutside(text string, replace func(string) string) string {
	var out strings.Builder
	from := 0
	for _, p := range append(placeholders(text), window{len(text), len(text)}) {
		out.WriteString(replace(text[from:p.from]))
		out.WriteString(text[p.from:p.to])
		from = p.to
	}
	return out.String()
}

// ReplaceCut replaces the beginning of a known secret at the end of a line that
// was cut off with "…".
func ReplaceCut(line string, known []Secret) string {
	head, cut := strings.CutSuffix(line, "…")
	if !cut {
		return line
	}
	for _, s := range known {
		for n := min(len(head), len(s.Value)); n >= leastCut; n-- {
			if strings.HasSuffix(head, s.Value[:n]) {
				return head[:len(head)-n] + "[secret:…"
			}
		}
	}
	return line
}

// HasSecret reports whether a placeholder stands for a value.
func (r *Redactor) HasSecret(s Secret) bool {
	return isPlaceholder(s.Placeholder) && codeOf(s.Placeholder) == code(r.key, s.Value)
}
