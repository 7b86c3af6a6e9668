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

// AddSecret makes a value a secret anywhere, regardless of its look.
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

// places are the places of a value in a text.
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

// Redact returns the text with its secrets replaced, and the secrets. name is the name of the text, such as
// that of an option, or "": a password is found by its name.
func (r *Redactor) Redact(name, text string) (string, []Secret) {
	secrets := r.replaceAll(&text, "", "")
	if name != "" && len(text) <= longestNamed {
		secrets = append(secrets, r.replaceAll(&text, `"`+name+`": "`, `"`)...)
	}
	return text, secrets
}

// replaceAll replaces the secrets in a text between two others. The neighbour of a secret can become one, so
// it looks again until it finds no more.
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

// replaceIn replaces the secrets in the context of a text, which begins in it at a byte.
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

// leastKnown is the least length of a value that is replaced anywhere. leastCut is the least length of its
// beginning at the end of a text that was cut off within it. Both are in bytes.
const leastKnown, leastCut = 12, 5

// ReplaceKnown replaces known secrets, in any surroundings. It leaves one that could be a word.
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

// Distinct reports whether a value is a secret anywhere: it has digits, and is too long for a word that only
// happens to be a secret somewhere.
func Distinct(s Secret) bool {
	return len(s.Value) >= leastKnown && strings.ContainsAny(s.Value, "0123456789")
}

// replaceOutside replaces text outside of placeholders.
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
