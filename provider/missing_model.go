package provider

import (
	"net/http"
	"slices"
	"strings"

	"jp/internal/lazy"
)

var (
	noModel = lazy.Regexp(`(?i)\b(unknown|invalid|no such|non-?existent) model\b($|[:;,.(]| (id|name|identifier|code|passed|['"\x60]))|not a valid model|model identifier is invalid|model[ _]not[ _](exist|found|available)|\bmodel:? ?['"\x60]?[^ ]{0,160}['"\x60]? (is |was )?(not found|not available|does not exist|doesn't exist)|(access to|allowed to access|unable to access) (the |this )?(requested )?model\b|not found the model|模型不存在`)
	// The end of a model, as opposed to one of its parameters.
	retired   = lazy.Regexp(`(?i)\bmodels?\b.{0,200}\b(deprecated|decommissioned|retired|discontinued|sunset|shut ?down|no longer (available|supported)|end of (its )?life)`)
	parameter = lazy.Regexp(`(?i)\b(for|with|by|on) (this|the|your) model\b|parameter|\bfield\b|\btools?\b`)
	// The codes that servers have for it.
	missingCodes = []string{
		"model_not_found", "invalid_model", "unknown_model", "model_decommissioned", "model_deprecated", "model_retired", "model_not_available",
		"model_not_supported", "key_model_access_denied", "team_model_access_denied", "deploymentnotfound",
	}
)

// MissesModel reports whether a server says that the model is unknown, retired, or closed to this account.
func (c Complaint) MissesModel(status int) bool {
	for _, name := range []string{c.Code, c.Type, c.Status} {
		if slices.Contains(missingCodes, strings.ToLower(name)) {
			return true
		}
	}
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
	default:
		return false
	}
	return noModel().MatchString(c.Message) || retired().MatchString(c.Message) && !parameter().MatchString(c.Message)
}
