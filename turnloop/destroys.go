package turnloop

import (
	"encoding/json"
	"path"
	"strings"

	"jp/conversation"
	"jp/internal/lazy"
)

// destroyers are commands that delete or overwrite files. everywhere are those that name no files.
var (
	destroyers = lazy.Regexp(`(^|[\s;&|(/])(rm|rmdir|shred|dd|truncate|mv|unlink)(\s|$)|\bgit\s.*\b(clean|checkout|restore|reset|stash)\b|\bfind\s(.|\n)*-delete|[^&>0-9]>[^&]`)
	everywhere = lazy.Regexp(`\bgit\s.*\b(clean|stash|reset)\b|\bfind\s|[*?]`)
)

// commandOf is the command line that a call runs, "" for another call.
func commandOf(call *conversation.ToolCall) string {
	var named struct {
		Argv []string `json:"argv"`
	}
	_ = json.Unmarshal(call.Arguments(), &named)
	return strings.Join(named.Argv, " ")
}

// destroys reports whether a command is known to delete or overwrite files.
func destroys(command string) bool { return destroyers().MatchString(command) }

// reaches reports whether such a command may delete a path.
func reaches(command, file string) bool {
	if everywhere().MatchString(command) {
		return true
	}
	file = strings.TrimSuffix(file, "/")
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>'\"", r) }) {
		word = path.Clean(word)
		if word == "." || word == file || strings.HasPrefix(file, word+"/") || strings.HasPrefix(word, file+"/") {
			return true
		}
	}
	return false
}

// mostNamed is how many files without a copy a question names.
const mostNamed = 5

// losses finds the files that a call would lose for good.
type losses struct {
	opts     *Options
	noBackup string       // why the newest call ran without a copy of untracked files
	warned   map[int]bool // calls whose question said so
}

// warnOfLoss is the warning in a question about a known destroyer of files without a copy, "" if all have
// one.
func (l *losses) warnOfLoss(q *conversation.Inquiry) string {
	command := commandOf(q.Call)
	if !destroys(command) {
		return ""
	}
	if l.noBackup != "" {
		l.warned[q.Call.Event.Seq] = true
		return "jp can copy no untracked file before it: " + l.noBackup
	}
	return l.lossOf(command)
}

// lossOf names the files that a known destroyer reaches and of which jp has no copy, "" if there are none.
func (l *losses) lossOf(command string) string {
	if l.opts.Files.NoCopy == nil || !destroys(command) {
		return ""
	}
	var names []string
	for _, file := range l.opts.Files.NoCopy() {
		if reaches(command, file.Path) {
			names = append(names, file.Shown)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed], "and "+conversation.Count(more, "other"))
	}
	return "no copy: " + strings.Join(names, ", ")
}

// withoutBackup reports to the user that a call has no backup. It returns whether the call must not run.
func (l *losses) withoutBackup(call *conversation.ToolCall, why string) bool {
	if l.opts.Verbose && why == "" {
		if loss := l.lossOf(commandOf(call)); loss != "" {
			l.opts.Observer.Noticed(loss)
		}
	}
	if l.noBackup = why; why == "" {
		return false
	}
	l.opts.Observer.Noticed("Untracked files will not come back by undo: jp could not copy them before " + call.Request.Name + ": " + why)
	return l.opts.Files.BackupRequired && destroys(commandOf(call)) && !l.warned[call.Event.Seq]
}

const textNoBackup = "Not run: it would delete or overwrite files, and jp could not copy the untracked ones first: "
