package gitcmd

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
)

// ObjectFormat is the hash by which a repository names its objects. All objects of one repository have the
// same. The empty ObjectFormat is SHA1.
type ObjectFormat string

// The object formats of git, as it writes them.
const (
	SHA1   ObjectFormat = "sha1"
	SHA256 ObjectFormat = "sha256"
)

// MaxDigest is the length of the longest object name, in bytes.
const MaxDigest = sha256.Size

// Known reports whether jp can read and write objects of this format.
func (f ObjectFormat) Known() bool { return f == SHA1 || f == SHA256 || f == "" }

// Size is the length of an object name in bytes.
func (f ObjectFormat) Size() int {
	if f == SHA256 {
		return sha256.Size
	}
	return sha1.Size
}

// Digits is the length of an object name in hexadecimal digits.
func (f ObjectFormat) Digits() int { return 2 * f.Size() }

// New returns the digest.
func (f ObjectFormat) New() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// Name returns the name of the object with this kind and content.
func (f ObjectFormat) Name(kind string, data []byte) string {
	h := f.New()
	header := append(append(make([]byte, 0, 32), kind...), ' ')
	h.Write(append(strconv.AppendInt(header, int64(len(data)), 10), 0))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// The tree without entries, which git knows without storing it.
const (
	emptyTreeSHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTreeSHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// EmptyTree returns the name of the tree without entries.
func (f ObjectFormat) EmptyTree() string {
	if f == SHA256 {
		return emptyTreeSHA256
	}
	return emptyTreeSHA1
}

// IsEmptyTree reports whether this is the tree without entries, in any format.
func IsEmptyTree(name string) bool { return name == emptyTreeSHA1 || name == emptyTreeSHA256 }

// The empty blobs, by the same formats.
const (
	emptyBlobSHA1   = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	emptyBlobSHA256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
)

// IsEmptyBlob reports whether a name is that of the empty blob, in any format.
func IsEmptyBlob(name string) bool { return name == emptyBlobSHA1 || name == emptyBlobSHA256 }

// IsName reports whether s is a full object name of this format, in lower case.
func (f ObjectFormat) IsName(s string) bool { return len(s) == f.Digits() && isHex(s) }

// IsObjectName reports whether s is a full object name of any format, in lower case.
func IsObjectName(s string) bool { return SHA1.IsName(s) || SHA256.IsName(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
