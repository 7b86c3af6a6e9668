package odb

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
)

// OID is the name of an object: 40 lower-case hexadecimal digits. The empty
// OID names none.
type OID string

const oidLen = 40

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
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
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
	h := sha1.New()
	h.Write(objectHeader(kind, len(data)))
	h.Write(data)
	var sum [sha1.Size]byte
	return OID(hex.EncodeToString(h.Sum(sum[:0])))
}

func objectHeader(kind string, size int) []byte {
	header := make([]byte, 0, 32)
	header = append(header, kind...)
	header = append(header, ' ')
	header = strconv.AppendInt(header, int64(size), 10)
	return append(header, 0)
}
