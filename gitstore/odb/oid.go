package odb

import (
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"jp/gitcmd"
)

// OID is the name of an object in lower-case hexadecimal digits: 40 of SHA-1, 64 of SHA-256. The empty OID
// names none.
type OID string

// rawName is the name of an object as packs have it. Behind a shorter one are zeros.
type rawName [gitcmd.MaxDigest]byte

// ParseOID takes a full object name of any format in lower case. A Store refuses one of another format than
// its own.
func ParseOID(s string) (OID, error) {
	if !isName(s, gitcmd.SHA1) && !isName(s, gitcmd.SHA256) {
		return "", fmt.Errorf("%w: %q", ErrOID, s)
	}
	return OID(s), nil
}

// isName is ObjectFormat.IsName with a table: lists of refs have many names.
func isName(s string, format gitcmd.ObjectFormat) bool {
	if len(s) != format.Digits() {
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
	for i := range len(o) / 2 {
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
	// OID is HashObject of Kind and Data.
	OID OID
	// Data is the object's content without git's header.
	Data []byte
}

// HashObject is the name of the object with this kind and content.
func HashObject(format gitcmd.ObjectFormat, kind string, data []byte) OID {
	var h hasher
	name := h.hash(format, kind, data)
	return OID(hex.EncodeToString(name[:format.Size()]))
}

// hasher keeps the memory of hashing, for one goroutine.
type hasher struct {
	digest hash.Hash
	format gitcmd.ObjectFormat // of the digest
	header []byte
}

func (h *hasher) hash(format gitcmd.ObjectFormat, kind string, data []byte) (name rawName) {
	if h.digest == nil || h.format != format {
		h.digest, h.format = format.New(), format
	}
	h.digest.Reset()
	h.header = appendHeader(h.header[:0], kind, len(data))
	h.digest.Write(h.header)
	h.digest.Write(data)
	h.digest.Sum(name[:0])
	return name
}

// names reports whether the object with this kind and content has the name.
func (h *hasher) names(format gitcmd.ObjectFormat, name rawName, kind string, data []byte) bool {
	return h.hash(format, kind, data) == name
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
