package worktree

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// unseen are characters that HFS+ leaves out when it compares names; git's own
// list.
const unseen = "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"

// disguise spells a name as some file system might take it: with noise between
// its letters, which may be capitals, and behind it.
func disguise(name string, noise []byte) string {
	var b strings.Builder
	hidden := []rune(unseen)
	for i, r := range name {
		var n byte
		if len(noise) > 0 {
			n = noise[i%len(noise)]
		}
		if n&1 != 0 {
			r = unicode.ToUpper(r)
		}
		if n&2 != 0 {
			b.WriteRune(hidden[int(n>>2)%len(hidden)])
		}
		b.WriteRune(r)
	}
	for _, n := range noise {
		b.WriteByte(" ."[n&1])
	}
	return b.String()
}

func FuzzReserved(f *testing.F) {
	f.Add([]byte(nil), "", ".github")
	f.Add([]byte{1, 2, 3, 6}, "$INDEX_ALLOCATION", ".gitignore")
	f.Add([]byte{255, 0}, "x:y", "git~0")
	f.Fuzz(func(t *testing.T, noise []byte, stream, other string) {
		for _, name := range []string{".git", ".jp", "git~1", "jp~1"} {
			require.True(t, reserved(disguise(name, noise)), "%q", disguise(name, noise))
			require.True(t, reserved(disguise(name, noise)+":"+stream))
		}
		for _, r := range other {
			if r >= unicode.MaxASCII || r == ':' {
				return
			}
		}
		plain := strings.ToLower(strings.TrimRight(other, " ."))
		own := plain == ".git" || plain == ".jp" || len(plain) > 3 && (plain[:4] == "git~" || plain[:3] == "jp~")
		require.True(t, own || !reserved(other), "%q is nobody's", other)
	})
}
