package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// FsckName is git's word for the fault that git fsck --strict finds in a path alone, "" if there is none.
// Servers that check objects refuse a push of such a tree.
func FsckName(file string) string {
	folder, _ := path.Split(file)
	for part := range strings.SplitSeq(file, "/") {
		const longest = 4096
		switch {
		case part == "":
			return "emptyName"
		case part == ".":
			return "hasDot"
		case part == "..":
			return "hasDotdot"
		case len(part) > longest:
			return "largePathname"
		case isDotGit(part):
			return "hasDotgit"
		}
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(folder, "/"), "/") {
		switch {
		case isGitmodules(part):
			return "gitmodulesBlob"
		case gitattributes.is(part):
			return "gitattributesBlob"
		}
	}
	return ""
}

// FsckReads reports whether git fsck looks at the content of a path, or at its kind.
func FsckReads(file string, link bool) bool {
	name := path.Base(file)
	return isGitmodules(name) || !link && gitattributes.is(name)
}

// FsckContent is the fault that git fsck --strict finds in the content of a path that it reads.
func (g *Git) FsckContent(ctx context.Context, file string, link bool, content []byte) (string, error) {
	name := path.Base(file)
	if !link && gitattributes.is(name) {
		const longest = 2048
		for line := range bytes.Lines(content) {
			if len(bytes.TrimSuffix(line, []byte("\n"))) >= longest {
				return "gitattributesLineLength", nil
			}
		}
	}
	switch {
	case !isGitmodules(name):
		return "", nil
	case link:
		return "gitmodulesSymlink", nil
	}
	out, err := g.RunWith(ctx, Command{Args: []string{"config", "-z", "--file", "-", "--list"}, Stdin: bytes.NewReader(content)})
	var exit *ExitError
	if err != nil && !errors.As(err, &exit) { // git judges the settings before a syntax error
		return "", err
	}
	for pair := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(pair, "\n")
		if fault := fsckSubmodule(key, value); fault != "" {
			return fault, nil
		}
	}
	return "", nil
}

// fsckSubmodule judges one setting of .gitmodules.
func fsckSubmodule(key, value string) string {
	name, ok := strings.CutPrefix(key, "submodule.")
	last := strings.LastIndexByte(name, '.')
	if !ok || last < 0 {
		return ""
	}
	name, variable := name[:last], name[last+1:]
	option := strings.HasPrefix(value, "-")
	up := false
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		up = up || part == ".."
	}
	switch {
	case name == "" || up:
		return "gitmodulesName"
	case variable == "url" && (option || !submoduleURL(value)):
		return "gitmodulesUrl"
	case variable == "path" && option:
		return "gitmodulesPath"
	case variable == "update" && strings.HasPrefix(value, "!"):
		return "gitmodulesUpdate"
	}
	return ""
}

// submoduleURL reports whether git takes an address for one: a relative one must not climb to the host of its
// base, and one for curl must be an address.
func submoduleURL(address string) bool {
	decoded, err := url.PathUnescape(address)
	if err != nil {
		decoded = address
	}
	if strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") {
		climbs := false
		for rest := address; ; {
			if after, up := strings.CutPrefix(rest, "../"); up {
				rest, climbs = after, true
			} else if after, here := strings.CutPrefix(rest, "./"); here {
				rest = after
			} else {
				return !strings.Contains(decoded, "\n") && !(climbs && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "/")))
			}
		}
	}
	for _, scheme := range []string{"http", "https", "ftp", "ftps"} {
		rest, helper := strings.CutPrefix(address, scheme+"::")
		if !helper && !strings.HasPrefix(address, scheme+"://") {
			continue
		}
		if !helper {
			rest = address
		}
		u, err := url.Parse(rest)
		return err == nil && u.Scheme != "" && u.Host != "" && !strings.Contains(decoded, "\n")
	}
	return true
}

// A dotName is a file that git gives a meaning, without its dot, and the beginning of the short
// name that NTFS falls back to.
type dotName struct{ name, fallback string }

var (
	gitmodules    = dotName{"gitmodules", "gi7eba"}
	gitattributes = dotName{"gitattributes", "gi7d29"}
)

// is reports whether some file system takes a name for the file's.
func (d dotName) is(name string) bool { return hfsName(name) == "."+d.name || d.ntfs(name) }

func (d dotName) ntfs(name string) bool {
	name = ntfsName(name)
	if name == "."+d.name {
		return true
	}
	base, digits, short := strings.Cut(name, "~")
	if !short || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	if base == d.name[:6] {
		return len(digits) == 1 && digits >= "1" && digits <= "4"
	}
	return len(name) == 8 && digits[0] != '0' && base == d.fallback[:min(len(base), len(d.fallback))]
}

// isGitmodules also knows a name that is a path on Windows.
func isGitmodules(name string) bool {
	return gitmodules.is(name) || gitmodules.ntfs(name[strings.LastIndexByte(name, '\\')+1:])
}

func isDotGit(name string) bool {
	if hfsName(name) == ".git" {
		return true
	}
	for part := range strings.SplitSeq(name, `\`) {
		if n := ntfsName(part); n == ".git" || n == "git~1" {
			return true
		}
	}
	return false
}

// ntfsName is a name without the spaces and dots at its end, the stream behind a colon and its case.
func ntfsName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return lower(strings.TrimRight(name, " ."))
}

// hfsName is a name without the characters that HFS+ ignores, and without its case. git stops reading at
// bytes that are not UTF-8.
func hfsName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(name[i:]); size == 1 {
				break
			}
		}
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		default:
			b.WriteRune(r)
		}
	}
	return lower(b.String())
}

// lower changes ASCII letters alone, as git does.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
