package conversation

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// An ID names a conversation: "jp-c", the deciseconds since the epoch at which
// it was made, and four random characters, as in "jp-c17528832001-k3f9".
type ID string

const idAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// NewID makes an id from the clock and four bytes of random.
func NewID(now time.Time, random io.Reader) (ID, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a conversation id: %w", err)
	}
	for i := range b {
		b[i] = idAlphabet[int(b[i])%len(idAlphabet)]
	}
	return ID("jp-c" + strconv.FormatInt(now.UnixMilli()/100, 10) + "-" + string(b[:])), nil
}

// ParseID checks a full id. Only a checked text may become part of a ref or of a path.
func ParseID(s string) (ID, error) {
	rest, isID := strings.CutPrefix(s, "jp-c")
	digits, suffix, suffixed := strings.Cut(rest, "-")
	isID = isID && len(digits) >= 10 && len(digits) <= 12 && strings.Trim(digits, idAlphabet[:10]) == ""
	if !isID || suffixed && (len(suffix) != 4 || strings.Trim(suffix, idAlphabet) != "") {
		return "", fmt.Errorf("%w: %q", ErrBadID, s)
	}
	return ID(s), nil
}

// Created is the time that the id was made at, to a tenth of a second.
func (id ID) Created() time.Time {
	digits, _, _ := strings.Cut(strings.TrimPrefix(string(id), "jp-c"), "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n * 100).UTC()
}

// Short is the part of the id that people type: its suffix, or the last four
// digits if it has none.
func (id ID) Short() string {
	if i := strings.LastIndexByte(string(id), '-'); i > 2 {
		return string(id[i+1:])
	}
	return string(id[max(0, len(id)-4):])
}
