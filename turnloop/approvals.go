package turnloop

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jp/conversation"
	"jp/tool"
)

// approvals hold the decisions of the user and the configuration about tool calls.
type approvals struct {
	opts   *Options
	stream *conversation.Stream
	also   map[int]bool // calls, by seq, that a person allowed with the question of an earlier one
	// refused maps the seq of calls that failed to run as read-only to the reason.
	refused map[int]string
}

// reasonReads is recorded with the permission of a call that only reads.
const reasonReads = "only reads"

// onlyReads reports whether a call runs for that reason.
func onlyReads(call *conversation.ToolCall) bool {
	q := call.Permission()
	return q != nil && q.Response != nil && q.Response.By == conversation.ByConfig && q.Response.Reason == reasonReads
}

// reader reports whether a call may run for that reason.
func (a *approvals) reader(call *conversation.ToolCall) bool {
	def := lookup(a.opts.Tools.Registry, call.Request.Name)
	return def != nil && def.OnlyReads != nil && def.Run == tool.Ask && !def.Exclusive && a.refused[call.Event.Seq] == "" && def.OnlyReads(call.Arguments())
}

// binding is a person's yes to a call's question, nil if something else allowed the call. Such a yes holds
// for the state in which the person saw the files that the call names.
func (a *approvals) binding(def *tool.Definition, call *conversation.ToolCall) *conversation.Inquiry {
	q := call.Permission()
	switch {
	case q == nil || q.Response == nil || !allowed(q.Response), q.Response.By != conversation.ByUser,
		q.Response.Reason == reasonAdvance, q.Response.Reason == reasonTurn, q.Response.Choice() == conversation.AnswerRunTurn,
		call.Started != nil, // its own run may have changed them, and the question about its outcome is settled
		!def.Exclusive && a.stream.Tail().Approved.Allows(def.Name):
		return nil
	}
	return q
}

// lifted reports whether the user has since revoked the approval or rule that allowed a call, without a
// question, that has not begun.
func (a *approvals) lifted(call *conversation.ToolCall) bool {
	def, q := lookup(a.opts.Tools.Registry, call.Request.Name), call.Permission()
	now := a.opts.restriction()
	if !now.Asks && !now.Less || def == nil || call.Started != nil || q == nil || q.Response == nil {
		return false
	}
	if q.Response.By == conversation.ByUser {
		return now.Asks && q.Response.Reason == reasonAdvance
	}
	_, settled := a.decided(def, call)
	return q.Response.By == conversation.ByConfig && !settled
}

// whyStale says why a person is asked again: another process changed a file that a call
// names since the person allowed it, or may have. It is empty for any other question.
func (a *approvals) whyStale(call *conversation.ToolCall) string {
	if why := a.refused[call.Event.Seq]; why != "" && onlyReads(call) {
		return " It was tried as a command that only reads: " + why + "."
	}
	def := lookup(a.opts.Tools.Registry, call.Request.Name)
	if def == nil || def.Effect != tool.Changes {
		return ""
	}
	q := a.binding(def, call)
	if q == nil {
		return ""
	}
	about := a.opts.about(def, call)
	switch {
	case !a.overtaken(q, about):
		return ""
	case slices.ContainsFunc(about, func(file tool.NamedFile) bool { return file.State == tooMany() }):
		return fmt.Sprintf(" It names more than %d files, so that jp cannot tell whether they have changed since you allowed it.", mostListed)
	}
	return " Its files have changed since you allowed it."
}

// overtaken reports whether another process changed one of the files after a question.
func (a *approvals) overtaken(q *conversation.Inquiry, about []tool.NamedFile) bool {
	for _, e := range slices.Backward(a.stream.Events()) {
		if e.Seq <= q.Event.Seq {
			break
		}
		if touches(e, about) {
			return true
		}
	}
	return a.differ(q, about)
}

// foresee is the question that the tool of a call would ask first, by the present files.
func (a *approvals) foresee(def *tool.Definition, call *conversation.ToolCall) (f tool.Foreseen, ok bool) {
	if def.Foresee == nil {
		return f, false
	}
	arguments, err := a.opts.real(def, call.Arguments())
	if err != nil {
		return f, false
	}
	return def.Foresee(arguments)
}

// covered are the tool's own questions that a person answered with the yes to the call.
// That holds for the files that the question was about, as they were then.
func (a *approvals) covered(def *tool.Definition, call *conversation.ToolCall) []string {
	q := call.Permission()
	if q == nil || len(q.Request.Covers) == 0 || q.Response == nil || !allowed(q.Response) ||
		q.Response.By != conversation.ByUser || q.Response.Reason == reasonAdvance || q.Response.Reason == reasonTurn {
		return nil
	}
	about := a.opts.about(def, call)
	for _, file := range about { // the person may have made another call of it
		if !slices.ContainsFunc(q.Request.Files, func(f conversation.NamedFile) bool { return f.Path == conversation.QuotePath(file.Path) }) {
			return nil
		}
	}
	if a.opts.Files.Digest == nil || a.differ(q, about) {
		return nil
	}
	return q.Request.Covers
}

// about are the files that a call of a tool which changes some is about, as a person sees
// it in the arguments, with those in the folders among them.
func (o *Options) about(def *tool.Definition, call *conversation.ToolCall) (files []tool.NamedFile) {
	named := o.namedBy(def, call)
	if o.Files.ListUntracked == nil {
		return named
	}
	seen := map[string]bool{}
	for _, file := range named {
		entries := []tool.NamedFile{file}
		if file.State == "" {
			listed, ok := o.Files.ListUntracked(file.Path, mostListed-len(files))
			switch {
			case !ok:
				entries[0].State = tooMany()
			case listed != nil:
				entries = listed
			}
		}
		for _, entry := range entries {
			if !seen[entry.Path] {
				seen[entry.Path] = true
				files = append(files, entry)
			}
		}
	}
	return files
}

// mostListed is how many files in folders a permission can be compared with.
const mostListed = 10_000

// tooMany is the state of a folder with more files: a permission that is about it holds
// in the process that asked for it.
var tooMany = newTooMany()

func newTooMany() func() string {
	return sync.OnceValue(func() string { return "too many files " + rand.Text() })
}

// namedBy are the files and folders that a call names.
func (o *Options) namedBy(def *tool.Definition, call *conversation.ToolCall) (files []tool.NamedFile) {
	if def.Effect != tool.Changes || def.Resumes {
		return nil
	}
	if def.About != nil {
		arguments, err := o.real(def, call.Arguments())
		if err != nil {
			arguments = call.Arguments()
		}
		return def.About(arguments, o.Conversation.ID)
	}
	paths, _ := o.named(call)
	if def.Paths == nil && o.Tools.Mentioned != nil {
		paths = o.Tools.Mentioned(call.Arguments())
	}
	for _, path := range paths {
		files = append(files, tool.NamedFile{Path: path})
	}
	return files
}

// state identifies the present content of a file. It is false for a folder.
func (o *Options) state(file tool.NamedFile) (state string, ok bool) {
	if file.State != "" {
		return file.State, true
	}
	return o.Files.Digest(file.Path)
}

// digests are the present digests of the files that a call is about. If they do not fit into an event, one
// digest stands for all.
func (o *Options) digests(about []tool.NamedFile) (files []conversation.NamedFile) {
	if o.Files.Digest == nil {
		return nil
	}
	for _, file := range about {
		if digest, ok := o.state(file); ok {
			files = append(files, conversation.NamedFile{Path: conversation.QuotePath(file.Path), Digest: digest})
		}
	}
	if fitting(files, func(f conversation.NamedFile) string { return f.Path }) == len(files) {
		return files
	}
	code := sha256.New()
	for _, file := range files {
		fmt.Fprintf(code, "%s\x00%s\x00", file.Path, file.Digest)
	}
	return []conversation.NamedFile{{Path: allFiles, Digest: hex.EncodeToString(code.Sum(nil))}}
}

// allFiles stands for all files that a call is about.
const allFiles = "."

// differ reports whether a file that a call is about has changed since its question, or was missing from it.
// Later changes by tools of this conversation do not count.
func (a *approvals) differ(q *conversation.Inquiry, about []tool.NamedFile) bool {
	if a.opts.Files.Digest == nil {
		return false
	}
	own := map[string]bool{}
	for _, e := range slices.Backward(a.stream.Events()) {
		if e.Seq <= q.Event.Seq {
			break
		}
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			for _, c := range b.Changed {
				own[c.Path] = true
			}
			for _, left := range b.LeftOut {
				own[left.Path] = true
			}
		}
	}
	edited := len(q.Response.Arguments) > 0 // other files than those of the question
	if files := q.Request.Files; len(files) == 1 && files[0].Path == allFiles {
		return !edited && !slices.Equal(files, a.opts.digests(about))
	}
	now := map[string]tool.NamedFile{}
	for _, file := range about {
		now[file.Path] = file
	}
	known := map[string]bool{}
	for _, file := range q.Request.Files {
		path, err := conversation.UnquotePath(file.Path)
		if err != nil {
			continue
		}
		path = realPath(a.opts.Secrets.Restore, path)
		known[path] = true
		is := now[path]
		is.Path = path
		if state, ok := a.opts.state(is); !own[file.Path] && (!ok || state != file.Digest) {
			return true
		}
	}
	for _, file := range about {
		if edited || known[file.Path] || own[conversation.QuotePath(file.Path)] {
			continue
		}
		if _, ok := a.opts.state(file); ok {
			return true
		}
	}
	return false
}

// realPath puts the secrets back into a path of an event.
func realPath(restore func(json.RawMessage) (json.RawMessage, error), path string) string {
	if restore == nil {
		return path
	}
	quoted, err := json.Marshal(path)
	if err != nil {
		return path
	}
	var real string
	if restored, err := restore(quoted); err == nil && json.Unmarshal(restored, &real) == nil {
		return real
	}
	return path
}

// touches reports whether an event says that another process changed one of the files. An incomplete list
// touches every file. An added file does not count: it may have been there untracked, and jp then records it
// before a call that names it runs.
func touches(e *conversation.Event, about []tool.NamedFile) bool {
	var paths []conversation.PathStat
	more := 0
	switch b := e.Body.(type) {
	case *conversation.Workspace:
		paths, more = b.Paths, b.More
	case *conversation.Resumed:
		if b.Report != nil {
			paths, more = b.Report.Changed, b.Report.More
		}
	}
	if more > 0 && len(about) > 0 {
		return true
	}
	for _, p := range paths {
		if p.Status == "A" {
			continue
		}
		changed, err := conversation.UnquotePath(p.Path)
		if err != nil {
			continue
		}
		for _, file := range about {
			if nested(changed, file.Path) {
				return true
			}
		}
	}
	return false
}

// nested reports whether two paths are equal, or one is in the folder of the other.
func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// behind reports whether a call changes a file that one of the calls before it may change, too. Of a program those are
// the files that its command names.
func (o *Options) behind(call *conversation.ToolCall, before []*conversation.ToolCall) bool {
	_, paths := o.named(call)
	for _, earlier := range before {
		def := lookup(o.Tools.Registry, earlier.Request.Name)
		if len(paths) == 0 || def == nil || onlyReads(earlier) {
			continue
		}
		for _, file := range o.namedBy(def, earlier) {
			if slices.ContainsFunc(paths, func(path string) bool { return nested(path, file.Path) }) {
				return true
			}
		}
	}
	return false
}

// alongside are the calls behind one whose question is put that would be asked about, too. Their words say all
// that they do: each starts a command and has no other argument.
func (a *approvals) alongside(v View, q *conversation.Inquiry) (also []*conversation.ToolCall) {
	if q.Request.Kind != conversation.KindRunTool {
		return nil
	}
	for _, call := range v.Ledger.Open() {
		def := v.Tools(call.Request.Name)
		var arguments map[string]json.RawMessage
		if call.Event.Seq <= q.Call.Event.Seq || def == nil || !def.Argv || def.Run != tool.Ask || def.Exclusive || byHook(call) ||
			json.Unmarshal(call.Arguments(), &arguments) != nil || len(arguments) != 1 || arguments["argv"] == nil || v.refusal(call) != "" {
			continue
		}
		_, needed := v.permission(call, false)
		if _, settled := a.decided(def, call); needed && !settled && call.Permission() == nil {
			also = append(also, call)
		}
	}
	return also
}

// ReasonAlso is recorded with an answer that a person gave with that to an earlier call.
const ReasonAlso = "together with an earlier call"

// decided is the answer that an earlier yes or the configuration gives.
func (a *approvals) decided(def *tool.Definition, call *conversation.ToolCall) (conversation.InquiryResponse, bool) {
	if a.also[call.Event.Seq] {
		return conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: word(conversation.AnswerRun), By: conversation.ByUser, Reason: ReasonAlso}, true
	}
	if def.Rule != nil && def.Run == tool.Ask {
		if rule := def.Rule(call.Arguments(), a.stream.Events()); rule != "" {
			return conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: word(conversation.AnswerRun), By: conversation.ByConfig, Reason: "allow rule: " + rule}, true
		}
	}
	var rules Grant
	if a.opts.User.Grant != nil {
		rules = a.opts.User.Grant()
	}
	verdict, settled := rules.Settle(def, call.Arguments(), a.stream.Tail())
	if !settled && a.reader(call) {
		verdict, settled = Verdict{Choice: conversation.AnswerRun, By: conversation.ByConfig, Reason: reasonReads}, true
	}
	return conversation.InquiryResponse{
		Outcome: conversation.OutcomeAnswered, Answer: word(verdict.Choice), By: verdict.By, Reason: verdict.Reason,
	}, settled
}

// settledSince is the answer to a permission that waits, if the user approved the
// turn since it was asked for, or the configuration has changed.
func (a *approvals) settledSince(q *conversation.Inquiry) (conversation.InquiryResponse, bool) {
	def := lookup(a.opts.Tools.Registry, q.Call.Request.Name)
	if def == nil || q.Request.Exclusive {
		return conversation.InquiryResponse{}, false
	}
	if !a.opts.restriction().Asks && !def.Exclusive && def.Run != tool.Skip && a.stream.Tail().Approved.Allows(def.Name) {
		return conversation.InquiryResponse{
			Outcome: conversation.OutcomeAnswered, Answer: word(conversation.AnswerRun), By: conversation.ByUser, Reason: reasonAdvance,
		}, true
	}
	return a.decided(def, q.Call)
}
