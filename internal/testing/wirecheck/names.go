package wirecheck

import (
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"jp/internal/lazy"
)

var (
	wireName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	wireID   = lazy.Regexp(`^[A-Za-z0-9_-]{1,40}$`)
	idChars  = lazy.Regexp(`^[A-Za-z0-9_-]+$`)
)

// nameRules are the rules under which an API itself reports bad names of tools;
// the rest is reported as P11.
type nameRules struct {
	long   string // a name of more than 64 characters; empty: P11
	start  string // a name that starts with other than a letter or _; empty: P11
	unique string // a name that two tools have; empty: P11
	none   string // undeclared tools are used; empty: P11
}

// orCommon is the API's own rule, if it has one.
func orCommon(rule string) string {
	if rule == "" {
		return "P11"
	}
	return rule
}

// names checks the names of declared tools and of those that the history uses.
func (k *checker) names(r nameRules, declared, uses []*node) {
	known := map[string]bool{}
	for _, n := range declared {
		k.name(r, n)
		if known[n.text] {
			k.add(orCommon(r.unique), n, "two tools have the name %q", n.text)
		}
		known[n.text] = true
	}
	if len(declared) == 0 && len(uses) > 0 && r.none != "" {
		k.add(r.none, k.body.get("tools"), "the history uses tools and none is declared")
		return
	}
	for _, u := range uses {
		k.name(r, u)
		if !known[u.text] {
			k.add("P11", u, "%q is not among the tools", u.text)
		}
	}
}

func (k *checker) name(r nameRules, n *node) {
	if !k.want(n, text) || wireName().MatchString(n.text) {
		return
	}
	switch {
	case utf8.RuneCountInString(n.text) > 64:
		k.add(orCommon(r.long), n, "the name has more than 64 characters")
	case n.text == "" || !wireName().MatchString(n.text[:1]):
		k.add(orCommon(r.start), n, "the name must start with a letter or _")
	default:
		k.add("P11", n, "%q is no wire name", n.text)
	}
}

// idRules are the rules under which an API itself reports bad ids of calls.
type idRules struct {
	max    int                   // characters that the API takes; 0: unlimited
	long   string                // an id with more
	chars  string                // an id with other characters than letters, digits, _ and -; empty: P11
	unique string                // an id that two calls have
	form   func() *regexp.Regexp // further demand of the endpoint
}

// id checks the id of one call.
func (k *checker) id(r idRules, n *node) {
	if !k.want(n, text) || wireID().MatchString(n.text) || k.given(n.text) {
		return
	}
	length := utf8.RuneCountInString(n.text)
	switch {
	case r.max > 0 && length > r.max:
		k.add(r.long, n, "the id has %d characters, more than %d", length, r.max)
	case r.form != nil && r.form().MatchString(n.text):
	case r.chars != "" && !idChars().MatchString(n.text):
		k.add(r.chars, n, "%q is no id", n.text)
	default:
		k.add("P11", n, "%q is no wire id", n.text)
	}
}

// given reports whether the endpoint gave an id, and takes it back.
func (k *checker) given(id string) bool { return slices.Contains(k.Given, id) && keptID(id) }

// keptID reports whether an id goes back to the endpoint that gave it.
func keptID(id string) bool {
	for _, r := range id {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	return id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= 64
}

// givenBack checks that each id that the endpoint gave is that of a call (P11).
func (k *checker) givenBack(at *node, calls []call) {
	for i, id := range k.Given {
		sent := func(c call) bool { return c.id == id }
		if keptID(id) && slices.Index(k.Given, id) == i && !slices.ContainsFunc(calls, sent) {
			k.add("P11", at, "the id %q did not come back", id)
		}
	}
}
