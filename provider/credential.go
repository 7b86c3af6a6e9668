package provider

import (
	"net/http"
	"strings"

	"jp/internal/lazy"
)

var (
	ofCredential = lazy.Regexp(`(?i)api[ _-]?key|subscription key|(access|security|session|auth|bearer|id|api|server|invalid)[ _-]?tokens?\b|tokens?\b.{0,40}\b(expired|invalid|incorrect|revoked)|(expired|invalid|incorrect|revoked|refresh) .{0,20}\btokens?\b|\b(expired|invalid)[ _-]key|bearer|\bjwt\b|authenticat|unauthorized|credential|authorization|^[ 0-9]*user not found`)
	// A new key of the same account leaves these as they are.
	ofAccount = lazy.Regexp(`(?i)\b(country|countries|region|territory|location)\b|member of an organization|organization (has been|is) (disabled|restricted)|\bip address|access to (the |this )?model|access (the |this )?model|allowed to (access|sample|use) `)
	// The words of servers that refuse a key with status 400.
	ofBadKey = lazy.Regexp(`(?i)API_KEY_INVALID|api key (not valid|expired)|incorrect api key|invalid api key`)
)

// RefusesCredential reports whether a refusal is about the key itself, so that a new key may be accepted: it
// expired, was revoked, or is wrong. Servers answer 401 or 403 then, and Google and xAI 400.
func RefusesCredential(status int, header http.Header, body []byte) bool {
	c := ComplaintIn(body)
	words := strings.Join([]string{c.Type, c.Code, c.Status, c.Message, string(body)}, " ")
	switch status {
	case http.StatusUnauthorized:
		if strings.Contains(header.Get("WWW-Authenticate"), "invalid_token") || strings.TrimSpace(string(body)) == "" {
			return true
		}
	case http.StatusForbidden:
	case http.StatusBadRequest:
		return ofBadKey().Match(body)
	default:
		return false
	}
	return ofCredential().MatchString(words) && !ofAccount().MatchString(words)
}
