package redact

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// genericRule is gitleaks' rule for anything called a key or a token.
const genericRule = "generic-api-key"

// mostForm bounds the minimal entropy, in bits per byte, that a rule may require of a secret with identifying
// first characters: a random one hardly ever has less.
const mostForm = 2

// rules are those of gitleaks as we use them, and our own.
func rules() []rule {
	all := make([]rule, 0, len(gitleaksRules)+len(ownRules))
	for _, r := range gitleaksRules {
		switch r.id {
		case genericRule:
			r.refuse = refuseGeneric
			r.keywords = slices.DeleteFunc(slices.Clone(r.keywords), func(word string) bool { return word == "passwd" || word == "password" })
			r.keywords = append(r.keywords, "passw")
		case keyRule:
			continue // found line by line, in time that grows with the text only
		case "sourcegraph-access-token":
			// Without the prefix it is any git object id.
			r.regex, r.keywords = `(?i)\b(sgp_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40})\b`, []string{"sgp_"}
		case "lob-api-key", "lob-pub-api-key":
			r.keywords = []string{"lob"} // rather than the beginning of its value
		case "jwt":
			r.regex = strings.Replace(r.regex, "(ey[a-zA-Z0-9]{17,}", "(ey[AJ][a-zA-Z0-9]{16,}", 1) // an object
			r.keywords = []string{"eyj", "eya"}
		case "cloudflare-origin-ca-key":
			r.keywords = []string{"v1.0-"}
		case "mailchimp-api-key", "nytimes-access-token":
			r.loose = true
		case "airtable-personnal-access-token", "facebook-access-token":
			r.near = 256
		case "jwt-base64", "microsoft-teams-webhook":
			r.whole = true // its groups are only for repeating
		case "hashicorp-tf-password":
			r.refuse = refusePlain
		case "kubernetes-secret-yaml":
			r.keywords, r.refuse = []string{"kind:"}, refusePlain
		}
		if !assigns(r) && r.id != "vault-service-token" {
			r.entropy = min(r.entropy, mostForm)
		}
		all = append(all, r)
	}
	all = append(append(append(all, ownRules...), namedRule), placeRules...)
	return append(all, formRules()...)
}

// endingOf is the expression for the end of a secret. gitleaks reads files of programs, which have a quote or
// a space there. In texts of people and programs it is also a comma, a bracket or a full stop. A value that
// only its name identifies can be a name itself, with a bracket or a dot behind it.
func endingOf(r rule) string {
	short := slices.ContainsFunc(r.keywords, func(word string) bool { return len(word) < 4 })
	if assigns(r) || short {
		return strings.Replace(ending, `;]`, `;&]`, 1)
	}
	return `(?:[^\w-]|$)`
}

// ownRules are for secrets that gitleaks does not know.
var ownRules = []rule{
	{
		id:       "url-password",
		regex:    `(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\x00-\x20/:@"'<>\x60\\]{0,100}:([^\x00-\x20/@:"'<>\x60\\]{3,200})@[a-z0-9\[%$_{.-]`,
		keywords: []string{"://"}, can: hasUser, refuse: refuseWord,
	},
	{
		id:       "authorization-header",
		regex:    `(?i)\b(?:proxy-)?authorization["']?\s{0,3}[:=,]\s{0,3}["']?(?:bearer|basic|token|api-?key|key|bot|geniekey|ssws|splunk)(?:\s{1,3}|=)([^\x00-\x20"'\x60\\,;<>{}\[\]]{8,})`,
		keywords: []string{"authorization"}, entropy: 2.5, refuse: refuseLetters,
	},
	{
		id:       "authorization-header",
		regex:    `(?i)\b(?:proxy-)?authorization["']?[ \t]{0,3}:[ \t]{0,3}["']?([\w~+=-]{20,})`,
		keywords: []string{"authorization"}, entropy: 3, refuse: func(c candidate) bool { return refuseName(c) || digitsIn(c.secret) < 3 },
	},
	{
		id: "bearer-token", regex: `(?i)\bbearer[ \t]{1,3}([\w~+/.-]{20,}={0,2})`,
		keywords: []string{"bearer "}, entropy: 3, refuse: refuseLetters,
	},
	{
		id:       "aws-secret-access-key",
		regex:    `(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b[^A-Za-z0-9/+](?:(?s:.){0,200}?[^A-Za-z0-9/+])?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`,
		keywords: []string{"a3t", "akia", "asia", "abia", "acca"}, entropy: 4, refuse: refusePlain,
	},
	{
		id:       "connection-string",
		regex:    `(?i)(?:\b(?:accountkey|sharedaccesskey)\s{0,2}=\s{0,2}([\w+/]{20,200}={0,2})|; ?(?:password|pwd)\s{0,2}=\s{0,2}([^\s;"'<>\x60\\]{4,200}))`,
		keywords: []string{"accountkey", "sharedaccesskey", ";password", "; password", ";pwd", "; pwd"}, refuse: refuseWord,
	},
	{
		id: "netrc-password", regex: `(?i)\bmachine\s{1,9}\S{1,80}\s{1,9}login\s{1,9}\S{1,80}\s{1,9}password\s{1,9}(\S{3,200})`,
		keywords: []string{"machine"}, refuse: refuseWord,
	},
}

// hasUser reports whether a user with a password can follow the "://" of a URL.
func hasUser(text string, end int) bool {
	rest := text[end:min(len(text), end+1300)]
	if i := strings.IndexAny(rest, " /\n\t\"'<>`"); i >= 0 {
		rest = rest[:i]
	}
	return strings.Contains(rest, "@")
}

// refuseName is refuseWord for secrets of no certain form: they are more than names and words.
func refuseName(c candidate) bool { return refuseLetters(c) || !random(c.secret, 16) }

// rank orders rules that found the same: the one that says most comes first.
func rank(id string) int {
	switch id {
	case OwnRule:
		return -1
	case genericRule:
		return 9
	case "bearer-token", "authorization-header", "curl-auth-header", "curl-auth-user", "cookie", "command-password":
		return 5
	}
	for _, r := range ownRules {
		if r.id == id {
			return 3
		}
	}
	return 0
}

// expressions are compiled once, when they are needed first.
var (
	hexSum = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:[0-9a-f]+)$`) })
	uuid   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[{]?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[}]?$`)
	})
	ownID     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:jp-)?c[0-9]{10,12}(?:-[0-9a-z]{4})?$`) })
	sumBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\bh1:|\b(?:sha-?\d{1,3}|md5|blake\w*|crc\d*)[-:= ]{1,3}["']?)$`)
	})
	sumInside  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:sha-?\d{1,3}|md5|h1)[-:=]`) })
	secretName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:passw(?:or)?d|secret|api[_-]?key|access[_-]?key|(?:access|auth|api|bot|refresh)[_-]?token|private[_-]?key|credentials?)["'\s]{0,3}(?::?=|:|=>)["'\s\x60]{0,5}$`)
	})
	aChain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_]\w*(?:[.-][A-Za-z_]\w*)+$`)
	})
	variable  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:LC|GIT|XDG|GO|JP)_[A-Z_]+$`) })
	placeheld = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[$%<{(\[*].*|x+|y+|\*+|\.+|-+|_+|#+|(?:(?:my|your|the|a|some|db|user|test|example|dummy|fake|super|new|old)[_.-]?)*(?:password|passwd|passwort|pass|pwd|pw|secret|token|key|value|here|name|string|user(?:name|info)?|redacted|changeme|change-me|example)[_.-]?(?:here|name)?[0-9]{0,3})$`)
	})
)

// images are how the base64 of pictures, archives and documents begins.
var images = []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi", "H4sI", "UEsDB", "PHN2Zy", "d09GM", "AAABAA", "Qk0"}

// sumLengths are the lengths of hashes in hex.
var sumLengths = []int{32, 40, 56, 64, 96, 128}

// isPlain reports whether a value is random and public by what it looks like: a
// hash, an id, a picture.
func isPlain(c candidate) bool {
	switch {
	case slices.Contains(sumLengths, len(c.secret)) && hexSum().MatchString(c.secret):
		return true
	case uuid().MatchString(c.secret), ownID().MatchString(c.secret), sumInside().MatchString(c.secret):
		return true
	case sumBefore().MatchString(c.before()):
		return true
	}
	for _, begin := range images {
		if len(c.secret) > 200 && strings.HasPrefix(c.secret, begin) {
			return true
		}
	}
	return false
}

// refusePlain is for rules whose secrets never look like a hash.
func refusePlain(c candidate) bool { return isPlain(c) || strings.Contains(c.secret, "EXAMPLE") }

// refuseWord is for rules that go by what stands around the secret: stand-ins
// are none.
func refuseWord(c candidate) bool {
	return placeheld().MatchString(c.secret) || strings.Contains(c.secret, "${") ||
		strings.Contains(c.match, "//"+c.secret+":"+c.secret+"@") // a default that everybody knows
}

// refuseLetters is refuseWord for secrets that a program made: they have digits.
func refuseLetters(c candidate) bool {
	return refuseWord(c) || !strings.ContainsAny(c.secret, "0123456789")
}

// refusePort is refuseWord for an option that many programs have for a port or a path.
func refusePort(c candidate) bool {
	return refuseWord(c) || aPath().MatchString(c.secret) || ports().MatchString(c.secret)
}

// ports is a port, and a mapping of one.
var ports = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[\d.]*:)?(?:\d{1,5}:)?\d{1,5}(?:/\w+)?$`) })

// refuseNoPair is for the code of a user and a password, in hex or Base64.
func refuseNoPair(c candidate) bool {
	decoded, err := hex.DecodeString(c.secret)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(c.secret, "="))
	}
	user, password, _ := strings.Cut(string(decoded), ":")
	return err != nil || user == "" || len(password) < 3 || strings.ContainsFunc(string(decoded), func(r rune) bool { return !unicode.IsPrint(r) })
}

// refuseGeneric takes what looks like a hash for a secret only under a name that
// says so, and no names of things in programs.
func refuseGeneric(c candidate) bool {
	if isPlain(c) {
		return !secretName().MatchString(c.before()) || sumBefore().MatchString(c.before())
	}
	if name, _, ok := strings.Cut(c.secret, "="); ok && variable().MatchString(name) {
		return true // the next one of a list
	}
	return aChain().MatchString(c.secret) && !strings.ContainsAny(c.before(), `"'`)
}
