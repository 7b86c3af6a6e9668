package agent

import (
	"context"
	"errors"
	"fmt"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/instructions"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/skills"
)

// skillFiles are the skill texts for the model at the start of a turn: the catalogue, and the skills that the
// user asked for.
func (e *turn) skillFiles(ctx context.Context) (files []instructions.File, notices []string, err error) {
	if e.res.skills == nil {
		return nil, nil, nil
	}
	files, notices = e.res.skills.Catalogue(func(f instructions.File) bool { return e.instructions.Committed(ctx, f) })
	for _, name := range e.run.opts.Input.Skills {
		k, err := e.namedSkill(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, e.res.skills.Given(k))
	}
	return files, notices, nil
}

// namedSkill is a skill that the user asked for by name. The first use of a repository's needs an approval.
func (e *turn) namedSkill(ctx context.Context, name string) (skills.Skill, error) {
	k := e.res.skills.Named(name)
	switch {
	case k == nil:
		return skills.Skill{}, problem.Usage("there is no skill %q.", name).Hint(action.Skills, "list the skills")
	case k.Unusable != "":
		return *k, problem.Usage("jp could not use the skill %s: %s.", safetext.Show(name), k.Unusable).Hint(action.Skills, "list the skills")
	case e.res.skills.Approved(*k):
		return *k, nil
	}
	untrusted := problem.New(problem.ExitDecision, "untrusted", "jp could not use the skill %s: you have not approved it as it is in this working tree.", safetext.Show(name)).
		Hint(action.ShowSkill(name), "show it").Hint(action.ApproveSkill(name), "approve it as it is")
	if e.res.user == nil {
		return *k, untrusted
	}
	key, err := e.decide(ctx, UserDecision{
		Text:    fmt.Sprintf("The skill %s tells the model how to work (%s/%s).\n%s", safetext.Show(name), safetext.Show(k.Path), skills.File, safetext.Bound(safetext.Clean(k.Body()), 2000)),
		Choices: []UserChoice{{'y', "use it as it is"}, {'n', "do not use it"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return *k, problem.Unchanged(problem.ExitInterrupted, "interrupted")
	case errors.Is(err, ErrUserSilent), errors.Is(err, ErrUserGone):
		return *k, untrusted
	case err != nil:
		return *k, err
	case key != 'y':
		return *k, problem.Unchanged(problem.ExitDecision, "untrusted")
	}
	return *k, e.res.skills.Approve(*k)
}

// openSkills finds the skills, once.
func (e *turn) openSkills() *contextfiles.Skills {
	if e.res.skills == nil {
		e.res.skills = contextfiles.OpenSkills(e.run.repo, e.run.env)
	}
	return e.res.skills
}
