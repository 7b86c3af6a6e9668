package terminal

import (
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"

	"jp/internal/lazy"
	"jp/internal/safetext"
)

// resolve turns the text of Markdown into plain text: backslashes before signs go, entities become the
// characters they name. The result has no control characters, and shows those that reorder or hide
// text, as [Clean] does.
func resolve(markdown string) string {
	at := strings.IndexAny(markdown, `\&`)
	if at < 0 {
		return markdown
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexAny(markdown, `\&`) {
		b.WriteString(markdown[:at])
		text, size := escaped(markdown[at:])
		b.WriteString(text)
		markdown = markdown[at+size:]
	}
	b.WriteString(markdown)
	return b.String()
}

// escaped reads the escape that begins with a backslash or an ampersand.
func escaped(text string) (plain string, size int) {
	if text[0] == '\\' {
		if len(text) > 1 && util.IsPunct(text[1]) {
			return text[1:2], 2
		}
		return text[:1], 1
	}
	if found := controlEntity().FindStringSubmatch(text); found != nil && controls(named(found[1])) {
		return "\ufffd", len(found[0])
	}
	if found := anyEntity().FindStringSubmatch(text); found != nil {
		return safetext.Clean(named(found[1])), len(found[0])
	}
	return text[:1], 1
}

var (
	anyEntity = lazy.Regexp(`^&(#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-zA-Z][a-zA-Z0-9]*);`)

	// controlEntity finds an entity that may name a control character, also behind ampersands that are
	// entities: a reader who copies it may decode it once more.
	controlEntity = lazy.Regexp(`^&(?:amp;|#38;|#[xX]0*26;)*(#[xX][0-9a-fA-F]+|#[0-9]+|Tab|NewLine);`)
)

// named is the text of an entity, given without its first and last sign. An unknown one is returned
// unchanged.
func named(entity string) string {
	if strings.HasPrefix(entity, "#") {
		return html.UnescapeString("&" + entity + ";")
	}
	if known, ok := util.LookUpHTML5EntityByName(entity); ok {
		return string(known.Characters)
	}
	return "&" + entity + ";"
}

func controls(text string) bool { return strings.IndexFunc(text, unicode.IsControl) >= 0 }
