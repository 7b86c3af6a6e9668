package attach

import (
	"bufio"
	"bytes"
	"io"
)

// MaxFrame is the greatest length of a message with its newline, in bytes.
const MaxFrame = 1 << 20

// frames reads lines. It drops an end without a newline, since its rest may be missing.
func frames(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxFrame)
	lines.Split(func(data []byte, _ bool) (advance int, line []byte, err error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	return lines
}
