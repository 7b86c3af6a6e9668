package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"jp/tool/fs"
)

// A file keeps its encoding, and the model reads its text.
func TestEncodingIsKept(t *testing.T) {
	wide := func(text string, order int) string {
		var b strings.Builder
		for _, r := range text {
			pair := []byte{byte(r), byte(r >> 8)}
			b.Write([]byte{pair[order], pair[1-order]})
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ before, text, after, encoding string }{
		"UTF-8":        {"zweite zeile ß\n", "zweite zeile ß\n", "zweite Größe ß\n", ""},
		"UTF-8, mark":  {"\xef\xbb\xbfzweite zeile\n", "zweite zeile\n", "\xef\xbb\xbfzweite Größe\n", "UTF-8 with a byte order mark"},
		"UTF-16LE":     {"\xff\xfe" + wide("zweite zeile\r\n", 0), "zweite zeile\r\n", "\xff\xfe" + wide("zweite Größe\r\n", 0), "UTF-16LE"},
		"UTF-16BE":     {"\xfe\xff" + wide("zweite zeile\n", 1), "zweite zeile\n", "\xfe\xff" + wide("zweite Größe\n", 1), "UTF-16BE"},
		"Latin-1":      {"f\xfcr zweite zeile\n", "für zweite zeile\n", "f\xfcr zweite Gr\xf6\xdfe\n", "Latin-1"},
		"Windows-1252": {"5 \x80, zweite zeile\n", "5 €, zweite zeile\n", "5 \x80, zweite Gr\xf6\xdfe\n", "Windows-1252"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("a.txt", tt.before)
			read := f.done("fs_read_file", arguments{"path": "a.txt"})
			want := tt.text
			if tt.encoding != "" {
				want = "[The file is " + tt.encoding + ". This is its text. jp keeps the encoding when it writes the file.]\n" + want
			}
			require.Equal(t, want, string(read.Content))
			f.done("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: "zweite zeile", New: "zweite Größe"}}})
			require.Equal(t, tt.after, f.content("a.txt"))
			f.done("fs_create_file", arguments{"path": "a.txt", "content": tt.text}, "true")
			require.Equal(t, tt.before, f.content("a.txt"), "overwritten")
		})
	}
}

func TestEncodingThatCannotHoldTheText(t *testing.T) {
	for name, tt := range map[string]struct{ before, new, want string }{
		"Latin-1":      {"f\xfcr old\n", "→", `it is Latin-1, which has no '→'`},
		"Windows-1252": {"5 \x80 old\n", "漢", `it is Windows-1252, which has no '漢'`},
		"unknown":      {"\x81\x8d old\xc3\n", "ö", "its encoding is unknown, so only ASCII can be written into it"},
		"damaged":      {"öäü \xff old\n", "ö", "its encoding is unknown, so only ASCII can be written into it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("a.txt", tt.before)
			require.Contains(t, f.refused("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: "old", New: tt.new}}}), tt.want)
			require.Equal(t, tt.before, f.content("a.txt"))
			f.done("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: "old", New: "new"}}})
			require.Equal(t, strings.Replace(tt.before, "old", "new", 1), f.content("a.txt"))
		})
	}
}

const unknownEncoding = "[The file is of an unknown encoding. Each byte that is no UTF-8 shows as U+FFFD. jp keeps these bytes, and writes only ASCII into the file.]\n"

// A read of a file says that bytes of it show as U+FFFD, if the lines have such bytes.
func TestUnknownEncodingIsTold(t *testing.T) {
	for name, page := range map[string]*charmap.Charmap{
		"437": charmap.CodePage437, "850": charmap.CodePage850, "852": charmap.CodePage852, "858": charmap.CodePage858, "860": charmap.CodePage860,
		"862": charmap.CodePage862, "863": charmap.CodePage863, "865": charmap.CodePage865, "866": charmap.CodePage866, "Macintosh": charmap.Macintosh, "KOI8-R": charmap.KOI8R,
	} {
		t.Run(name, func(t *testing.T) {
			var letters []byte
			for _, r := range "größe über é Привет שלום" {
				if b, ok := page.EncodeRune(r); ok {
					letters = append(letters, b)
				}
			}
			f := newFixture(t, fs.Options{})
			f.write("a.txt", "plain\n"+string(letters)+"\n")
			require.Equal(t, unknownEncoding+"plain\n"+string(letters)+"\n", string(f.done("fs_read_file", arguments{"path": "a.txt"}).Content))
			require.Equal(t, "plain\n", string(f.done("fs_read_file", arguments{"path": "a.txt", "end_line": 1}).Content))
		})
	}
	f := newFixture(t, fs.Options{})
	f.write("a.txt", "öäü \xff\n")
	require.Equal(t, unknownEncoding+"öäü \xff\n", string(f.done("fs_read_file", arguments{"path": "a.txt"}).Content), "damaged")
}

// New lines take the end of those that they replace.
func TestLineEnds(t *testing.T) {
	const mixed = "a\r\nb\r\nc\r\nd\r\ne\nf\ng"
	for name, tt := range map[string]struct{ before, old, new, after string }{
		"within a CRLF line": {mixed, "c", "c1\nc2", "a\r\nb\r\nc1\r\nc2\r\nd\r\ne\nf\ng"},
		"within an LF line":  {mixed, "f", "f1\r\nf2", "a\r\nb\r\nc\r\nd\r\ne\nf1\nf2\ng"},
		"over both":          {mixed, "d\ne\nf", "1\n2\n3\n4", "a\r\nb\r\nc\r\n1\r\n2\n3\n4\ng"},
		"a line goes":        {mixed, "c\n", "", "a\r\nb\r\nd\r\ne\nf\ng"},
		"the last line":      {mixed, "g", "g\nh\n", "a\r\nb\r\nc\r\nd\r\ne\nf\ng\nh\n"},
		"old with CRLF":      {"a\nb\r\nc\r\n", "a\r\nb", "x\ny", "x\ny\r\nc\r\n"},
		"a lone CR":          {"a\rb\r\nc\n", "b", "b\nd", "a\rb\r\nd\r\nc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("a.txt", tt.before)
			f.done("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: tt.old, New: tt.new}}})
			require.Equal(t, tt.after, f.content("a.txt"))
		})
	}
}

func TestPathsOfFolders(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("notes.txt", "n\n")
	result := f.done("fs_move_file", arguments{"source": "notes.txt", "target": "sub/"})
	require.Equal(t, []string{"notes.txt", "sub/notes.txt"}, result.WrittenFiles)
	require.Equal(t, "n\n", f.content("sub/notes.txt"))
	f.done("fs_move_file", arguments{"source": "sub/notes.txt", "target": "sub/other/."})
	require.Equal(t, []string{"sub/other/notes.txt"}, f.names())
	for _, path := range []string{"newdir/", "newdir/.", "sub/"} {
		require.Contains(t, f.refused("fs_create_file", arguments{"path": path, "content": "x"}), "it names a folder")
	}
	require.Equal(t, []string{"sub/other/notes.txt"}, f.names())
	require.NoError(t, os.Symlink("sub/other/notes.txt", filepath.Join(f.root, "link")))
	for _, path := range []string{"sub/other/notes.txt/", "sub/other/notes.txt/.", "link/"} { // a file, named as a folder
		for tool, rest := range map[string]arguments{
			"fs_delete_file": {"path": path}, "fs_move_file": {"source": path, "target": "x"},
			"fs_modify_file": {"path": path, "edits": []edit{{Old: "n", New: "m"}}},
		} {
			require.Contains(t, f.refused(tool, rest), "a file stands where a folder is needed", tool)
		}
	}
	require.Equal(t, "n\n", f.content("sub/other/notes.txt"))
}

func TestHardLinksAreSaid(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("s.sh", "old\n")
	require.NoError(t, os.Link(filepath.Join(f.root, "s.sh"), filepath.Join(f.root, "hl")))
	result := f.done("fs_modify_file", arguments{"path": "s.sh", "edits": []edit{{Old: "old", New: "new"}}})
	require.Contains(t, string(result.Content), "[The file had 2 hard links. The others keep the old text, and this path is a file of its own now.]")
	require.Equal(t, "old\n", f.content("hl"))
	result = f.done("fs_modify_file", arguments{"path": "s.sh", "edits": []edit{{Old: "new", New: "newer"}}})
	require.NotContains(t, string(result.Content), "hard link")
}

// Lines that end with CR alone are lines, and keep their ends.
func TestLinesThatEndWithCR(t *testing.T) {
	for name, tt := range map[string]struct{ before, encoding, read, after string }{
		"UTF-8":       {"a\rb\rc\r", "UTF-8", "b\n", "a\rx\ry\rc\r"},
		"no last end": {"a\rb\rc", "UTF-8", "b\n", "a\rx\ry\rc"},
		"Latin-1":     {"\xe4\rb\rc\r", "Latin-1", "b\n", "\xe4\rx\ry\rc\r"},
		"UTF-16":      {"\xff\xfea\x00\r\x00b\x00\r\x00", "UTF-16LE", "b\n", "\xff\xfea\x00\r\x00x\x00\r\x00y\x00\r\x00"},
		"mixed":       {"a\rb\rc\n", "", "", ""},
		"one CR":      {"a\rb", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("a.txt", tt.before)
			if tt.encoding == "" {
				require.Equal(t, tt.before, string(f.done("fs_read_file", arguments{"path": "a.txt"}).Content))
				return
			}
			read := f.done("fs_read_file", arguments{"path": "a.txt", "start_line": 2, "end_line": 2})
			require.Equal(t, "[The file is "+tt.encoding+" with CR line ends. This is its text. jp keeps the encoding when it writes the file.]\n"+tt.read, string(read.Content))
			require.Equal(t, "a.txt:2:b\n", string(f.done("fs_grep_files", arguments{"pattern": "^b$"}).Content))
			require.Equal(t, "+2 -1", f.done("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: "b\n", New: "x\r\ny\n"}}}).Effect)
			require.Equal(t, tt.after, f.content("a.txt"))
		})
	}
}
