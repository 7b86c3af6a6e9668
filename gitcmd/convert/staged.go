package convert

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Staged has the entries of an index that must not get into a tree as they are.
type Staged struct {
	// Gaps need a filter that jp refuses to run, so that only the user's git could have made the entry. jp
	// takes one that HEAD has.
	Gaps map[string]Gap
	// Unsure have a filter that runs, by path. The entry may differ from the filter's output for the file.
	Unsure map[string]string
}

// Staged judges entries, which are the objects of regular files by path. Anybody can put an unconverted file
// into the index, and commit it. Staged accepts an entry of HEAD, unless it is byte for byte the file in the
// working tree.
func (c *Checker) Staged(ctx context.Context, entries map[string]string, head string) (staged Staged, err error) {
	staged = Staged{map[string]Gap{}, map[string]string{}}
	if len(entries) == 0 {
		return staged, nil
	}
	now, err := Attributes(ctx, c.git, slices.Sorted(maps.Keys(entries)))
	if err != nil {
		return staged, err
	}
	if staged.Gaps, err = c.Judge(ctx, now, head); err != nil {
		return staged, err
	}
	for p, value := range now {
		if _, gap := staged.Gaps[p]; !gap && !None(value) {
			staged.Unsure[p] = value
		}
	}
	if err := c.removeUnchanged(ctx, &staged, entries, head); err != nil {
		return staged, err
	}
	return staged, c.stagedCopies(ctx, &staged, entries, head)
}

// removeUnchanged takes out the entries that HEAD has, and pointers of git-lfs.
func (c *Checker) removeUnchanged(ctx context.Context, staged *Staged, entries map[string]string, head string) error {
	asked := slices.Concat(slices.Collect(maps.Keys(staged.Gaps)), slices.Collect(maps.Keys(staged.Unsure)))
	if len(asked) == 0 {
		return nil
	}
	inHead := map[string]string{}
	if head != "" {
		var err error
		if inHead, err = c.tree(ctx, head); err != nil {
			return err
		}
	}
	var oids []string
	for _, p := range asked {
		oids = append(oids, entries[p])
	}
	small, err := Small(ctx, c.git, oids)
	if err != nil {
		return err
	}
	for _, p := range asked {
		_, runs := staged.Unsure[p]
		pointer := IsPointer(small[entries[p]])
		if inHead[p] == entries[p] && (pointer || c.raw(p, entries[p]) != entries[p]) || runs && pointer {
			delete(staged.Gaps, p)
			delete(staged.Unsure, p)
		}
	}
	return nil
}

// raw is the object of a file as it is, in the format of another id. It is "" if there is no regular file.
func (c *Checker) raw(p, like string) string {
	f, err := os.OpenFile(filepath.Join(c.repo.TopLevel, filepath.FromSlash(p)), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	var code hash.Hash = sha1.New()
	if len(like) == hex.EncodedLen(sha256.Size) {
		code = sha256.New()
	}
	fmt.Fprintf(code, "blob %d\x00", info.Size())
	if _, err := io.Copy(code, f); err != nil {
		return ""
	}
	return hex.EncodeToString(code.Sum(nil))
}

// stagedCopies finds the entries that have the content of a file whose filter is refused.
func (c *Checker) stagedCopies(ctx context.Context, staged *Staged, entries map[string]string, head string) error {
	untrusted, err := c.git.UntrustedFilters(ctx)
	if err != nil || len(untrusted) == 0 {
		return err
	}
	index, err := c.index(ctx)
	if err != nil {
		return err
	}
	blobs := map[string]string{}
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
	secret := map[string]Gap{} // by object: the stored and the plain content
	for p, s := range sources {
		if blobs[p] != "" {
			secret[blobs[p]] = s.gap
		}
		if raw := c.raw(p, index[p].oid); raw != "" {
			secret[raw] = s.gap
		}
	}
	var rest []string
	for p, oid := range entries {
		if _, gap := staged.Gaps[p]; gap {
			continue
		}
		if of, is := secret[oid]; is && of.Path != p {
			staged.Gaps[p] = Gap{Path: p, Filter: of.Filter, Of: of.Path, reason: of.reason}
			continue
		}
		rest = append(rest, p)
	}
	return c.remembered(ctx, staged, entries, rest, known)
}

// remembered finds those that have a content which such a file had before.
func (c *Checker) remembered(ctx context.Context, staged *Staged, entries map[string]string, paths []string, known *memory) error {
	var oids []string
	for _, p := range paths {
		oids = append(oids, entries[p])
	}
	sizes, err := Sizes(ctx, c.git, oids)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !known.hasSize(sizes[entries[p]]) {
			continue
		}
		texts, err := batch(ctx, c.git, []string{entries[p]})
		if err != nil {
			return err
		}
		if gap, is := known.text(texts[entries[p]]); is && gap.Path != p {
			staged.Gaps[p] = Gap{Path: p, Filter: gap.Filter, Of: gap.Path, reason: gap.reason}
		}
	}
	return nil
}

func (m *memory) hasSize(size int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return size > 0 && m.sizes[size]
}

// text is the file that has or had a content.
func (m *memory) text(text []byte) (Gap, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := hmac.New(sha256.New, m.key)
	h.Write(text)
	k, known := m.kept[hex.EncodeToString(h.Sum(nil))]
	return m.gap(k), known
}
