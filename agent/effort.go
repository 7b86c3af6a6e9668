package agent

import (
	"slices"
	"strings"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/provider/catalog"
)

// EffortAuto is the word for as much thinking as suits the model.
const EffortAuto = "auto"

// Efforts are the words for how much a model can think, "PROVIDER/NAME", from the least: those of the table of models, else jp's own.
// Now is the one in force.
func Efforts(r *repo.Repo, model string) (words []string, now string) {
	if words = models.ProvidersOf(r).Levels(model); len(words) == 0 {
		words = slices.Clone(catalog.OwnEfforts)
	}
	now = r.Config.Parameters.Reasoning
	if now == "" {
		now = EffortAuto
	}
	return append([]string{EffortAuto}, words...), now
}

// CheckEffort fails for a word outside of the model's efforts.
func CheckEffort(r *repo.Repo, model, word string) error {
	words, _ := Efforts(r, model)
	if slices.Contains(words, word) || slices.Contains(catalog.OwnEfforts, word) {
		return nil
	}
	return problem.Usage("invalid effort %q (want one of %s).", word, strings.Join(words, ", "))
}
