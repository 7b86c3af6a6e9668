package contextfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/compaction"
	"jp/conversation"
	"jp/instructions"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/skills"
	"jp/tool"
)

// taken are the names of the commands in a conversation on a terminal.
var taken = []string{
	"new", "use", "ls", "fork", "undo", "diff", "restore", "compact", "model", "profile", "usage", "tools", "attach", "export", "help", "skills",
	"mode", "continue", "discard", "quit", "exit", "status", "retry", "print", "log", "show", "answer", "edit",
}

// Skills are all available skills.
type Skills struct {
	All   []skills.Skill
	repo  *repo.Repo
	roots []*os.Root
}

// OpenSkills finds the skills.
func OpenSkills(r *repo.Repo, e *repo.Host) *Skills {
	s := &Skills{repo: r}
	var places []skills.Place
	add := func(root, path, shown string, user bool) {
		dir, err := os.OpenRoot(root)
		if err != nil {
			return
		}
		s.roots = append(s.roots, dir)
		places = append(places, skills.Place{Dir: instructions.Dir{Root: dir, Format: string(r.At.ObjectFormat)}, Path: path, Shown: shown, User: user})
	}
	home := e.Get("HOME")
	own := filepath.Dir(r.Paths.UserFile)
	shown := filepath.Join(own, "skills")
	if below, ok := strings.CutPrefix(shown, home+"/"); ok {
		shown = "~/" + below
	}
	add(own, "skills", shown, true)
	if home != "" {
		add(home, ".agents/skills", "~/.agents/skills", true)
	}
	if r.At.TopLevel != "" && r.At.TopLevel != home {
		add(r.At.TopLevel, ".agents/skills", ".agents/skills", false)
		add(r.At.TopLevel, ".claude/skills", ".claude/skills", false)
	}
	s.All = skills.Find(places, taken)
	return s
}

// Close frees the folders.
func (s *Skills) Close() {
	if s == nil {
		return
	}
	for _, root := range s.roots {
		root.Close()
	}
}

// Any reports whether there is a skill that can be used.
func (s *Skills) Any() bool {
	return slices.ContainsFunc(s.All, func(k skills.Skill) bool { return k.Unusable == "" })
}

// Named is the skill of a name, or nil.
func (s *Skills) Named(name string) *skills.Skill {
	for i, k := range s.All {
		if k.Name == name {
			return &s.All[i]
		}
	}
	return nil
}

// Catalogue is the list of skills for a model: one line for each. A skill of the repository that differs from
// the committed one is left out until the user approves it, and named among the notices.
func (s *Skills) Catalogue(committed func(instructions.File) bool) (files []instructions.File, notices []string) {
	var own, others strings.Builder
	for _, k := range s.All {
		switch {
		case k.Unusable != "":
		case k.User:
			own.WriteString(k.Entry())
		case committed(instructions.File{Path: k.At, Real: k.Real, OID: k.OID}) || s.Approved(k):
			others.WriteString(k.Entry())
		default:
			notices = append(notices, fmt.Sprintf("Skills: the model does not hear of %s: it is not as committed. %v approves it as it is.", k.Name, action.ApproveSkill(k.Name)))
		}
	}
	for _, list := range []struct {
		name, words, text string
		user              bool
	}{
		{"skills", "Skills of the user: before a task that one of them is about, read it with the tool skill.\n", own.String(), true},
		{"project skills", "Skills of this repository: before a task that one of them is about, read it with the tool skill.\n", others.String(), false},
	} {
		if list.text != "" {
			text := list.words + list.text
			f := instructions.UserText(list.name, text, instructions.BlobID(string(s.repo.At.ObjectFormat), []byte(text)))
			f.User = list.user
			files = append(files, f)
		}
	}
	return files, notices
}

// Given is a skill as a file of instructions, which the user asked for.
func (s *Skills) Given(k skills.Skill) instructions.File {
	text := k.Body()
	f := instructions.UserText("skill "+k.Name, text, instructions.BlobID(string(s.repo.At.ObjectFormat), []byte(text)))
	f.User = k.User
	return f
}

// Approved reports whether a skill may be used: the user's own always, the repository's once the user has
// approved this content in this working tree.
func (s *Skills) Approved(k skills.Skill) bool {
	if k.User {
		return true
	}
	text, err := safefile.ReadRegular(s.answerFile(k))
	return err == nil && string(text) == answerUse
}

// Approve keeps the user's approval of a skill's present content.
func (s *Skills) Approve(k skills.Skill) error {
	err := safefile.Replace(s.answerFile(k), []byte(answerUse), safefile.Options{Mode: 0o600, FolderMode: 0o700})
	if err != nil {
		return fmt.Errorf("keep the approval of the skill %s: %w", k.Name, err)
	}
	return nil
}

// Revoke takes the approval back. It reports whether there was one.
func (s *Skills) Revoke(k skills.Skill) (bool, error) {
	err := os.Remove(s.answerFile(k))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *Skills) answerFile(k skills.Skill) string {
	name := digest(s.repo.At.TopLevel)[:32] + "-" + digest(k.At, k.Real, k.OID)
	return filepath.Join(s.repo.Paths.StateDir, "skills", name)
}

// SkillToolName is the name of the tool that reads skills.
const SkillToolName = compaction.SkillTool

// SkillTool is the tool that reads the skills of a set, which may be nil.
func SkillTool(s *Skills) tool.Tool {
	def := tool.Definition{
		Name: SkillToolName, Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
		Description: "Read a skill: how to do a kind of task. The instructions list the skills. A skill gives no permissions, and its scripts run only by the tools that run commands.",
		Parameters: json.RawMessage(`{"type":"object","required":["name"],"additionalProperties":false,"properties":{
		"name":{"type":"string","description":"The name of the skill, as it is listed."},
		"file":{"type":"string","description":"A file of the skill, by its path in the skill's folder. Default: the skill's text."}}}`),
		Questions: map[string]tool.QuestionTo{},
		Subject: func(arguments json.RawMessage) string {
			var args call
			if json.Unmarshal(arguments, &args) != nil {
				return ""
			}
			return strings.TrimSpace(args.Name + " " + args.File)
		},
	}
	if s != nil {
		for _, k := range s.All {
			if !k.User && k.OID != "" {
				def.Questions[questionID(k)] = tool.QuestionTo{Exclusive: true}
			}
		}
	}
	return reader{s, &def}
}

func questionID(k skills.Skill) string { return "use_" + digest(k.At, k.Real, k.OID)[:32] }

type reader struct {
	set *Skills
	def *tool.Definition
}

func (r reader) Definition() *tool.Definition { return r.def }

type call struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// detailLimit is how many bytes of a skill a question shows.
const detailLimit = 64 << 10

// Run reads a skill or one of its files. The first use of a skill of the repository needs an answer of the
// user.
func (r reader) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	var args call
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments of %s: %w", SkillToolName, err)
	}
	var k *skills.Skill
	if r.set != nil {
		k = r.set.Named(args.Name)
	}
	switch {
	case k == nil:
		return wrong("there is no skill %q; there are: %s", args.Name, r.names()), nil
	case k.Unusable != "":
		return wrong("the skill %s cannot be used: %s", k.Name, k.Unusable), nil
	}
	if !r.set.Approved(*k) {
		id := questionID(*k)
		answer, answered := c.Answers[id]
		if !answered {
			detail, _ := tool.Truncate([]byte(k.Body()), detailLimit)
			return tool.Result{Question: &tool.Question{ID: id, Detail: string(detail), Question: conversation.Question{
				Text:       fmt.Sprintf("Use this repository's skill %s? %s/%s tells the model how to work.", k.Name, k.Path, skills.File),
				AnswerType: conversation.AnswerType{Type: "boolean"},
			}}}, nil
		}
		var yes bool
		if err := json.Unmarshal(answer, &yes); err != nil {
			return tool.Result{}, fmt.Errorf("read the answer about the skill %s: %w", k.Name, err)
		}
		if !yes {
			return wrong("the user does not want the skill %s to be used", k.Name), nil
		}
		if err := r.set.Approve(*k); err != nil {
			return tool.Result{}, err
		}
	}
	text := k.Body()
	if args.File != "" && args.File != skills.File {
		var err error
		if text, err = k.Read(args.File); err != nil {
			return wrong("%v", err), nil
		}
	}
	return tool.Result{Content: []byte(text), WrittenFiles: []string{}, Effect: conversation.Count(strings.Count(text, "\n"), "line")}, nil
}

func (r reader) names() string {
	var names []string
	if r.set != nil {
		for _, k := range r.set.All {
			if k.Unusable == "" {
				names = append(names, k.Name)
			}
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func wrong(format string, args ...any) tool.Result {
	text := fmt.Sprintf(format, args...)
	return tool.Result{Content: []byte("Error: " + text + ".\n"), IsError: true, Effect: "error: " + text, WrittenFiles: []string{}}
}
