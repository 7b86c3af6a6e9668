package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/lazy"
)

// hashedStem is the length of a name's stem before its hash.
const hashedStem = 55

// WireName is the name under which every provider knows a tool. A name that all
// of them take stays as it is; any other is cut, cleaned and made unique by a
// hash. So is a name that looks hashed, lest it be taken for another's.
func WireName(registry string) string {
	if isWireName(registry) && !looksHashed(registry) {
		return registry
	}
	stem := strings.Map(inNames, registry)
	if stem == "" || !isWireName(stem[:1]) {
		stem = "_" + stem
	}
	sum := sha256.Sum256([]byte(registry))
	return stem[:min(len(stem), hashedStem)] + "_" + hex.EncodeToString(sum[:4])
}

// isWireName reports whether every provider takes a name: a letter or _, then up to 63 letters, digits, _ and
// -, all of ASCII. It avoids regular expressions, since it runs for each block of each request.
func isWireName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return name[0] != '-' && (name[0] < '0' || name[0] > '9') && onlyInNames(name)
}

// looksHashed reports whether a name ends as one with a hash does.
func looksHashed(name string) bool {
	const digits = 8
	at := len(name) - digits
	if at < 1 || name[at-1] != '_' {
		return false
	}
	return strings.Trim(name[at:], "0123456789abcdef") == ""
}

// inNames is the replacement of a character in a name.
func inNames(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}

func onlyInNames(text string) bool {
	for i := range len(text) {
		if c := rune(text[i]); inNames(c) != c {
			return false
		}
	}
	return true
}

// Names translates between the names of a registry and those on the wire.
type Names struct {
	registry map[string]string // by wire name
}

// NewNames returns the names of a registry. If two of them have one wire name, the first one gets it.
func NewNames(registry ...string) Names {
	n := Names{registry: make(map[string]string, len(registry))}
	for _, name := range registry {
		if _, taken := n.registry[WireName(name)]; !taken {
			n.registry[WireName(name)] = name
		}
	}
	return n
}

// Registry is the name that a model means. A name that the model made up is
// returned as it is, with false.
func (n Names) Registry(wire string) (registry string, ok bool) {
	if registry, ok = n.registry[wire]; ok {
		return registry, true
	}
	return wire, false
}

// templateToken is a piece of a model's chat template that leaked into a name, such
// as "<|channel|>".
var templateToken = lazy.Regexp(`<[|\x{FF5C}][^<>]*[|\x{FF5C}]>`)

// Meant is the name that a model means by one that is nearly right: blanks around it, "functions." before it,
// tokens of a chat template, or another case. ok is false unless exactly one name of the registry is left.
func (n Names) Meant(wire string) (registry string, ok bool) {
	if registry, ok = n.Registry(wire); ok {
		return registry, true
	}
	// A word of the template may follow a token, so a name can also end there.
	pieces := templateToken().Split(wire, -1)
	found := map[string]bool{}
	for _, text := range append(pieces, strings.Join(pieces, "")) {
		text = strings.TrimPrefix(strings.TrimSpace(text), "functions.")
		if text == "" {
			continue
		}
		for wireName, name := range n.registry {
			if strings.EqualFold(text, wireName) || strings.EqualFold(text, name) {
				found[name] = true
			}
		}
	}
	if len(found) != 1 {
		return wire, false
	}
	for name := range found {
		registry = name
	}
	return registry, true
}

// wireIDs gives each tool call of a request an id of its own.
type wireIDs struct {
	earlier *wireIDs // of the turns before, now fixed; may be nil
	taken   map[string]bool
}

func newWireIDs(earlier *wireIDs) *wireIDs { return &wireIDs{earlier, map[string]bool{}} }

func (ids *wireIDs) have(id string) bool {
	return ids != nil && (ids.taken[id] || ids.earlier.have(id))
}

// take returns the id under which a call is sent. The endpoint that gave an id gets it back as it was. For
// any other endpoint, an id that some provider refuses becomes one made of the request's seq. The result
// depends on earlier calls alone, so that ids never change later.
func (ids *wireIDs) take(id string, seq int, own bool) string {
	fits := isWireID(id) && !looksGenerated(id) || own && isKeptID(id)
	if !fits || ids.have(id) {
		made := "jp" + strconv.FormatInt(int64(seq), 36)
		for id = made; ids.have(id); id += "-" { // an endpoint may give such ids itself
		}
	}
	ids.taken[id] = true
	return id
}

// isWireID reports whether every provider takes an id.
func isWireID(id string) bool { return id != "" && len(id) <= 40 && onlyInNames(id) }

// maxKeptID is the longest id that goes back to the endpoint that gave it, in characters.
const maxKeptID = 64

// isKeptID reports whether an id can go back as it was received.
func isKeptID(id string) bool {
	if id == "" || !utf8.ValidString(id) || utf8.RuneCountInString(id) > maxKeptID {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}

// looksGenerated reports whether an id could be one that take makes.
func looksGenerated(id string) bool {
	number, prefixed := strings.CutPrefix(strings.TrimRight(id, "-"), "jp")
	return prefixed && number != "" && strings.Trim(number, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// cleanText is text as it may be sent: UTF-8 without NUL.
func cleanText(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
