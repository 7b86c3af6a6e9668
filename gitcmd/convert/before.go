package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// before are the filters that a commit's attributes name for paths: by themselves, and with info/attributes
// as it was at first. It leaves out paths without a filter, and paths whose attributes are unchanged since.
func (c *Checker) before(ctx context.Context, now map[string]string, head string) (map[string][]string, error) {
	if len(now) == 0 || head == "" && len(c.info) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := slices.Sorted(maps.Keys(now))
	inHead, changed, err := c.rulesOf(ctx, paths, head)
	if err != nil || !changed {
		return nil, err
	}
	return c.evaluate(ctx, paths, head, inHead)
}

// rulesOf reads the attribute files that a commit has for paths, and reports whether the
// rules may have changed since.
func (c *Checker) rulesOf(ctx context.Context, paths []string, head string) (inHead []string, changed bool, err error) {
	names := map[string]bool{}
	for _, p := range paths {
		for _, file := range above(p) {
			names[file] = true
		}
	}
	files := slices.Sorted(maps.Keys(names))
	if head != "" {
		if err := c.find(ctx, head, files); err != nil {
			return nil, false, err
		}
	}
	inHead = slices.DeleteFunc(slices.Clone(files), func(file string) bool { return c.files[head][file] == "" })
	if len(inHead) == 0 && len(c.info) == 0 {
		return nil, false, nil
	}
	if err := c.read(ctx, head, inHead); err != nil {
		return nil, false, err
	}
	return inHead, !c.same(head, files), nil
}

// find looks which attribute files a commit has.
func (c *Checker) find(ctx context.Context, head string, files []string) error {
	known := c.files[head]
	if known == nil {
		known = map[string]string{}
		c.files[head] = known
	}
	unknown := slices.DeleteFunc(slices.Clone(files), func(file string) bool { _, ok := known[file]; return ok })
	const most = 500 // on one command line
	for part := range slices.Chunk(unknown, most) {
		out, err := c.git.Run(ctx, append([]string{"ls-tree", "-z", "--full-tree", head, "--"}, part...)...)
		if err != nil {
			return fmt.Errorf("read the attributes of HEAD: %w", err)
		}
		for _, file := range part {
			known[file] = ""
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			entry, file, _ := strings.Cut(line, "\t")
			fields := strings.Fields(entry)
			if len(fields) == 3 && strings.HasPrefix(fields[0], "100") { // git ignores links to attributes
				known[file] = fields[2]
			}
		}
	}
	return nil
}

// read reads attribute files. One that is missing here, as in a partial clone, counts as empty.
func (c *Checker) read(ctx context.Context, head string, files []string) error {
	var unknown []string
	for _, file := range files {
		if oid := c.files[head][file]; c.texts[oid] == nil && !slices.Contains(unknown, oid) {
			unknown = append(unknown, oid)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	texts, err := batch(ctx, c.git, unknown)
	if err != nil {
		return fmt.Errorf("read the attributes of HEAD: %w", err)
	}
	maps.Copy(c.texts, texts)
	return nil
}

// same reports whether the attribute files of the working tree are those of a commit, and are the only ones.
func (c *Checker) same(head string, files []string) bool {
	if c.repo.CommonDir == "" {
		return false
	}
	now, err := safefile.ReadRegular(infoFile(c.repo))
	if err == nil && len(now) > 0 || len(c.info) > 0 {
		return false
	}
	for _, file := range files {
		name := filepath.Join(c.repo.TopLevel, filepath.FromSlash(file))
		oid := c.files[head][file]
		info, err := os.Lstat(name)
		if errors.Is(err, os.ErrNotExist) && oid == "" {
			continue
		}
		if err != nil || !info.Mode().IsRegular() || oid == "" {
			return false
		}
		text, err := safefile.ReadRegular(name)
		if err != nil || !bytes.Equal(text, c.texts[oid]) {
			return false
		}
	}
	return true
}

// evaluate lets git read the attribute files of a commit in an empty place.
func (c *Checker) evaluate(ctx context.Context, paths []string, head string, files []string) (map[string][]string, error) {
	known := c.had[head]
	if known == nil {
		known = map[string][]string{}
		c.had[head] = known
	}
	unknown := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, ok := known[p]; return ok })
	if len(unknown) == 0 {
		return known, nil
	}
	at, remove, err := c.laid(ctx, head, files)
	if err != nil {
		return nil, err
	}
	defer remove()
	git := c.git.Beside(at)
	for _, p := range unknown {
		known[p] = nil
	}
	for _, info := range [][]byte{nil, c.info} {
		if info != nil {
			if err := put(infoFile(at), info); err != nil {
				return nil, fmt.Errorf("read the attributes of HEAD: %w", err)
			}
		} else if len(files) == 0 {
			continue
		}
		values, err := Attributes(ctx, git, unknown)
		if err != nil {
			return nil, err
		}
		for p, value := range values {
			if !None(value) && !slices.Contains(known[p], value) {
				known[p] = append(known[p], value)
			}
		}
		if len(c.info) == 0 {
			break
		}
	}
	return known, nil
}

// laid makes a repository of its own that has only attribute files of a commit.
func (c *Checker) laid(ctx context.Context, head string, files []string) (at gitcmd.Repository, remove func(), err error) {
	dir, err := os.MkdirTemp("", "jp-attributes-")
	if err != nil {
		return at, nil, fmt.Errorf("read the attributes of HEAD: %w", err)
	}
	remove = func() { os.RemoveAll(dir) }
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = c.lay(ctx, real, head, files)
	}
	if err != nil {
		remove()
		return at, nil, fmt.Errorf("read the attributes of HEAD: %w", err)
	}
	return gitcmd.Repository{GitDir: filepath.Join(real, "git"), CommonDir: filepath.Join(real, "git"), TopLevel: filepath.Join(real, "tree"), ObjectFormat: gitcmd.SHA1}, remove, nil
}

// lay makes a repository that has only attribute files.
func (c *Checker) lay(ctx context.Context, dir, head string, files []string) error {
	config := "[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tignoreCase = " + strconv.FormatBool(c.foldsCase(ctx)) + "\n"
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "git", "objects"), 0o700), os.MkdirAll(filepath.Join(dir, "git", "refs"), 0o700),
		os.MkdirAll(filepath.Join(dir, "tree"), 0o700),
		put(filepath.Join(dir, "git", "HEAD"), []byte("ref: refs/heads/main\n")), put(filepath.Join(dir, "git", "config"), []byte(config)),
	)
	for _, file := range files {
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			continue
		}
		err = errors.Join(err, put(filepath.Join(dir, "tree", filepath.FromSlash(file)), c.texts[c.files[head][file]]))
	}
	return err
}

func put(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}
