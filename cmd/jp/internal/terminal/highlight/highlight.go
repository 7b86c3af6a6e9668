// Package highlight finds keywords, strings, comments and the like in code, in the languages
// that answers of models have most. It makes a lexer when code of its language is shown first,
// so that other runs of jp do not pay for it.
package highlight

import (
	"embed"
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// The lexers are chroma's, copied from its release 2.27.0: its package of all lexers takes
// several milliseconds at each start.
//
//go:embed lexers/*.xml
var files embed.FS

// A Kind is the kind of a part of code, and decides its look.
type Kind int

// The kinds of parts.
const (
	Plain Kind = iota
	Keyword
	String
	Number
	Comment
	Name // of a function, a type, or a key
	Added
	Removed
	Heading
)

// A Part is code of one kind, without a newline.
type Part struct {
	Text string
	Kind Kind
}

// languages are the files of lexers by the other names of their languages.
var languages = map[string]string{
	"sh": "bash", "zsh": "bash", "ksh": "bash", "shell": "bash", "console": "bash", "shell-session": "bash", "c++": "cpp", "cc": "cpp", "hpp": "cpp", "h": "c", "c#": "csharp", "cs": "csharp",
	"scss": "css", "patch": "diff", "udiff": "diff", "dockerfile": "docker", "containerfile": "docker", "ex": "elixir", "exs": "elixir", "golang": "go",
	"hs": "haskell", "cfg": "ini", "conf": "ini", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "jsonl": "json", "json5": "json", "jsonc": "json",
	"kt": "kotlin", "make": "makefile", "mk": "makefile", "py": "python", "python3": "python", "py3": "python", "proto": "protocol_buffer", "protobuf": "protocol_buffer",
	"rb": "ruby", "rs": "rust", "tf": "terraform", "hcl": "terraform", "ts": "typescript", "tsx": "typescript", "html": "xml", "svg": "xml", "yml": "yaml",
}

// A Language finds the parts of code of one language.
type Language struct{ lexer chroma.Lexer }

var (
	mu     sync.Mutex
	loaded = map[string]*Language{}
)

// Of returns the language that the mark of a code block names, and nil for an unknown one.
// It also takes names with more behind them, as in "go:main.go" or "{.python #id}".
func Of(name string) *Language {
	name = strings.ToLower(strings.TrimLeft(name, "{."))
	if end := strings.IndexAny(name, " \t:,;{}()[=/"); end >= 0 {
		name = name[:end]
	}
	if file, ok := languages[name]; ok {
		name = file
	}
	mu.Lock()
	defer mu.Unlock()
	return load(name)
}

// OfFile returns the language of a file by its name, and nil for an unknown one.
func OfFile(name string) *Language {
	base := path.Base(name)
	if ext := path.Ext(base); ext != "" {
		return Of(ext)
	}
	return Of(base)
}

// diffs are the beginnings of diffs.
var diffs = []string{"diff --git ", "--- a/", "--- /dev/null", "@@ -"}

// Guess returns the language of code without a name, by its first line. It knows diffs only.
func Guess(first string) *Language {
	for _, begin := range diffs {
		if strings.HasPrefix(first, begin) {
			return Of("diff")
		}
	}
	return nil
}

// load reads a lexer once. The caller holds the lock.
func load(name string) *Language {
	if l, ok := loaded[name]; ok {
		return l
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return nil
	}
	lexer, err := chroma.NewXMLLexer(files, "lexers/"+name+".xml")
	if err != nil {
		return nil
	}
	registry := chroma.NewLexerRegistry()
	registry.Register(lexer)
	for _, other := range map[string][]string{"docker": {"bash", "json"}, "makefile": {"bash"}}[name] {
		if l := load(other); l != nil {
			registry.Register(l.lexer)
		}
	}
	loaded[name] = &Language{lexer}
	return loaded[name]
}

func kindOf(t chroma.TokenType) Kind {
	switch {
	case t == chroma.GenericInserted:
		return Added
	case t == chroma.GenericDeleted:
		return Removed
	case t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return Heading
	case t.InCategory(chroma.Comment):
		return Comment
	case t == chroma.KeywordType:
		return Name
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber):
		return Number
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameTag, t == chroma.NameBuiltin, t == chroma.NameAttribute, t == chroma.NameDecorator:
		return Name
	}
	return Plain
}
