package odb

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// OID is the name of an object: 40 lower-case hexadecimal digits. The empty
// OID names none.
type OID string

const (
	oidLen = 40
	rawLen = sha1.Size
)

// rawName is the name of an object as packs have it.
type rawName [rawLen]byte

// ParseOID takes a full object name in lower case and nothing else.
func ParseOID(s string) (OID, error) {
	if !isHex(s) {
		return "", fmt.Errorf("%w: %q", ErrOID, s)
	}
	return OID(s), nil
}

func isHex(s string) bool {
	if len(s) != oidLen {
		return false
	}
	for i := range len(s) {
		if !digits[s[i]] {
			return false
		}
	}
	return true
}

// digits are those that names are written in.
var digits = func() (set [256]bool) {
	for _, c := range "0123456789abcdef" {
		set[c] = true
	}
	return set
}()

// raw is the name in binary.
func (o OID) raw() (name rawName) {
	for i := range name {
		name[i] = nibble(o[2*i])<<4 | nibble(o[2*i+1])
	}
	return name
}

// nibble is the value of a lower-case hexadecimal digit.
func nibble(digit byte) byte {
	if digit >= 'a' {
		return digit - 'a' + 10
	}
	return digit - '0'
}

// file is the object's path below objects/.
func (o OID) file() string { return string(o[:2]) + "/" + string(o[2:]) }

// Object is a git object in memory.
type Object struct {
	// Kind is blob, tree, commit or tag.
	Kind string
	// OID is HashObject(Kind, Data).
	OID OID
	// Data is the object's content without git's header.
	Data []byte
}

// HashObject is the name of the object with this kind and content.
func HashObject(kind string, data []byte) OID {
	var h hasher
	name := h.hash(kind, data)
	return OID(hex.EncodeToString(name[:]))
}

// hasher keeps the memory of hashing, for one goroutine.
type hasher struct {
	sha1   hash.Hash
	header []byte
	sum    []byte
}

func (h *hasher) hash(kind string, data []byte) rawName {
	if h.sha1 == nil {
		h.sha1 = sha1.New()
	}
	h.sha1.Reset()
	h.header = appendHeader(h.header[:0], kind, len(data))
	h.sha1.Write(h.header)
	h.sha1.Write(data)
	h.sum = h.sha1.Sum(h.sum[:0])
	return rawName(h.sum)
}

// names says whether the object with this kind and content has the name.
func (h *hasher) names(name rawName, kind string, data []byte) bool {
	return h.hash(kind, data) == name
}

func objectHeader(kind string, size int) []byte {
	return appendHeader(make([]byte, 0, 32), kind, size)
}

func appendHeader(header []byte, kind string, size int) []byte {
	header = append(header, kind...)
	header = append(header, ' ')
	header = strconv.AppendInt(header, int64(size), 10)
	return append(header, 0)
}
