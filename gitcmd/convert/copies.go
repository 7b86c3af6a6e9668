package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"jp/gitcmd"
)

// A source is a file that needs a filter that jp refuses to run. Its text must stay out of the store under
// other names, too.
type source struct {
	gap   Gap
	stat  fileStat // from the index; zero if the index lacks the file
	size  int64    // of the file in the working tree, 0 if there is none
	there string   // the file's path in the working tree
}

// A fileStat is the data of a file that a rename keeps.
type fileStat struct {
	size, sec int64
	inode     uint32
}

// copies are the paths without a gap of their own whose content is that of a file with one: moved, moved by
// git mv, or copied as it is. It asks git only if a filter of the repository is refused, and some path has
// content.
func (c *Checker) copies(ctx context.Context, now map[string]string, gaps map[string]Gap, head string) error {
	if c.repo.TopLevel == "" {
		return nil
	}
	if untrusted, err := c.git.UntrustedFilters(ctx); err != nil || len(untrusted) == 0 {
		return err
	}
	candidates := map[string]os.FileInfo{}
	for p := range now {
		if _, gap := gaps[p]; gap {
			continue
		}
		info, err := os.Lstat(filepath.Join(c.repo.TopLevel, filepath.FromSlash(p)))
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			candidates[p] = info
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	index, err := c.index(ctx)
	if err != nil {
		return err
	}
	blobs := map[string]string{} // paths of HEAD and their objects
	if head != "" {
		if blobs, err = c.tree(ctx, head); err != nil {
			return err
		}
	}
	sources, err := c.sources(ctx, index, blobs, head)
	if err != nil {
		return err
	}
	known := memoryOf(c.repo.TopLevel)
	known.read(sources)
	secret := map[string]*source{} // by object
	for p, s := range sources {
		if blobs[p] != "" {
			secret[blobs[p]] = s
		}
	}
	for p, info := range candidates {
		of := secret[index[p].oid]
		if of == nil {
			of = matching(filepath.Join(c.repo.TopLevel, filepath.FromSlash(p)), info, sources)
		}
		if of == nil {
			if gap, is := known.of(filepath.Join(c.repo.TopLevel, filepath.FromSlash(p)), info.Size()); is {
				of = &source{gap: gap}
			}
		}
		if of != nil && of.gap.Path != p {
			gaps[p] = Gap{Path: p, Filter: of.gap.Filter, Of: of.gap.Path, reason: of.gap.reason}
		}
	}
	return nil
}

// sources are the files of the index and of HEAD that need a refused filter.
func (c *Checker) sources(ctx context.Context, index map[string]indexed, blobs map[string]string, head string) (map[string]*source, error) {
	var all []string
	for p := range index {
		all = append(all, p)
	}
	for p := range blobs {
		if _, there := index[p]; !there {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return nil, nil
	}
	attributes, err := Attributes(ctx, c.git, all)
	if err != nil {
		return nil, err
	}
	gaps, err := c.Judge(ctx, attributes, head)
	if err != nil {
		return nil, err
	}
	sources := map[string]*source{}
	for p, gap := range gaps {
		s := &source{gap: gap, stat: index[p].stat, there: filepath.Join(c.repo.TopLevel, filepath.FromSlash(p))}
		if info, err := os.Lstat(s.there); err == nil && info.Mode().IsRegular() {
			s.size = info.Size()
		}
		sources[p] = s
	}
	return sources, nil
}

// matching is the source whose content a file has, nil if there is none: the file that the index knows under
// the source's name, or an equal one.
func matching(file string, info os.FileInfo, sources map[string]*source) *source {
	for _, s := range sources {
		if s.there != file && s.stat != (fileStat{}) && s.stat == statOf(info) {
			return s
		}
		if s.there != file && s.size == info.Size() && equal(file, s.there) {
			return s
		}
	}
	return nil
}

func statOf(info os.FileInfo) fileStat {
	s := fileStat{size: info.Size(), sec: info.ModTime().Unix()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = uint32(sys.Ino) // the index only keeps 32 bits
	}
	return s
}

// equal reports whether two files have the same content. An unreadable file equals no other.
func equal(a, b string) bool {
	first, err := os.Open(a)
	if err != nil {
		return false
	}
	defer first.Close()
	second, err := os.Open(b)
	if err != nil {
		return false
	}
	defer second.Close()
	one, two := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(first, one)
		m, err2 := io.ReadFull(second, two)
		switch {
		case n != m || !bytes.Equal(one[:n], two[:m]):
			return false
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return true
		case err != nil || err2 != nil:
			return false
		}
	}
}

// An indexed file is a file's entry in the index.
type indexed struct {
	oid  string
	stat fileStat
}

// index are the files of the index.
func (c *Checker) index(ctx context.Context) (map[string]indexed, error) {
	out, err := c.git.Run(ctx, "ls-files", "--stage", "--debug", "-z")
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	files := map[string]indexed{}
	for rest := string(out); rest != ""; {
		// "100644 OID 0<tab>PATH<nul>  ctime: …", and so on up to the line with the size.
		entry, behind, _ := strings.Cut(rest, "\x00")
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			break
		}
		i := indexed{oid: fields[1]}
		for strings.HasPrefix(behind, "  ") {
			var line string
			line, behind, _ = strings.Cut(behind, "\n")
			i.stat.read(line)
		}
		files[path], rest = i, behind
	}
	return files, nil
}

// read takes a line that git prints of an index entry.
func (s *fileStat) read(line string) {
	for part := range strings.SplitSeq(strings.TrimSpace(line), "\t") {
		name, value, _ := strings.Cut(part, ": ")
		value, _, _ = strings.Cut(value, ":")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "mtime":
			s.sec = n
		case "size":
			s.size = n
		case "ino":
			s.inode = uint32(n)
		}
	}
}

// tree are the files of a commit, with their objects.
func (c *Checker) tree(ctx context.Context, head string) (map[string]string, error) {
	out, err := c.git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-tree", "-r", "-z", "--full-tree", head}})
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	files := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		entry, path, ok := strings.Cut(line, "\t")
		if fields := strings.Fields(entry); ok && len(fields) == 3 && fields[1] == "blob" {
			files[path] = fields[2]
		}
	}
	return files, nil
}
