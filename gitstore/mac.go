package gitstore

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"sync"

	"jp/internal/safefile"
)

const keyBytes = 32

// LoadKey reads the key that marks events as this user's own, making it on
// first use. The file is for its owner only.
func LoadKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := writeKey(path); err != nil {
		return nil, fmt.Errorf("make the key %s: %w", path, err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) != 2*keyBytes {
		return nil, fmt.Errorf("the key %s has %d bytes instead of %d", path, len(text), 2*keyBytes)
	}
	key, err := hex.DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("the key %s: %w", path, err)
	}
	return key, nil
}

// writeKey creates the key file in one step, durably: without the key no event would be this user's own any
// more. Of two processes that do so at once the first one wins.
func writeKey(path string) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	err := safefile.CreateNew(path, []byte(hex.EncodeToString(key)), safefile.Options{})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// A signer makes the codes of one key. Goroutines may share it.
type signer struct {
	key  []byte
	free sync.Pool // of hash.Hash
}

// encode sets the commit's code, over all of its other bytes, and returns the object's.
func (s *signer) encode(c *commit) []byte {
	head := c.head()
	c.mac = s.code(head, []byte{'\n'}, c.message)
	return c.appendRest(head)
}

// signed reports whether an object, which c was read from, carries the code of
// the key over all of its other bytes.
func (s *signer) signed(c *commit, object []byte) bool {
	if !s.can() || len(c.mac) == 0 {
		return false
	}
	head, line, found := bytes.Cut(object, []byte("\n"+headerMAC+" "))
	if !found || bytes.Contains(head, []byte("\n\n")) {
		return false
	}
	value, rest, found := bytes.Cut(line, []byte{'\n'})
	if !found || !bytes.Equal(value, c.mac) {
		return false
	}
	sum := s.sum(head, []byte{'\n'}, rest)
	var code [2 * sha256.Size]byte
	hex.Encode(code[:], sum[:])
	return hmac.Equal(value, code[:])
}

func (s *signer) can() bool { return len(s.key) > 0 }

// code is the code of an object as its header has it.
func (s *signer) code(object ...[]byte) []byte {
	sum := s.sum(object...)
	return hex.AppendEncode(nil, sum[:])
}

func (s *signer) sum(object ...[]byte) (sum [sha256.Size]byte) {
	mac, ok := s.free.Get().(hash.Hash)
	if !ok {
		mac = hmac.New(sha256.New, s.key)
	}
	defer s.free.Put(mac)
	mac.Reset()
	for _, part := range object {
		mac.Write(part)
	}
	mac.Sum(sum[:0])
	return sum
}
