package gitstore

import (
	"crypto/hmac"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"

	"jp/gitstore/odb"
)

// handed are the events of a repository that this user's jp wrote on other machines, as a signed list of theirs
// says. Their codes are those of another key.
//
// They stand in a file of the user's state, one record after another: the commit's hash, and a code by this
// machine's key over the repository's name and the hash. A torn record at the end proves nothing, and the same list
// may be added again.
type handed struct {
	dir  string // "" for none
	mac  *signer
	size int           // bytes of a hash
	name func() string // of the repository, "" if it has none

	mu     sync.Mutex
	read   bool
	repo   string
	events map[string][handedCode]byte // by hash
}

const handedCode = 16

func (h *handed) code(repo string, hash []byte) (code [handedCode]byte) {
	sum := h.mac.sum([]byte("handed "+repo+" "), hash)
	copy(code[:], sum[:])
	return code
}

// has reports whether an event that has a code was written on another machine of the user's, and names the repository.
func (h *handed) has(oid odb.OID, c *commit) (repo string, is bool) {
	if h == nil || h.dir == "" || len(c.mac) == 0 || c.home == nil || !h.mac.can() {
		return "", false
	}
	hash, err := hex.DecodeString(string(oid))
	if err != nil {
		return "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.read {
		h.load()
	}
	code, found := h.events[string(hash)]
	want := h.code(h.repo, hash)
	return h.repo, found && hmac.Equal(code[:], want[:])
}

// load reads the file. One that cannot be read vouches for nothing.
func (h *handed) load() {
	h.read, h.events = true, map[string][handedCode]byte{}
	if h.repo = h.name(); h.repo == "" {
		return
	}
	text, err := os.ReadFile(filepath.Join(h.dir, h.repo))
	if err != nil {
		return
	}
	for record := h.size + handedCode; len(text) >= record; text = text[record:] {
		h.events[string(text[:h.size])] = [handedCode]byte(text[h.size:record])
	}
}
