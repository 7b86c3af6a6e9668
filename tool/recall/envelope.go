package recall

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An envelope is a text of elements. Names of elements and attributes are ours;
// everything else is encoded.
type envelope struct{ strings.Builder }

// An attribute of an element; one without a name is left out.
type attribute struct{ name, value string }

// optional is an attribute that is left out without a value.
func optional(name, value string) attribute {
	if value == "" {
		return attribute{}
	}
	return attribute{name, value}
}

// flag is an attribute that is left out unless holds is true.
func flag(name string, holds bool) attribute {
	if !holds {
		return attribute{}
	}
	return attribute{name, "true"}
}

// open begins an element that holds others.
func (e *envelope) open(name string, attributes ...attribute) {
	e.tag(name, attributes)
	e.WriteString(">\n")
}

func (e *envelope) close(name string) { e.WriteString("</" + name + ">\n") }

// empty writes an element without content.
func (e *envelope) empty(name string, attributes ...attribute) {
	e.tag(name, attributes)
	e.WriteString("/>\n")
}

// leaf writes an element that holds text, exactly as [clean] leaves it.
func (e *envelope) leaf(name, content string, attributes ...attribute) {
	e.tag(name, attributes)
	e.WriteString(">" + inContent.Replace(clean(content)))
	e.close(name)
}

func (e *envelope) tag(name string, attributes []attribute) {
	e.WriteString("<" + name)
	for _, a := range attributes {
		if a.name != "" {
			e.WriteString(" " + a.name + `="` + inAttribute.Replace(inLine(a.value)) + `"`)
		}
	}
}

var (
	inContent   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	inAttribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	oneLine     = strings.NewReplacer("\n", " ", "\t", " ")
	lineEnds    = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")
)

// clean makes all of a text visible: every character that a reader would miss, or would see elsewhere,
// becomes U+FFFD, as do invalid bytes. Lines end in a newline.
func clean(text string) string {
	return strings.Map(visible, lineEnds.Replace(strings.ToValidUTF8(text, "\uFFFD")))
}

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Noncharacter_Code_Point, r), hidden(r):
		return utf8.RuneError
	}
	return r
}

// hidden reports whether a character takes no room, apart from the joiners that scripts and emoji need.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner || r >= 0xE0000 && r <= 0xE007F
}

// inLine is clean, on one line.
func inLine(text string) string { return oneLine.Replace(clean(text)) }

// fenced puts JSON between two fences that are longer than any in it. Its characters of markup are escaped as
// JSON does it, so that it stays the same JSON after the escaping of [envelope.leaf].
func fenced(text string) string {
	if json.Valid([]byte(text)) {
		var escaped bytes.Buffer
		json.HTMLEscape(&escaped, []byte(text))
		text = escaped.String()
	}
	longest, run := 0, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return "\n" + fence + "json\n" + strings.TrimSpace(text) + "\n" + fence + "\n"
}

// clip cuts a text to n characters around the byte at. An ellipsis marks each cut.
func clip(text string, at, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	from := min(max(0, utf8.RuneCountInString(text[:at])-n/2), len(runes)-n)
	kept := runes[from : from+n]
	if from > 0 {
		kept[0] = '…'
	}
	if from+n < len(runes) {
		kept[n-1] = '…'
	}
	return string(kept)
}
