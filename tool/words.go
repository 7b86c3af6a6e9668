package tool

import "strings"

// words name the actions of jp's own tools, and one of their calls.
var words = map[string]struct{ verb, noun string }{
	"fs_read_file": {"read", "reading"}, "fs_list_files": {"list", "list"}, "fs_grep_files": {"search", "search"},
	"fs_modify_file": {"edit", "edit"}, "fs_create_file": {"create", "new file"}, "fs_delete_file": {"delete", "deletion"},
	"fs_move_file": {"move", "move"}, "shell_run": {"run", "command"}, "git_commit": {"commit", "commit"}, "web_fetch": {"fetch", "fetch"},
}

// Verb is the action of a tool, in a word for people. Of a tool that is not jp's own it is the name.
func Verb(name string) string {
	if w, own := words[name]; own {
		return w.verb
	}
	return name
}

// Noun is one call of a tool, in words for people. Of a tool that is not jp's own it is the name.
func Noun(name string) string {
	if w, own := words[name]; own {
		return w.noun
	}
	return name
}

// Line is a call in one line for people: what it does and with what, as in "edit a.go". A command stands for itself.
func Line(name, object string) string {
	object = strings.TrimSpace(object)
	if name == "shell_run" && object != "" {
		return object
	}
	return strings.TrimSpace(Verb(name) + " " + object)
}

// EffectIn is what the subject of a result says behind the tool and its object, which may be cut.
func EffectIn(subject, call string) string {
	same := 0
	for same < len(subject) && same < len(call) && subject[same] == call[same] {
		same++
	}
	_, effect, _ := strings.Cut(subject[same:], ": ")
	return effect
}

// Asked is the text of a question whether a call may run, for people: it says what the call does in place of the tool's name.
// Another text stays as it is.
func Asked(text string) string {
	name, object, _ := strings.Cut(strings.TrimPrefix(text, "Run "), " ")
	switch line := Line(name, object); {
	case !strings.HasPrefix(text, "Run ") || object == "" || Verb(name) == name:
		return text
	case name == "shell_run":
		return "Run " + line
	default:
		return strings.ToUpper(line[:1]) + line[1:]
	}
}
