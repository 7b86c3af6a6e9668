package safefile

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// sealBegin begins the last line of a sealed file, which has a code of its name and of all
// before the line by the user's key. A confined program can write the file, but lacks the key.
const sealBegin = "# jp-seal "

const sealLength = len(sealBegin) + 2*sha256.Size + 1

// A SealError reports that a file is damaged, or not from this user's jp.
type SealError struct{ Path string }

// Error names it.
func (e *SealError) Error() string {
	return fmt.Sprintf("%s is damaged or was not written by your jp: jp does not use it", e.Path)
}

var errNoKey = errors.New("there is no key")

// Code is a code of a text in a file by the user's key, "" without one.
func (p StateDir) Code(folder, name string, text []byte) string {
	if p.Key == nil {
		return ""
	}
	key, err := p.Key()
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "sealed file\x00%s\x00%s\x00", folder, name)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// noKey is the reason why there is no code.
func (p StateDir) noKey() error {
	if p.Key != nil {
		if _, err := p.Key(); err != nil {
			return err
		}
	}
	return errNoKey
}

// Refuse reports a file that is left unused.
func (p StateDir) Refuse(folder, name string) error {
	err := &SealError{Path: filepath.Join(p.GitDir, StateDirName, folder, name)}
	if p.Told != nil {
		p.Told(err)
	}
	return err
}

// ReplaceSealed is [StateDir.Replace] for a file that [StateDir.ReadSealed] reads.
func (p StateDir) ReplaceSealed(folder, name string, data []byte, o Options) error {
	text := p.Seal(folder, name, data)
	if text == nil {
		return p.noKey()
	}
	return p.Replace(folder, name, text, o)
}

// Seal is a text with its seal, nil without a key.
func (p StateDir) Seal(folder, name string, data []byte) []byte {
	code := p.Code(folder, name, data)
	if code == "" {
		return nil
	}
	return slices.Concat(data, []byte(sealBegin+code+"\n"))
}

// HasSeal reports whether a text has the seal that [StateDir.Seal] gives it.
func (p StateDir) HasSeal(folder, name string, text []byte) bool {
	data := Unsealed(text)
	code := p.Code(folder, name, data)
	return code != "" && hmac.Equal([]byte(sealBegin+code+"\n"), text[len(data):])
}

// ReadSealed reads a file that [StateDir.ReplaceSealed] has written. The error is a *SealError
// for any other file.
func (p StateDir) ReadSealed(folder, name string) ([]byte, error) {
	text, err := p.Read(folder, name)
	if errors.Is(err, ErrNotRegular) || errors.Is(err, unix.ELOOP) {
		return nil, p.Refuse(folder, name)
	}
	if err != nil {
		return nil, err
	}
	if p.Code(folder, name, nil) == "" {
		return nil, p.noKey()
	}
	if !p.HasSeal(folder, name, text) {
		return nil, p.Refuse(folder, name)
	}
	return Unsealed(text), nil
}

// Unsealed is the text of a file without its seal, valid or not.
func Unsealed(text []byte) []byte {
	if n := len(text) - sealLength; n >= 0 && bytes.HasPrefix(text[n:], []byte(sealBegin)) {
		return text[:n]
	}
	return text
}
