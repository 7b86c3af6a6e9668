package contextfiles

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/gitcmd"
)

// A Mention is a file that a text names with @PATH.
type Mention struct {
	Word     string // the path as the text has it
	Resolved string // its target
	// Doubts are reasons why the user may mean something else: the file lies outside of the working tree, git
	// ignores it, or it looks like a secret. Finding them sends no file.
	Doubts []string
}

// Mentions are the files that a text names, as @PATH or @"PATH". A word behind @ without a file is text, and
// is in missing. skip reports whether the word at a place of the text came from elsewhere than the user's
// typing.
func (s AttachmentSource) Mentions(ctx context.Context, text string, skip func(at int) bool) (found []Mention, missing []string, err error) {
	for at := range text {
		if text[at] != '@' || skip != nil && skip(at) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); at > 0 && !unicode.IsSpace(before) && before != '(' {
			continue
		}
		named := named(text[at+1:])
		word := s.file(named)
		if word == "" && strings.ContainsFunc(named[0], unicode.IsLetter) {
			missing = append(missing, named[0])
		}
		if word == "" || slices.ContainsFunc(found, func(m Mention) bool { return m.Word == word }) {
			continue
		}
		m := Mention{Word: word}
		if m.Resolved, m.Doubts, err = s.doubts(ctx, word); err != nil {
			return nil, nil, err
		}
		found = append(found, m)
	}
	return found, missing, nil
}

// named are the paths that the text behind an @ may name: the text in quotes, or the word with and without
// the punctuation behind it.
func named(text string) (paths []string) {
	if rest, quoted := strings.CutPrefix(text, `"`); quoted {
		if path, _, closed := strings.Cut(rest, `"`); closed {
			return []string{path}
		}
	}
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	paths = []string{text}
	for text != "" && strings.ContainsRune(".,;:!?)", rune(text[len(text)-1])) {
		text = text[:len(text)-1]
		paths = append(paths, text)
	}
	return paths
}

// file is the first of the paths that names a file, or "".
func (s AttachmentSource) file(paths []string) string {
	for _, path := range paths {
		if info, err := os.Stat(s.inDir(path)); path != "" && err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// doubts are the reasons to doubt that the user means a file.
func (s AttachmentSource) doubts(ctx context.Context, word string) (resolved string, doubts []string, err error) {
	named, err := filepath.Abs(s.inDir(word))
	if err != nil {
		return "", nil, err
	}
	if resolved, err = filepath.EvalSymlinks(named); err != nil {
		return "", nil, UnreadableAttachment(word, err)
	}
	inside := s.Repo.At.TopLevel != ""
	var rel string
	if inside {
		root, err := filepath.EvalSymlinks(s.Repo.At.TopLevel)
		if err != nil {
			return "", nil, err
		}
		rel, err = filepath.Rel(root, resolved)
		inside = err == nil && filepath.IsLocal(rel)
	}
	switch {
	case !inside:
		doubts = append(doubts, "outside of the working tree")
	case slices.Contains(strings.Split(rel, string(filepath.Separator)), ".git"):
		doubts = append(doubts, "git's own")
	default:
		ignored, err := s.ignored(ctx, resolved)
		if err != nil {
			return "", nil, err
		}
		if ignored {
			doubts = append(doubts, "ignored by git")
		}
	}
	if SecretName(resolved) || SecretName(named) {
		doubts = append(doubts, "named like a secret")
	}
	return resolved, doubts, nil
}

// ignored asks git whether it ignores a file.
func (s AttachmentSource) ignored(ctx context.Context, file string) (bool, error) {
	_, err := s.Repo.Git.RunWith(ctx, gitcmd.Command{
		Args: []string{"check-ignore", "-z", "--stdin"}, Stdin: strings.NewReader(file + "\x00"), Env: []string{"GIT_LITERAL_PATHSPECS=0"},
	})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// secretNames are patterns of names that files with secrets have.
var secretNames = []string{
	".env", ".env.*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg", "id_rsa*", "id_dsa*",
	"id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "credentials", "credentials.*", "*secret*",
	"*password*", "*.tfstate", "service-account*.json", "kubeconfig",
}

// secretFolders are folders in which each file is one.
var secretFolders = []string{".ssh", ".gnupg", ".aws", ".kube", ".docker", ".azure"}

// SecretName reports whether a file has a name that files with secrets have.
func SecretName(file string) bool {
	file = strings.ToLower(filepath.ToSlash(file))
	name := path.Base(file)
	if name == ".env.example" || name == ".env.sample" || name == ".env.template" || strings.HasSuffix(name, ".pub") {
		return false
	}
	if slices.ContainsFunc(secretNames, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(folder string) bool { return slices.Contains(secretFolders, folder) })
}
