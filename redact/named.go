package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// namedRule finds any value under the name of a secret. It has the name of gitleaks' rule for values of a
// certain randomness.
var namedRule = rule{
	id: genericRule, keywords: append([]string{"key", "token", "secret", "pass", "pwd", "credential", "Пароль"}, passwords...), find: named,
}

// leastNamed and mostNamed are the sizes of a value under the name of a secret, in bytes.
const leastNamed, mostNamed = 8, 4 << 10

// A value is the value of a name.
type value struct {
	name    string // in lower case, with _ for each separator
	shout   bool   // the name is in upper case
	text    string
	quoted  bool
	literal bool // an expression of a program cannot stand there
	call    bool // the next characters make it an expression
	env     bool // the assignment is that of an environment variable
	given   bool // a variable or an option gets the value as it is
}

// named is the value of the name that ends with the word at at.
func named(found []window, text string, at, end int) []window {
	v, start := valueOf(text, at, end)
	if v.text == "" || !v.secret() {
		if v, start = apart(text, at, end); v.text == "" {
			return found
		}
	}
	return append(found, window{start, start + len(v.text)})
}

// valueOf reads a name, an operator and a value.
func valueOf(text string, at, end int) (v value, start int) {
	end = nameEnd(text, at, end)
	if end < 0 {
		return v, 0
	}
	i, flag := end, false
	from := nameBegin(text, at)
	name := text[from:end]
	flag = strings.HasPrefix(name, "--")
	v.name = nameOf(text, from, end)
	v.shout = v.name != "" && strings.ToUpper(name) == name
	if held := from - len(placeholderBegin); held >= 0 && placeholderLength(text[held:]) > 0 || from > 0 && text[from-1] == '[' && v.name == "secret" {
		return value{}, 0
	}
	quote := from > 0 && strings.IndexByte("\"'`", text[from-1]) >= 0
	i = run(text, i, `"'`+"`"+`\]`)
	blanks := run(text, i, " \t")
	op := operatorAt(text, blanks, quote)
	xml := false
	switch {
	case op > 0:
		xml = from > 0 && text[from-1] == '<' && text[blanks] == '>'
		if text[blanks] == '>' && !xml {
			return v, 0
		}
	case flag && blanks > i && i == end, strings.HasSuffix(v.name, "password") && blanks > i && strings.HasPrefix(text[blanks:], "'"):
	default:
		return v, 0
	}
	spaced := blanks > i || op > 0 && blanks+op < len(text) && text[blanks+op] == ' '
	i = run(text, blanks+max(op, 0), " \t")
	comma := op > 0 && text[blanks] == ','
	i = run(text, i, `\`)
	for _, scheme := range []string{"bearer ", "basic ", "token "} {
		if hasPrefixFold(text[i:], scheme) {
			i += len(scheme)
		}
	}
	if i >= len(text) {
		return v, 0
	}
	start = i
	assigned := !spaced && op == 1 && text[blanks] == '=' && blanks == end
	v.given = assigned && (v.shout || flag)
	if c := text[i]; strings.IndexByte("\"'`", c) >= 0 {
		start++
		to := start
		for to < len(text) && to-start < mostNamed && (text[to] > ' ' || v.given && text[to] == ' ') && text[to] != c && text[to] != '\\' {
			to++
		}
		v.text, v.given = text[start:to], v.given && c != '`'
		v.quoted = to < len(text) && (text[to] == c || text[to] == '\\')
		v.literal = true
		if !v.quoted {
			return value{}, 0
		}
		return v, start
	}
	if comma {
		return value{}, 0
	}
	v.env = v.shout && !spaced && text[blanks:blanks+max(op, 0)] == "="
	v.literal = flag || xml || v.shout && !spaced
	inURL := from > 0 && (text[from-1] == '?' || text[from-1] == '&' || text[from-1] == ';')
	stop := "\"'`\\"
	if !v.literal || inURL {
		stop += ",;&|<>(){}[]"
	}
	if xml {
		stop += "<"
	}
	to := start
	for to < len(text) && to-start < mostNamed && text[to] > ' ' && strings.IndexByte(stop, text[to]) < 0 {
		to++
	}
	v.call = to < len(text) && strings.IndexByte("([{", text[to]) >= 0
	for to > start && strings.IndexByte(",;.:)]}", text[to-1]) >= 0 {
		to--
	}
	v.literal = v.literal || inURL
	v.text = text[start:to]
	return v, start
}

var separators = strings.NewReplacer("-", "_", ".", "_", " ", "_")

// nameEnd is where the name ends whose last word is at at, -1 where it goes on with
// other words.
func nameEnd(text string, at, end int) int {
	if word := text[at:end]; len(word) == 4 && lower(word[3]) == 's' && lower(word[0]) == 'p' {
		for _, rest := range []string{"words", "word", "wort", "wd", "phrase", "code"} {
			if hasPrefixFold(text[end:], rest) {
				end += len(rest)
				break
			}
		}
	}
	if end < len(text) && lower(text[end]) == 's' {
		end++
	}
	if to := run(text, end, "_-0123456789"); to-end <= 3 {
		end = to
	}
	for _, stage := range []string{"_prod", "_production", "_dev", "_test", "_live", "_staging", "_old", "_new", "_base"} {
		if hasPrefixFold(text[end:], stage) && (end+len(stage) == len(text) || !wordByte(text[end+len(stage)])) {
			end += len(stage)
		}
	}
	if end < len(text) && (wordByte(text[end]) || text[end] == '-' || text[end] == '.') {
		return -1
	}
	return end
}

// nameBegin is where the name begins that has a word at at.
func nameBegin(text string, at int) int {
	from := at
	for from > 0 && at-from < 60 && (wordByte(text[from-1]) || text[from-1] == '-' || text[from-1] == '.') {
		from--
	}
	return from
}

// operatorAt is how long the operator is at a place that gives a value to a name, 0 for none.
func operatorAt(text string, at int, quoted bool) int {
	for _, op := range []string{":=", "=>", "?=", "::=", ":", "=", ">", ","} {
		if !strings.HasPrefix(text[at:], op) {
			continue
		}
		if op == "," && !quoted || op == "=" && strings.HasPrefix(text[at:], "==") || op == ":" && strings.HasPrefix(text[at:], "://") {
			return 0
		}
		return len(op)
	}
	return 0
}

// certain are names of secrets, by how they end. Any other name that ends in a word for a key
// may be the name of a column.
var certain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:passw(?:or)?d|passwort|passphrase|passcode|(?:^|_)pass|(?:^|_)pwd|secrets?|secret_?key|api_?keys?|(?:access|account|admin|app|application|auth|bot|client|deploy|encryption|license|master|private|refresh|service|shared|signing|storage|subscription|webhook)_?keys?|(?:_|^)tokens?|(?:access|auth|api|bot|refresh|bearer|id|user|app|session)tokens?)(?:_?\d+|_(?:prod|production|dev|test|live|staging|old|new|base))?$`)
})

// columns are names that end like the name of a secret, and are none.
var columns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|_)(?:public|pub|primary|foreign|sort|partition|cache|bucket|natural|schema|sequence|hot|idx|index|map|object|group|row|hash|next_page|page|csrf|xsrf|next|eos|bos|pad|stop|max|min|num|tokens?_per|poly|protobuf|websocket|\d+)_?(?:key|token)s?$`)
})

// secret reports whether the value is a secret.
func (v value) secret() bool {
	if v.given && v.isPassword() && !v.standsIn() {
		return true
	}
	if strings.Contains(v.text, " ") {
		return false
	}
	if v.given && !v.quoted && len(v.text) >= leastNamed && aWord(v.text) && certain().MatchString(v.name) && !columns().MatchString(v.name) {
		return !v.standsIn() && !keyWord().MatchString(v.text)
	}
	if len(v.text) < leastNamed || digitsIn(v.text) == 0 && !v.phrase() && (!v.literal && !strings.Contains(v.text, "-") && len(v.text) < 24 || !mixed(v.text)) {
		return false
	}
	if columns().MatchString(v.name) {
		return false
	}
	if !certain().MatchString(v.name) && (!strings.HasSuffix(v.name, "_key") || !v.shout && isHash(v.text)) {
		return false
	}
	if !strings.Contains(v.name, "pass") && counted().MatchString(v.text) {
		return false
	}
	return !reference(v) && !standIn(v.text)
}

// isPassword reports whether the name is that of a password.
func (v value) isPassword() bool {
	return (strings.Contains(v.name, "pass") || strings.Contains(v.name, "pwd")) && aPassword().MatchString(v.name) && !columns().MatchString(v.name)
}

// standsIn reports whether a value that is given as it is names a secret or holds its place.
func (v value) standsIn() bool {
	t := v.text
	switch {
	case len(t) < 3, v.call, strings.ContainsAny(t[:1], "$<{[(%*@&`!|;>#-/~"), strings.ContainsAny(t, "<>{}"), expanded().MatchString(t), strings.Contains(t, ".."), strings.Contains(t, "EXAMPLE"):
		return true
	case strings.Trim(t, t[:1]) == "", strings.ToUpper(t) == t && strings.ToLower(t) != t && digitsIn(t) == 0, published(t), placeheld().MatchString(t), aPath().MatchString(t):
		return true
	case strings.Contains(v.name, strings.ToLower(t)), anExpression().MatchString(t) && keyWord().MatchString(t), strings.ContainsAny(t, ".(") && anExpression().MatchString(strings.TrimRight(t, "()")):
		return true
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return strings.ContainsRune("-_. +=/:!,", r) }) {
		if plain := strings.TrimRight(word, "0123456789"); word == "" || plain != "" && (!standIns()[plain] && !defaults()[plain] || plain == "hunter") || plain == "" {
			return false
		}
	}
	return true
}

// defaults are well-known values besides stand-ins, and words for "none".
var defaults = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`admin administrator root guest demo null nil yes off on stdin prompt env file ask blank postgres mysql mongo redis rabbitmq
		guess argument arg option integer boolean bool int bytes text type format random generate generated auto please enter insert provide replace set unset`) {
		set[word] = true
	}
	return set
})

// phrase reports whether the value of an environment variable has only letters and cannot be a name: words
// with dashes, or letters of both cases in no order.
func (v value) phrase() bool {
	return v.env && (aPhrase().MatchString(v.text) || disorder().MatchString(v.text))
}

// isHash reports whether a text looks like a hash or a UUID.
func isHash(text string) bool {
	return slices.Contains(sumLengths, len(text)) && hexSum().MatchString(text) || uuid().MatchString(text)
}

// mixed reports whether a text has letters of both cases in an order that words do not have: capitals side by
// side, or more of them than in names of programs.
func mixed(text string) bool {
	uppers, changes := 0, 0
	for i, c := range []byte(text) {
		if c >= 'A' && c <= 'Z' {
			uppers++
			if i > 0 && text[i-1] >= 'A' && text[i-1] <= 'Z' {
				changes++
			}
		}
	}
	return len(text) >= 16 && uppers > 3 && (changes > 1 || len(text) >= 24 && 5*uppers > len(text)) && uppers < len(text)-3 && !strings.ContainsAny(text, "_.")
}

// aWord reports whether a text is small letters alone, or digits alone.
func aWord(text string) bool {
	return strings.Trim(text, "0123456789") == "" || strings.Trim(text, lowers[10:]) == ""
}

func digitsIn(text string) int {
	n := 0
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

var (
	// plainWord is a word, as people write it.
	plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Za-z]?[a-z]{1,15}|[A-Z]{1,15})$`) })
	// aPath is a path or a file's name.
	aPath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\.{1,2}/|~/|/(?:bin|etc|home|opt|tmp|usr|var|run|dev|root|Users|mnt|srv|secrets|data|app|workspace)/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*://)|\.(?:pem|key|json|txt|ya?ml|crt|cer|pub|p12|pfx|toml|env|go|py|js|ts|sh|md|html?)$`)
	})
	// anExpression is a chain of names, as programs have it.
	anExpression = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[&*!]?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*$`)
	})
	// snakeCase is a name of at least three words.
	snakeCase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(?:_[a-z]+){2,}$`) })
	// aPhrase is a password of three words or more.
	aPhrase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]{3,}(?:-[A-Za-z]{3,}){2,}$`) })
	// disorder has capitals side by side twice, or lower case that is interrupted twice.
	disorder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z]*(?:[a-z][A-Z]{1,3}[a-z]+[A-Z]{2}|[A-Z]{2}[A-Za-z]*[a-z][A-Z]|[a-z]+[A-Z]{2,}[a-z]+)[A-Za-z]*$`)
	})
	// aPassword is the name of a password.
	aPassword = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:passw(?:or)?ds?|passwort|passphrase|passcode|(?:^|_)pass|_pwd)(?:_?\d+|_(?:prod|production|dev|test|live|staging|old|new|base))?$`)
	})
	// expanded has a variable or a command in it.
	expanded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\$[A-Za-z_({]|`|%[A-Za-z_]+%|%[sdvq]") })
	// keyWord says in a name that it is one of a secret.
	keyWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)secret|token|key|passw`) })
	// counted is a word with a number, which is no secret but under the name of a password.
	counted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{3,12}[0-9]{1,3}$`) })
	// aNumber is a number in hex.
	aNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0x[0-9a-fA-F]{1,16}$`) })
	// aConstant is the name of a constant.
	aConstant = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`) })
)

// reference reports whether a value says where the secret is, and is none itself.
func reference(v value) bool {
	t := v.text
	switch {
	case t[0] == '/' && strings.Count(t, "/") > 1 && strings.ToLower(t) == t, v.name == "pwd" && t[0] == '/', strings.ContainsAny(t, "{}"), strings.HasPrefix(t, "urn:"), aNumber().MatchString(t):
		return true
	case v.call, strings.ContainsAny(t[:1], "$<{[(%*@&`"), strings.Contains(t, "$("), strings.Contains(t, "<"), strings.Contains(t, "..."):
		return true
	case plainWord().MatchString(t), aPath().MatchString(t), aConstant().MatchString(t):
		return true
	case strings.Trim(t, "0123456789.,") == "" && !strings.Contains(v.name, "pass"):
		return true
	}
	if digitsIn(t) <= 2 && snakeCase().MatchString(t) {
		return true
	}
	if v.quoted {
		return false
	}
	if !v.literal && anExpression().MatchString(t) && keyWord().MatchString(t) {
		return true
	}
	return anExpression().MatchString(t) && (digitsIn(t) == 0 && !mixed(t) && !v.phrase() || strings.ContainsAny(t, ".>:") && !v.literal)
}

// standIns are the words that texts have in the place of secrets.
var standIns = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`a access an ant api app auth bar baz change changed changeit changeme client correct credential credentials default demo dev
		dummy empty example fake false foo from full generated hash here hidden hunter id insert is it key keys local localhost masked me missing mock my name new no none not null oat of
		old or pass password passwort passwd pat path placeholder pk prod public pwd real redacted refresh replace rt sample sec secret secrets secure server service session sk some something
		string super supersecret team test testing tests the this to todo tok token tokens true undefined unused user value with wrong xxx you your`) {
		set[word] = true
	}
	return set
})

// description has a word of its own that describes a secret.
var description = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[-_.])(?:token|key|secret|password|passphrase|credential)(?:[-_.]|[0-9]*$)`)
})

// standIn reports whether a text holds the place of a secret: it is made of the words
// that say so, or of one character, or counts.
func standIn(text string) bool {
	if strings.Trim(text, text[:1]) == "" || strings.Contains(text, "EXAMPLE") || published(text) || placeheld().MatchString(text) {
		return true
	}
	if digitsIn(text) <= 3 && description().MatchString(text) {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("-_. +=/:!", r) })
	for _, word := range words {
		if half := len(word) / 2; word[:half] == word[half:] {
			word = word[:half]
		}
		word = strings.TrimRight(word, "0123456789")
		if word != "" && !standIns()[word] && strings.Trim(word, word[:1]) != "" && !ordered(word) {
			return false
		}
	}
	return strings.Trim(text, "0123456789") != "" || ordered(text)
}

// examples are the keys in vendors' documents, without their prefix, and those that gitleaks knows.
var examples = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{"MfKQ9r8GKYqrTwjU" + "PD8ILPZIo2LaLaSw": true, "C2FVsBQIhrscChlQ" + "IMV+b5sSYspob7oD": true}
	for _, r := range gitleaksRules {
		if r.id == "gcp-api-key" {
			for _, key := range r.allow[0].regexes {
				set[strings.TrimPrefix(key, "AIza")] = true
			}
		}
	}
	return set
})

// published reports whether a text is such a key: everybody knows it.
func published(text string) bool {
	return examples()[strings.TrimPrefix(strings.TrimPrefix(text, "whsec_"), "AIza")]
}

// ordered reports whether a text is a run of digits and letters in their order.
func ordered(text string) bool {
	for _, order := range []string{"012345678901234567890", "abcdefghijklmnopqrstuvwxyz", "0123456789abcdef0123456789abcdef", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"} {
		if len(text) >= 3 && strings.Contains(order, text) {
			return true
		}
	}
	return false
}

// A gap is the text around a name whose value comes later: in the next field, cell, argument or line.
type gap struct {
	before string // up to the name
	after  string // between the name and its value
	line   bool   // the value ends its line
	given  bool   // an expression of a program cannot stand there
}

// How expressions of gaps write a quote, which may be escaped or an entity of HTML, and an operator.
const (
	quoteMark = `(?:\\?["'\x60]|&(?:quot|#34|#39|#x27|apos);|[“”‘’„«»])`
	giving    = `[ \t]*(?::=|=>|[:=]|：)[ \t]*`
)

var gaps = []gap{
	{ // a pair of fields
		before: `(?i)(?:^|[^\w-])(?:name|key|variable|property|setting)` + quoteMark + `?(?:` + giving + `|[ \t]+)` + quoteMark + `?$`,
		after: `(?is)^` + quoteMark + `?(?:[\s,;{]|(?:type|description|sensitive|secure|overwrite)` + quoteMark + `?` + giving + quoteMark + `?[\w. -]{1,60}` + quoteMark + `?[\s,;])+?` +
			quoteMark + `?(?:value|default|stringvalue|defaultvalue)` + quoteMark + `?` + giving,
		given: true,
	},
	{ // the text of an element
		before: `(?i)[ \t](?:name|key|id)=` + quoteMark + `$`, after: `^` + quoteMark + `[^<>\n]{0,80}>[ \t]*`, given: true,
	},
	{ // a declared type, a conversion, or the default of an unset variable
		after: `^` + quoteMark + `?[\])?]{0,2}(?:[ \t]*:[ \t]*[\w.,<>\[\]&'| ?*]{1,40}?[ \t]*=[ \t]*|` + giving +
			`|[ \t]*(?:\|\||\?\?)=?[ \t]*|[ \t]+or[ \t]+)(?:[\w.]{1,60}(?:\[["']\w{1,60}["']\])?[ \t]*(?:\|\||\?\?|or[ \t])[ \t]*)?(?:(?:new[ \t]+)?` +
			`(?:\[\](?:byte|rune)|[Ss]tring|String::from|Buffer\.from|SecretStr|[Bb]ytes|std::string|[\w.]{0,40}GetBytes)\(|[bBrRuULf&]{1,2})?["'\x60]`,
		given: true,
	},
	{ // an assignment without an operator
		before: `(?m)(?:^|[\s;&(|+-])(?:set[ \t]+-\w*[xU]\w*|setenv|setx|ENV|#[ \t]*define|gh[ \t]+secret[ \t]+set)[ \t]+$`,
		after:  `^[ \t]+(?:(?:--body|-b)(?:[ \t]+|=))?`, given: true,
	},
	{after: `^[ \t]*：[ \t]*`},
	{before: `[|│┃║][ \t]*[\x60*"']{0,2}$`, after: `^[\x60*"']{0,2}[ \t]*[|│┃║][ \t]*[\x60*"']{0,2}`},
	{before: `(?m)^[ \t]*$`, after: `^(?:[ \t]{2,}|\t)`, line: true},
	{after: `^` + quoteMark + giving + quoteMark},
	{after: `^` + quoteMark + `?[ \t]*:[ \t]*(?:[>|][+-]?)?[ \t\r]*\n\s{0,80}`, line: true},
	{after: `^=\\\r?\n[ \t]*`, given: true},
	{after: `(?i)^(?:[ \t]+(?:is|ist|was|es|est|created|(?:for|of)[ \t]+\S{1,40})){1,2}[ \t]*[:=]?[ \t]+`},
}

// A readyGap is a gap with its expressions.
type readyGap struct {
	gap
	before, after *regexp.Regexp // before may be nil
}

var readyGaps = sync.OnceValue(func() (all []readyGap) {
	for _, g := range gaps {
		r := readyGap{gap: g, after: regexp.MustCompile(g.after)}
		if g.before != "" {
			r.before = regexp.MustCompile(g.before)
		}
		all = append(all, r)
	}
	return all
})

// Greatest distance of a value behind its name, and of the words before the name that reveal it, in bytes.
const gapBefore, gapAfter = 48, 240

// apart is the value of the name that ends with the word at at, if it stands apart from it.
func apart(text string, at, end int) (v value, start int) {
	if end = nameEnd(text, at, end); end < 0 || end == len(text) || strings.IndexByte("(,;.{}/*+<~$", text[end]) >= 0 {
		return v, 0
	}
	from := nameBegin(text, at)
	v.name = nameOf(text, from, end)
	if !certain().MatchString(v.name) || columns().MatchString(v.name) {
		return v, 0
	}
	before, after := text[max(0, from-gapBefore):from], text[end:min(len(text), end+gapAfter)]
	for _, g := range readyGaps() {
		m := g.after.FindStringIndex(after)
		if m == nil || g.before != nil && !g.before.MatchString(before) {
			continue
		}
		v.quoted, v.literal = false, g.given
		if v.text, start = v.read(text, end+m[1]); v.text == "" || g.line && !endsLine(text[start+len(v.text):]) {
			continue
		}
		if (g.given || !aName(v.text)) && digitsIn(v.text) > 0 && v.secret() {
			return v, start
		}
	}
	return value{}, 0
}

// read is the value that begins at a place, perhaps with a quote.
func (v *value) read(text string, at int) (string, int) {
	stop := "\"'`\\<|,;&"
	if at > 0 && strings.IndexByte("\"'`", text[at-1]) >= 0 {
		at--
	}
	if at < len(text) && text[at] == '\\' {
		at++
	}
	if at < len(text) && strings.IndexByte("\"'`", text[at]) >= 0 {
		v.quoted, v.literal, stop = true, true, text[at:at+1]+`\`
		at++
	}
	to := at
	for to < len(text) && to-at < mostNamed && text[to] > ' ' && strings.IndexByte(stop, text[to]) < 0 && !strings.HasPrefix(text[to:], "│") && !strings.HasPrefix(text[to:], "”") {
		to++
	}
	if v.quoted && (to == len(text) || strings.IndexByte(stop, text[to]) < 0) {
		return "", 0
	}
	for !v.quoted && to > at && strings.IndexByte(",;.:)]}", text[to-1]) >= 0 {
		to--
	}
	return text[at:to], at
}

// aName reports whether a text can be the type of a column, a resource, or a name with a version.
func aName(text string) bool {
	return strings.Contains(text, "(") || strings.Contains(text, "/") && strings.ToLower(text) == text ||
		digitsIn(text) < 3 && run(text, 0, urlSafe+".") == len(text)
}

// endsLine reports whether a line ends where a text begins, behind a quote.
func endsLine(text string) bool {
	text = strings.TrimLeft(text, "\"'`,; \t\r")
	return text == "" || text[0] == '\n'
}

// nameOf is a name in lower case with _ for each separator. A key keeps the word before it, such as "api",
// and foreign words for a password are translated.
func nameOf(text string, from, end int) string {
	name := separators.Replace(strings.ToLower(strings.TrimLeft(text[from:end], "-.")))
	if slices.Contains(passwords, name) {
		return "password"
	}
	if name == "key" && from > 1 && text[from-1] == ' ' {
		before := strings.ToLower(text[nameBegin(text, from-1) : from-1])
		if slices.Contains([]string{"api", "access", "secret", "auth", "signing", "encryption", "license"}, before) {
			return before + "_key"
		}
	}
	return name
}

// passwords are words for a password, as people write them.
var passwords = []string{"kennwort", "passe", "contraseña", "contrasena", "senha", "wachtwoord", "lösenord", "heslo", "hasło", "parola", "пароль", "密码", "密碼", "パスワード", "비밀번호"}
