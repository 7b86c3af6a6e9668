package gitstore

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyBytes is the length of the key.
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

// writeKey makes the file whole or not at all; of two processes that do so at
// once the first one wins.
func writeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	_, err = tmp.WriteString(hex.EncodeToString(key))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// syncDir keeps the key through a power cut: without it no event would be this
// user's own any more.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// sign sets the commit's code, over all of its other bytes.
func (c *commit) sign(key []byte) {
	c.mac = nil
	c.mac = code(key, c.encode())
}

// signed reports whether an object, which c was read from, carries the code of
// key over all of its other bytes.
func (c *commit) signed(key, object []byte) bool {
	if len(key) == 0 || len(c.mac) == 0 {
		return false
	}
	line := []byte("\n" + headerMAC + " " + string(c.mac) + "\n")
	head, rest, found := bytes.Cut(object, line)
	if !found || bytes.Contains(head, []byte("\n\n")) {
		return false
	}
	return hmac.Equal(c.mac, code(key, head, []byte{'\n'}, rest))
}

func code(key []byte, object ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range object {
		mac.Write(part)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}
