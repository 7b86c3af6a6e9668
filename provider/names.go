package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"jp/internal/lazy"
)

var (
	wireName    = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	hashedName  = lazy.Regexp(`_[0-9a-f]{8}$`)
	notInNames  = lazy.Regexp(`[^A-Za-z0-9_-]`)
	wireID      = lazy.Regexp(`^[A-Za-z0-9_-]{1,40}$`)
	generatedID = lazy.Regexp(`^jp[0-9a-z]+$`)
)

// hashedStem is how much of a name stands before its hash.
const hashedStem = 55

// WireName is the name under which every provider knows a tool. A name that all
// of them take stays as it is; any other is cut, cleaned and made unique by a
// hash. So is a name that looks hashed, lest it be taken for another's.
func WireName(registry string) string {
	if wireName().MatchString(registry) && !hashedName().MatchString(registry) {
		return registry
	}
	stem := notInNames().ReplaceAllString(registry, "_")
	if stem == "" || !wireName().MatchString(stem[:1]) {
		stem = "_" + stem
	}
	sum := sha256.Sum256([]byte(registry))
	return stem[:min(len(stem), hashedStem)] + "_" + hex.EncodeToString(sum[:4])
}

// Names translates between the names of a registry and those on the wire.
type Names struct {
	registry map[string]string // by wire name
}

// NewNames returns the names of a registry. Where two of them have one wire
// name, the first stands.
func NewNames(registry ...string) Names {
	n := Names{registry: make(map[string]string, len(registry))}
	for _, name := range registry {
		if _, taken := n.registry[WireName(name)]; !taken {
			n.registry[WireName(name)] = name
		}
	}
	return n
}

// Wire is a registry name's wire name; ok is false where the registry has no
// such name, or another name has taken its place.
func (n Names) Wire(registry string) (wire string, ok bool) {
	wire = WireName(registry)
	return wire, n.registry[wire] == registry && registry != ""
}

// Registry is the name that a model means. A name that the model made up is
// returned as it is, with false.
func (n Names) Registry(wire string) (registry string, ok bool) {
	if registry, ok = n.registry[wire]; ok {
		return registry, true
	}
	return wire, false
}

// wireIDs gives each tool call of a request an id of its own.
type wireIDs map[string]bool

// take returns the provider's id where every provider takes it and no call
// before has it, else one made of the request's seq. Ids that look made are
// never taken over, so the two kinds cannot meet.
func (ids wireIDs) take(id string, seq int) string {
	if !wireID().MatchString(id) || generatedID().MatchString(id) || ids[id] {
		id = "jp" + strconv.FormatInt(int64(seq), 36)
	}
	ids[id] = true
	return id
}

// cleanText is text as it may be sent: UTF-8 without NUL.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
