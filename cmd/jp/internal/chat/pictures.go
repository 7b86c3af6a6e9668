package chat

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jp/agent/contextfiles"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/internal/lazy"
)

// Pictures are those that the person has put into the line, each with a chip that stands for it in the text.
type pictures struct {
	mu   sync.Mutex
	last int
	by   map[string]contextfiles.Attachment // by chip
	data map[string][]byte                  // of their files
}

var chipText = lazy.Regexp(`\[picture \d+\]`)

// add takes a picture, and returns its chip.
func (p *pictures) add(data []byte) (chip string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.put(p.last+1, data)
}

// put takes the picture of a number. The lock is held.
func (p *pictures) put(n int, data []byte) (chip string, err error) {
	name := fmt.Sprintf("picture %d", n)
	picture, err := contextfiles.NewPicture(name, data)
	if err != nil {
		return "", err
	}
	if p.by == nil {
		p.by, p.data = map[string]contextfiles.Attachment{}, map[string][]byte{}
	}
	p.last = max(p.last, n)
	chip = "[" + name + "]"
	p.by[chip], p.data[chip] = picture, data
	return chip, nil
}

// kept are the pictures whose chips a text has, as a draft keeps them, with the chips. Without any it is empty.
func (p *pictures) kept(text string) (chips string, kept []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[string][]byte{}
	for _, chip := range chipText().FindAllString(text, -1) {
		if data := p.data[chip]; data != nil {
			found[chip] = data
		}
	}
	if len(found) > 0 {
		chips = strings.Join(slices.Sorted(maps.Keys(found)), "")
		kept, _ = json.Marshal(found) // texts can always be written
	}
	return chips, kept
}

// restore takes the pictures that a draft kept. A damaged picture stays a text.
func (p *pictures) restore(kept []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found map[string][]byte
	_ = json.Unmarshal(kept, &found) // a damaged file has none
	for chip, data := range found {
		if n, err := strconv.Atoi(strings.Trim(chip, "[]picture ")); err == nil && n > 0 && n < math.MaxInt32 {
			_, _ = p.put(n, data)
		}
	}
}

// in are the pictures whose chips a text has.
func (p *pictures) in(text string) (found []contextfiles.Attachment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, chip := range chipText().FindAllString(text, -1) {
		if picture, has := p.by[chip]; has {
			found = append(found, picture)
		}
	}
	return found
}

// paste takes the picture of the clipboard, and returns its chip.
func (p *pictures) paste(ctx context.Context, e *ui.Env) (chip string, err error) {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := clipboard(ctx, e.Host, r.At.TopLevel)
	if err != nil {
		return "", err
	}
	return p.add(data)
}

// dropped is the path of a picture that a terminal pastes when a file is dropped on it: quoted, escaped or as a URL.
func dropped(text, home string) (path string, is bool) {
	path = strings.TrimSpace(text)
	if strings.ContainsAny(path, "\n\r") || len(path) > 4096 {
		return "", false
	}
	switch quoted := len(path) > 1 && strings.ContainsAny(path[:1], `'"`) && path[len(path)-1] == path[0]; {
	case quoted:
		path = path[1 : len(path)-1]
	case strings.HasPrefix(path, "file://"):
		u, err := url.Parse(path)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		path = u.Path
	default:
		path = regexp.MustCompile(`\\(.)`).ReplaceAllString(path, "$1")
	}
	if rest, below := strings.CutPrefix(path, "~/"); below && home != "" {
		path = filepath.Join(home, rest)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return path, filepath.IsAbs(path)
	}
	return "", false
}

// Programs that print the picture of the clipboard, if they are there and it has one.
var clipboardPrograms = [][]string{
	{"wl-paste", "--type", "image/png"},
	{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"},
	{"pngpaste", "-"},
	{"osascript", "-e", "the clipboard as «class PNGf»"},
}

const clipboardTime = 3 * time.Second

var (
	errNoClipboard = errors.New("jp found no program that reads pictures from the clipboard: wl-paste, xclip, pngpaste or osascript")
	errNoPicture   = errors.New("the clipboard has no picture")
)

func clipboard(ctx context.Context, h *repo.Host, top string) ([]byte, error) {
	found := false
	for _, argv := range clipboardPrograms {
		program := programOutside(h.Get("PATH"), argv[0], top)
		if program == "" {
			continue
		}
		found = true
		if data := printed(ctx, h, program, argv[1:]); len(data) > 0 {
			return data, nil
		}
	}
	if !found {
		return nil, errNoClipboard
	}
	return nil, errNoPicture
}

func printed(ctx context.Context, h *repo.Host, program string, args []string) []byte {
	ctx, cancel := context.WithTimeout(ctx, clipboardTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", h.Environ, time.Second
	data, err := cmd.Output()
	if err != nil {
		return nil
	}
	if text, is := strings.CutPrefix(strings.TrimSpace(string(data)), "«data PNGf"); is { // as osascript prints it
		data, _ = hex.DecodeString(strings.TrimSuffix(text, "»"))
	}
	return data
}

// programOutside finds a program on a search path, outside of a folder: no file of a working tree is one; "" if there is none.
func programOutside(search, name, top string) string {
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(top, path); top != "" && (err != nil || filepath.IsLocal(rel)) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
