package convert

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// encodings are the attributes besides filter that change git's stored content of a file.
var encodings = []string{"working-tree-encoding", "ident", "text", "crlf", "eol"}

// Reencoded are those of the files that git would store in another way than the attributes of head require,
// by path, each with the attribute that it has lost. They would contradict a commit without the changed
// attribute files. For a large file only the encoding counts.
func (c *Checker) Reencoded(ctx context.Context, paths []string, head string) (map[string]string, error) {
	if head == "" || len(paths) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	inHead, changed, err := c.rulesOf(ctx, paths, head)
	if err != nil || !changed {
		return nil, err
	}
	at, remove, err := c.laid(ctx, head, inHead)
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := put(infoFile(at), c.info); err != nil {
		return nil, fmt.Errorf("read the attributes of HEAD: %w", err)
	}
	was, err := encodingsOf(ctx, c.git.Beside(at), paths)
	if err != nil {
		return nil, err
	}
	is, err := encodingsOf(ctx, c.git, paths)
	if err != nil {
		return nil, err
	}
	out, _ := c.git.Run(ctx, "config", "--default=false", "core.autocrlf") // it may be no boolean
	auto := !slices.Contains([]string{"", "false", "no", "off", "0"}, strings.ToLower(strings.TrimSpace(string(out))))
	lost := map[string]string{}
	for _, p := range paths {
		text, err := safefile.ReadRegular(filepath.Join(c.repo.TopLevel, filepath.FromSlash(p)))
		before, now := was[p], is[p]
		switch encoding := before["working-tree-encoding"]; {
		case err == nil && len(text) == 0:
		case !None(encoding) && encoding != now["working-tree-encoding"]:
			lost[p] = "working-tree-encoding=" + encoding
		case before["ident"] == "set" && now["ident"] != "set" && bytes.Contains(text, []byte("$Id:")):
			lost[p] = "ident"
		case trims(before, text) && !trims(now, text) && !(auto && now["text"] != "unset") && bytes.Contains(text, []byte("\r\n")):
			lost[p] = "text"
		}
	}
	return lost, nil
}

// trims reports whether git stores a text with these attributes without carriage returns.
func trims(attrs map[string]string, text []byte) bool {
	switch attrs["text"] {
	case "unset":
		return false
	case "auto":
		return bytes.IndexByte(text, 0) < 0
	case "set", "input":
		return true
	}
	return attrs["crlf"] == "set" || attrs["crlf"] == "input" || attrs["crlf"] != "unset" && !None(attrs["eol"])
}

// encodingsOf asks for these attributes of paths.
func encodingsOf(ctx context.Context, git *gitcmd.Git, paths []string) (map[string]map[string]string, error) {
	out, err := git.RunWith(ctx, gitcmd.Command{
		Args:  append([]string{"check-attr", "-z", "--stdin"}, encodings...),
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	values := map[string]map[string]string{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if values[fields[i]] == nil {
			values[fields[i]] = map[string]string{}
		}
		values[fields[i]][fields[i+1]] = fields[i+2]
	}
	return values, nil
}
