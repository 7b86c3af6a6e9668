package openai

import (
	"net/http"
	"strings"

	"jp/provider"
)

// classOf is the class of a complaint: by a known name, then by the status of HTTP, which is 0 in the middle
// of an answer, and by its words.
func classOf(c provider.Complaint, status int) provider.Class {
	if c.MissesModel(status) {
		return provider.ClassModel
	}
	for _, name := range []string{c.Code, c.Type, c.Status} {
		if class := classNamed(strings.ToLower(name)); class != "" {
			return class
		}
	}
	if status/100 == 4 && strings.Contains(strings.ToLower(c.Message), "encrypted content") {
		return provider.ClassState
	}
	worded := provider.ClassOfWords(c.Message)
	switch {
	case worded == provider.ClassContext && (status == 0 || status/100 == 4 && status != http.StatusTooManyRequests):
		return provider.ClassContext
	case status == 0 && strings.HasPrefix(or(c.Code, c.Type), "invalid"):
		return provider.ClassInvalid
	case status == 0 && worded != "":
		return worded
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return provider.ClassOfMissing(c.Message, "")
	}
	return classOfStatus(status)
}

func classNamed(name string) provider.Class {
	switch name {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance":
		return provider.ClassQuota
	case "invalid_encrypted_content":
		return provider.ClassState
	case "context_length_exceeded", "exceed_context_size_error":
		return provider.ClassContext
	case "invalid_api_key", "authentication_error", "permission_denied", "permission_error":
		return provider.ClassAuth
	case "rate_limit_exceeded", "rate_limit_error", "rate_limited", "resource_exhausted":
		return provider.ClassRateLimit
	case "server_error", "overloaded", "overloaded_error", "server_is_overloaded", "slow_down", "unavailable", "internal_server_error":
		return provider.ClassOverloaded
	}
	return ""
}

func classOfStatus(status int) provider.Class {
	switch {
	case status == 0, status >= http.StatusInternalServerError:
		return provider.ClassOverloaded
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.ClassAuth
	case status == http.StatusPaymentRequired:
		return provider.ClassQuota
	case status == http.StatusRequestTimeout:
		return provider.ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return provider.ClassContext
	case status == http.StatusTooManyRequests:
		return provider.ClassRateLimit
	}
	return provider.ClassInvalid
}
