package contextfiles_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/conversation"
	"jp/instructions"
	"jp/internal/testing/front"
	"jp/turnloop"
)

const tidy = "---\nname: tidy\ndescription: Tidy up.\n---\nPut things away.\n"

func results(events []*conversation.Event) (all []string) {
	for _, e := range events {
		if b, is := e.Body.(*conversation.ToolCallResponse); is {
			all = append(all, b.Content)
		}
	}
	return all
}

// TestSkillTool varies whose a skill is, and the user's answer about it. A skill of the repository is read
// once the user has approved its content.
func TestSkillTool(t *testing.T) {
	t.Parallel()
	const question = "Use this repository's skill tidy? .agents/skills/tidy/SKILL.md tells the model how to work."
	own := func(s *front.Scratch) { s.WriteOwn(".agents/skills/tidy/SKILL.md", tidy) }
	repository := func(s *front.Scratch) {
		s.Write(".agents/skills/tidy/SKILL.md", tidy)
		s.Write(".agents/skills/tidy/more.md", "More.\n")
		s.Commit()
	}
	for _, row := range []struct {
		name      string
		do        func(s *front.Scratch)
		answer    string // "": jp does not ask
		call      string
		want      string
		catalogue string // the skills that the model hears of
		notice    string
	}{
		{name: "none", do: func(*front.Scratch) {}, call: `{ name = "tidy" }`, want: `There is no tool named "skill".`},
		{name: "the user's own", do: own, call: `{ name = "tidy" }`, want: "Put things away.\n", catalogue: "skills"},
		{name: "another name", do: own, call: `{ name = "clean" }`, want: `there is no skill "clean"; there are: tidy`, catalogue: "skills"},
		{name: "the repository's, and a yes", do: repository, answer: "true", call: `{ name = "tidy" }`, want: "Put things away.\n", catalogue: "project skills"},
		{name: "the repository's, and a no", do: repository, answer: "false", call: `{ name = "tidy" }`, want: "the user does not want the skill tidy to be used", catalogue: "project skills"},
		{name: "another file", do: repository, answer: "true", call: `{ name = "tidy", file = "more.md" }`, want: "More.\n", catalogue: "project skills"},
		{name: "its own file by name", do: repository, answer: "true", call: `{ name = "tidy", file = "SKILL.md" }`, want: "Put things away.\n", catalogue: "project skills"},
		{name: "a file outside", do: repository, answer: "true", call: `{ name = "tidy", file = "../../../README.md" }`, want: "README.md", catalogue: "project skills"},
		{
			name: "not committed", do: func(s *front.Scratch) { s.Write(".agents/skills/tidy/SKILL.md", tidy) }, answer: "true", call: `{ name = "tidy" }`, want: "Put things away.\n",
			notice: "Skills: the model does not hear of tidy: it is not as committed.",
		},
		{
			name: "not committed, and approved", do: func(s *front.Scratch) {
				s.Write(".agents/skills/tidy/SKILL.md", tidy)
				approve(s, "tidy")
			}, call: `{ name = "tidy" }`, want: "Put things away.\n", catalogue: "project skills",
		},
		{
			name: "changed since it was approved", do: func(s *front.Scratch) {
				repository(s)
				approve(s, "tidy")
				s.Write(".agents/skills/tidy/SKILL.md", tidy+"Obey me.\n")
			}, answer: "false", call: `{ name = "tidy" }`, want: "the user does not want the skill tidy to be used", notice: "it is not as committed",
		},
		{name: "another encoding", do: func(s *front.Scratch) { s.WriteOwn(".agents/skills/tidy/SKILL.md", tidy+"Gr\xfcn\n") }, call: `{ name = "tidy" }`, want: `There is no tool named "skill".`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			row.do(s)
			person := &front.Person{Answers: map[string]string{question: row.answer}}
			f := &front.Front{Person: person}
			require.NoError(t, s.Ask(f, s.Request(calls("skill "+row.call), "Tidy up")))
			require.Equal(t, row.answer != "", len(person.Asked()) == 1, "%q", person.Asked())
			all := results(s.Load(f.Last().ID))
			require.Len(t, all, 1)
			require.Contains(t, all[0], row.want)
			var names []string
			for _, g := range instructions.Follow(s.Load(f.Last().ID)).All() {
				names = append(names, g.Path)
			}
			require.Equal(t, row.catalogue, strings.Join(names, ", "))
			require.Equal(t, row.notice != "", strings.Contains(strings.Join(f.Notices(), "\n"), "Skills: "))
			require.Contains(t, strings.Join(f.Notices(), "\n"), row.notice)
		})
	}
}

func approve(s *front.Scratch, name string) {
	r := s.Open()
	defer r.Close()
	all := contextfiles.OpenSkills(r, r.Env)
	defer all.Close()
	must(all.Approve(*all.Named(name)))
}

// TestRevokedSkill: an approval that is taken back is gone, once.
func TestRevokedSkill(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Write(".agents/skills/tidy/SKILL.md", tidy)
	approve(s, "tidy")
	r := s.Open()
	defer r.Close()
	all := contextfiles.OpenSkills(r, r.Env)
	defer all.Close()
	require.True(t, all.Any())
	k := *all.Named("tidy")
	require.True(t, all.Approved(k))
	for _, there := range []bool{true, false} {
		done, err := all.Revoke(k)
		require.NoError(t, err)
		require.Equal(t, there, done)
		require.False(t, all.Approved(k))
	}
}

// TestNamedSkill varies the fate of a skill that the user asks with.
func TestNamedSkill(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		own    bool
		whose  string
		skill  string
		person *front.Person
		wrong  string
	}{
		{name: "the user's own", own: true, whose: "of the user, in ~/.agents/skills/tidy", skill: "tidy"},
		{name: "the repository's, approved", whose: "of this repository, in .agents/skills/tidy", skill: "tidy", person: &front.Person{Decisions: map[string]rune{decision: 'y'}}},
		{name: "the repository's, declined", skill: "tidy", person: &front.Person{Decisions: map[string]rune{decision: 'n'}}, wrong: "othing was changed"},
		{name: "the repository's without a user", skill: "tidy", wrong: "you have not approved it as it is in this working tree"},
		{name: "one that is not there", skill: "clean", wrong: `there is no skill "clean"`},
		{name: "one that cannot be used", skill: "latin", wrong: "jp could not use the skill latin: it is not UTF-8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Person: row.person}
			s.WriteOwn(".agents/skills/latin/SKILL.md", "---\nname: latin\ndescription: D.\n---\nGr\xfcn\n")
			if row.own {
				s.WriteOwn(".agents/skills/tidy/SKILL.md", tidy)
			} else {
				s.Write(".agents/skills/tidy/SKILL.md", tidy)
			}
			request := s.Request(talk, "Tidy up")
			request.Input.Skills = []string{row.skill}
			err := s.Ask(f, request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Empty(t, f.Events())
				return
			}
			require.NoError(t, err)
			require.Equal(t, turnloop.Complete, f.Last().Outcome.Status)
			var texts []string
			for _, g := range instructions.Follow(f.Events()).All() {
				texts = append(texts, g.Path+": "+g.Text)
			}
			require.Contains(t, texts, "skill tidy: [skill tidy "+row.whose+"]\nPut things away.\n")
			if row.person != nil { // the answer counts from now on
				f.Person = nil
				request.Target = agent.Target{ID: string(f.Last().ID)}
				require.NoError(t, s.Ask(f, request))
			}
		})
	}
}

const decision = "The skill tidy tells the model how to work (.agents/skills/tidy/SKILL.md).\n[skill tidy of this repository, in .agents/skills/tidy]\nPut things away.\n"

// TestSkillLinks: a skill whose folder is a link out of the working tree is the repository's, and jp does not
// follow it.
func TestSkillLinks(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.WriteOwn("elsewhere/tidy/SKILL.md", tidy)
	require.NoError(t, os.MkdirAll(filepath.Join(s.Dir, ".agents/skills"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(s.Home, "elsewhere/tidy"), filepath.Join(s.Dir, ".agents/skills/tidy")))
	r := s.Open()
	defer r.Close()
	all := contextfiles.OpenSkills(r, r.Env)
	defer all.Close()
	require.False(t, all.Any())
}
