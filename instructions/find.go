// Package instructions finds the files in which users and repositories tell a model how to work: AGENTS.md,
// by the rules of Codex. It finds them in a tree, and chooses the messages for a model that has earlier ones
// already. The files are texts. They give no rights, and are never expanded or run.
package instructions

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/conversation"
	"jp/internal/charset"
	"jp/internal/safetext"
)

// Names are those that a folder's file may have, the first that is there before the others. Names
// of the user's choice come behind them.
var Names = []string{"AGENTS.override.md", "AGENTS.md"}

// MostRead is how large a file may be to be read.
const MostRead = 8 << 20

// A Tree is a place of files: a folder on the disk, or a tree of git's. Paths lead from its root, with
// slashes.
type Tree interface {
	// Look describes the entry at a path, without following a link. It is fs.ErrNotExist if there is none.
	Look(path string) (Entry, error)
	// Read returns a file of at most [MostRead] bytes, with its blob id.
	Read(path string) (Content, error)
}

// An Entry is a file, folder or link at a path.
type Entry struct {
	Mode fs.FileMode // only its type
	Link string      // target of a link; from the root if it begins with a slash
}

// A Content is that of a file.
type Content struct {
	Data []byte
	OID  string
}

// A File is one file of instructions.
type File struct {
	Path  string
	Real  string // target of its links; Path without links
	User  bool   // the user's own
	Text  string // as [Clean] makes it
	OID   string // blob id of the file
	Bytes int64  // of the whole text
	Cut   int64  // bytes that Text stands for; 0: all
}

// Absent reports whether the file is missing.
func (f File) Absent() bool { return f.OID == "" }

// Blank reports whether the file is empty but for white space.
func (f File) Blank() bool { return strings.TrimSpace(f.Text) == "" }

// A Skipped file was found and is not used.
type Skipped struct{ Path, Why string }

// Why a file is skipped.
var (
	errOutside = errors.New("its link leads out of the working tree")
	errGit     = errors.New("its link leads into a git directory")
	errLoop    = errors.New("its links lead in a circle")
	errDevice  = errors.New("it is no ordinary file")
	ErrLarge   = errors.New("it is larger than 8 MiB")
)

// Chain are the folders from the root down to one, "." for the root.
func Chain(folder string) []string {
	folders := []string{"."}
	if folder = path.Clean(folder); folder == "." {
		return folders
	}
	for i, c := range folder {
		if c == '/' {
			folders = append(folders, folder[:i])
		}
	}
	return append(folders, folder)
}

// Find finds the file of each folder. fallback are names for folders without one of the usual files. The
// first name of an existing file counts. If it is [File.Blank], the folder has no instructions.
func Find(t Tree, folders, fallback []string) (files []File, skipped []Skipped) {
	names := slices.Concat(Names, fallback)
	for _, folder := range folders {
		for _, name := range names {
			p := path.Join(folder, name)
			f, err := read(t, p)
			if err == nil {
				files = append(files, f)
				break
			}
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errFolder) {
				var cause *fs.PathError
				if errors.As(err, &cause) {
					err = cause.Err
				}
				skipped = append(skipped, Skipped{p, err.Error()})
			}
		}
	}
	return files, skipped
}

// errFolder reports that a name is that of a folder, which is not a mistake.
var errFolder = errors.New("it is a folder")

func read(t Tree, p string) (File, error) {
	f := File{Path: p}
	mode, err := f.resolve(t)
	switch {
	case err != nil:
		return f, err
	case mode.IsDir():
		return f, errFolder
	case !mode.IsRegular():
		return f, errDevice
	}
	c, err := t.Read(f.Real)
	if err != nil {
		return f, err
	}
	f.Text, err = Decode(c.Data)
	f.OID, f.Bytes = c.OID, int64(len(f.Text))
	return f, err
}

// errEncoding covers all other encodings: their bytes fit several of them.
var errEncoding = errors.New("it is not UTF-8, and jp reads UTF-8, and UTF-16 with a byte order mark")

// multiByte switches to the characters of East Asia in ISO 2022, whose bytes are those of ASCII.
var multiByte = []byte("\x1b$")

// Decode is the text of a file for a model. The file tells its encoding, or has none: a guess could change
// the text.
func Decode(data []byte) (string, error) {
	text, encoding, err := charset.Decode(data)
	if err == nil && (!encoding.Unicode() || bytes.Contains(data, multiByte)) {
		err = errEncoding
	}
	if err != nil {
		return "", err
	}
	return Clean(text), nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Clean is a text as a model can be given it: people see all of it, and its lines end in a newline.
func Clean(text string) string { return safetext.ForModel(lineEnds.Replace(text)) }

// Resolve follows the links of a path inside of a tree, and returns their target and its mode.
func Resolve(t Tree, p string) (real string, mode fs.FileMode, err error) {
	f := File{Path: p}
	mode, err = f.resolve(t)
	return f.Real, mode, err
}

// mostLinks is how many links may lead to one file.
const mostLinks = 40

// resolve follows links inside of the tree, one part of the path at a time, and returns the mode at the end.
func (f *File) resolve(t Tree) (fs.FileMode, error) {
	rest, at := strings.Split(f.Path, "/"), []string{}
	links := 0
	mode := fs.ModeDir
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			if len(at) == 0 {
				return 0, errOutside
			}
			at = at[:len(at)-1]
			mode = fs.ModeDir
			continue
		case !mode.IsDir():
			return 0, fs.ErrNotExist
		case strings.EqualFold(part, ".git"):
			return 0, errGit
		}
		e, err := t.Look(strings.Join(append(at[:len(at):len(at)], part), "/"))
		if err != nil {
			return 0, err
		}
		if e.Mode&fs.ModeSymlink == 0 {
			at, mode = append(at, part), e.Mode
			continue
		}
		if links++; links > mostLinks {
			return 0, errLoop
		}
		if strings.HasPrefix(e.Link, "/") {
			at = at[:0:0]
		}
		rest, mode = append(strings.Split(e.Link, "/"), rest...), fs.ModeDir
	}
	f.Real = strings.Join(at, "/")
	return mode, nil
}

// Fit cuts the files to most bytes together, and returns how much of the last ones it left out. A file
// without room is dropped.
func Fit(files []File, most int) (fitting []File, left []Skipped) {
	frame := maxFrames
	for _, f := range files {
		if f.Blank() {
			continue
		}
		// The frame of a text names its path twice.
		frame -= 2*len(word(conversation.QuotePath(f.Path))) + 200
		switch {
		case most <= 0 || frame < 0:
			left = append(left, Skipped{f.Path, "the files before it have as many bytes as may be given"})
			continue
		case len(f.Text) > most:
			// Cut between two characters.
			end := most
			for end > 0 && end < len(f.Text) && !utf8.RuneStart(f.Text[end]) {
				end--
			}
			f.Text = f.Text[:end]
			f.Cut = int64(len(f.Text))
		}
		if most -= len(f.Text); strings.TrimSpace(f.Text) == "" {
			continue
		}
		if f.Cut > 0 {
			most = 0
		}
		fitting = append(fitting, f)
	}
	return fitting, left
}

// UserText makes a file of a text of the user's.
func UserText(name, text, oid string) File {
	text = Clean(text)
	return File{Path: name, Real: name, User: true, Text: text, OID: oid, Bytes: int64(len(text))}
}
