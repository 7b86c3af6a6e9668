package instructions

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	wideunits "unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestHostileFiles has files that readers must not trust. Each case is a folder with its own
// AGENTS.override.md, over an AGENTS.md of the text "plain".
func TestHostileFiles(t *testing.T) {
	const plain, none = "plain\n", ""
	const other = "it is not UTF-8, and jp reads UTF-8, and UTF-16 with a byte order mark"
	const wide = "it is text in UTF-16 or UTF-32, and jp reads UTF-8, and UTF-16 with a byte order mark"
	tests := []struct {
		name string
		make func(t *testing.T, root, file string)
		text string // empty: the folder has no instructions
		why  string // empty: no file is skipped
	}{
		{"a link out of the tree", symlink("../../outside.md"), plain, "its link leads out of the working tree"},
		{"an absolute link out of the tree", symlink("/etc/hosts"), plain, "its link leads out of the working tree"},
		{"a link to a link out of the tree", func(t *testing.T, root, file string) {
			symlink("../up/outside.md")(t, root, file)
			require.NoError(t, os.Symlink("..", filepath.Join(root, "up")))
		}, plain, "its link leads out of the working tree"},
		{"a link into the git directory", symlink("../.git/config"), plain, "its link leads into a git directory"},
		{"a link into it by another spelling", symlink("../.GIT/config"), plain, "its link leads into a git directory"},
		{"a link to itself", symlink("AGENTS.override.md"), plain, "its links lead in a circle"},
		{"a link through a file", symlink("AGENTS.md/x"), plain, none},
		{"a link to nothing", symlink("nowhere"), plain, none},
		{"a link to a folder", symlink(".."), plain, none},
		{"a link in the tree", symlink("../real.md"), "real\n", none},
		{"an absolute link in the tree", func(t *testing.T, root, file string) { symlink(filepath.Join(root, "real.md"))(t, root, file) }, "real\n", none},
		{"a pipe", func(t *testing.T, _, file string) { require.NoError(t, syscall.Mkfifo(file, 0o666)) }, plain, "it is no ordinary file"},
		{"a link to a pipe", func(t *testing.T, root, file string) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o666))
			symlink("../pipe")(t, root, file)
		}, plain, "it is no ordinary file"},
		{"too large a file", func(t *testing.T, _, file string) {
			require.NoError(t, os.WriteFile(file, nil, 0o666))
			require.NoError(t, os.Truncate(file, 1<<40))
		}, plain, "it is larger than 8 MiB"},
		{"a file of 5 MB", write(strings.Repeat("x", 5_000_000)), strings.Repeat("x", 100), none},
		{"characters that the limit cuts", write("a" + strings.Repeat("é", 5000)), "a" + strings.Repeat("é", 49), none},
		{"line ends of all sorts", write("a\r\nb\rc\u2028d\n"), "a\nb\nc\nd\n", none},
		{"UTF-8 with a byte order mark", write("\uFEFFGrün\n"), "Grün\n", none},
		{"UTF-16LE", write("\xff\xfe" + utf16("Grün 𝄞\r\n", binary.LittleEndian)), "Grün 𝄞\n", none},
		{"UTF-16BE", write("\xfe\xff" + utf16("Grün 𝄞\n", binary.BigEndian)), "Grün 𝄞\n", none},
		{"UTF-16 that the limit cuts", write("\xff\xfe" + utf16(strings.Repeat("€", 500), binary.LittleEndian)), strings.Repeat("€", 33), none},
		{"half a UTF-16 character", write("\xff\xfe" + utf16("a", binary.LittleEndian) + "\x00\xd8"), plain, wide},
		{"UTF-16 without a mark", write(utf16("Rule\n", binary.LittleEndian)), plain, "it is a binary file"},
		{"UTF-32", write("\xff\xfe\x00\x00R\x00\x00\x00"), plain, wide},
		{"a NUL", write("a\x00b\n"), plain, "it is a binary file"},
		{"Latin-1", write("Gr\xfcn\n"), plain, other},
		{"Windows-1252", write("\x80 5\n"), plain, other},
		{"damaged UTF-8", write("öäü\xff\n"), plain, other},
		{"GB18030", write("\xb9\xe6\xd4\xf2\xa3\xba\xb2\xe2\xca\xd4\n"), plain, other},
		{"GB18030 of four bytes", write("Rule \x81\x30\x81\x30\n"), plain, other},
		{"GB18030, in part UTF-8", write("\xc1\xaa\xcd\xa8\n"), plain, other},
		{"Shift-JIS", write("\x8b\x4b\x91\xa5\x81\x46\n"), plain, other},
		{"Shift-JIS of one byte", write("\xb1\xb2\xb3\n"), plain, other},
		{"EUC-JP", write("\xb5\xac\xc2\xa7\n"), plain, other},
		{"ISO-2022-JP", write("\x1b$B5,B'\x1b(B\n"), plain, other},
		{"ISO-2022-KR", write("\x1b$)C\x0e\x31\x54\x0f\n"), plain, other},
		{"Big5", write("\xb3\x57\xab\x68\n"), plain, other},
		{"EUC-KR", write("\xb1\xd4\xc4\xa2\n"), plain, other},
		{"KOI8-R", write("\xf0\xd2\xc1\xd7\xc9\xcc\xcf\n"), plain, other},
		{"much UTF-8 and one byte of Latin-1", write(strings.Repeat("öäü ", 1000) + "\xfc\n"), plain, other},
		{"behind a mark of UTF-8", write("\xef\xbb\xbf\xb9\xe6\xd4\xf2\n"), plain, other},
		{"tags", write("a\U000E0001\U000E0062\U000E007Fb\n"), "ab\n", none},
		{"zero width", write("a\u200b\u200c\u200d\u2060\uFEFFb\n"), "ab\n", none},
		{"direction", write("a\u202eb\u2066c\u061cd\n"), "abcd\n", none},
		{"selectors", write("a\ufe00\U000E0100b\n"), "ab\n", none},
		{"fillers", write("a\u3164\u115fb\n"), "ab\n", none},
		{"control sequences", write("a\x1b[8mb\x1b]0;t\x07c\u009b\x7f\n"), "abc\n", none},
		{"characters that are not seen, in UTF-16", write("\xff\xfe" + utf16("a\U000E0062\u202eb\n", binary.LittleEndian)), "ab\n", none},
		{"nothing but a mark", write("\uFEFF\r\n"), none, none},
		{"nothing", write(""), none, none},
		{"white space", write(" \n\t\u00a0\n"), none, none},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.Contains(test.name, "another spelling") {
				t.Skip("the disk may take both spellings for one")
			}
			above := t.TempDir()
			root := filepath.Join(above, "tree")
			for _, dir := range []string{"pkg", ".git"} {
				require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
			}
			write("secret\n")(t, root, filepath.Join(above, "outside.md"))
			write("token\n")(t, root, filepath.Join(root, ".git", "config"))
			write("real\n")(t, root, filepath.Join(root, "real.md"))
			write(plain)(t, root, filepath.Join(root, "pkg", "AGENTS.md"))
			test.make(t, root, filepath.Join(root, "pkg", "AGENTS.override.md"))
			dir, err := os.OpenRoot(root)
			require.NoError(t, err)
			defer dir.Close()
			const most = 100
			files, skipped := Find(Dir{Root: dir}, []string{"pkg"}, nil)
			files, _ = Fit(files, most)
			text := ""
			for _, f := range files {
				text += f.Text
				require.True(t, utf8.ValidString(f.Text))
			}
			require.Equal(t, test.text, text)
			var why string
			for _, s := range skipped {
				require.Equal(t, "pkg/AGENTS.override.md", s.Path)
				why += s.Why
			}
			require.Equal(t, test.why, why)
		})
	}
}

// utf16 is a text in UTF-16.
func utf16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range wideunits.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func symlink(to string) func(*testing.T, string, string) {
	return func(t *testing.T, _, file string) { require.NoError(t, os.Symlink(to, file)) }
}

func write(text string) func(*testing.T, string, string) {
	return func(t *testing.T, _, file string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o666)) }
}

func TestFit(t *testing.T) {
	file := func(path string, size int) File {
		return File{Path: path, Text: strings.Repeat("x", size), Bytes: int64(size)}
	}
	tests := []struct {
		name  string
		sizes []int
		want  []int // bytes of those that fit
		left  int
	}{
		{"all fit", []int{40, 60}, []int{40, 60}, 0},
		{"the last is cut", []int{40, 61}, []int{40, 60}, 0},
		{"none behind a cut one", []int{101, 5}, []int{100}, 1},
		{"none behind the limit", []int{100, 5, 5}, []int{100}, 2},
		{"one over the limit", []int{99, 2}, []int{99, 1}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var files []File
			for i, size := range test.sizes {
				files = append(files, file(string(rune('a'+i)), size))
			}
			fitting, left := Fit(files, 100)
			var got []int
			for _, f := range fitting {
				got = append(got, len(f.Text))
				require.Equal(t, int64(len(f.Text)) < f.Bytes, f.Cut > 0)
			}
			require.Equal(t, test.want, got)
			require.Len(t, left, test.left)
		})
	}
}

// TestTheTextIsNeverPayload has as many files with as long names as there can be.
func TestTheTextIsNeverPayload(t *testing.T) {
	for _, name := range []string{strings.Repeat("\x01", 200), strings.Repeat("d", 250), "d"} {
		var files []File
		for i := range 2000 {
			p := strings.Repeat(name+"/", min(i, 15)) + "AGENTS.md"
			files = append(files, File{Path: p, Real: p, Text: strings.Repeat("x", 100), OID: strings.Repeat("0", 64), Bytes: 100})
		}
		fitting, left := Fit(files, 48<<10)
		b := Told{}.ForTurn(fitting)
		require.Less(t, len(b.Content), 64<<10)
		require.NotEmpty(t, left)
		require.NotEmpty(t, fitting)
	}
}

func TestChain(t *testing.T) {
	require.Equal(t, []string{"."}, Chain("."))
	require.Equal(t, []string{".", "a"}, Chain("a"))
	require.Equal(t, []string{".", "a", "a/b c", "a/b c/ü"}, Chain("a/b c/ü/"))
}

func TestBlobID(t *testing.T) {
	require.Equal(t, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", BlobID("sha1", nil))
	require.Equal(t, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", BlobID("sha256", nil))
}
