package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"jp/provider"
)

// A complaint is what a server says went wrong. Servers agree neither on where
// it stands nor on whether a code is a number.
type complaint struct {
	Message string
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Words   json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Status  json.RawMessage `json:"status"`
}

// complaintIn finds the complaint in a body or an event: in "error", in the
// value itself, or in the first element of a list.
func complaintIn(body []byte) complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
	}
	var c complaint
	if json.Unmarshal(body, &c) != nil {
		return complaint{Message: plain(body)}
	}
	c.Message = plain(c.Words)
	if c.Message == "" {
		c.Message = plain(c.Detail)
	}
	return c
}

// plain is a JSON string's text, or the JSON of anything else.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(bytes.TrimSpace(value))
}

func (c complaint) code() string { return plain(c.Code) }

// class is what went wrong, by its name where it has one we know, then by the
// status of HTTP, which is 0 in the midst of an answer.
func (c complaint) class(status int) provider.Class {
	for _, name := range []string{c.code(), c.Type, plain(c.Status)} {
		if class := classNamed(strings.ToLower(name)); class != "" {
			return class
		}
	}
	if status/100 == 4 && strings.Contains(strings.ToLower(c.Message), "encrypted content") {
		return provider.ClassState
	}
	if tooLong(strings.ToLower(c.Message)) && (status == 0 || status/100 == 4 && status != http.StatusTooManyRequests) {
		return provider.ClassContext
	}
	if status == 0 && strings.HasPrefix(or(c.code(), c.Type), "invalid") {
		return provider.ClassInvalid
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
	case "model_not_found", "invalid_model":
		return provider.ClassModel
	case "invalid_api_key", "authentication_error", "permission_denied", "permission_error":
		return provider.ClassAuth
	case "rate_limit_exceeded", "rate_limit_error", "rate_limited", "resource_exhausted":
		return provider.ClassRateLimit
	case "server_error", "overloaded", "overloaded_error", "server_is_overloaded", "slow_down", "unavailable", "internal_server_error":
		return provider.ClassOverloaded
	}
	return ""
}

// tooLong reports whether the words, in small letters, say that the request is
// longer than the model can read. Few servers have a code for it.
func tooLong(words string) bool {
	for _, phrase := range []string{
		"maximum context length", "context length exceeded", "context window", "context size",
		"prompt is too long", "prompt too long", "input is too long", "too many tokens", "exceeds the maximum number of tokens",
	} {
		if strings.Contains(words, phrase) {
			return true
		}
	}
	return false
}

func classOfStatus(status int) provider.Class {
	switch {
	case status == 0, status >= http.StatusInternalServerError:
		return provider.ClassOverloaded
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.ClassAuth
	case status == http.StatusPaymentRequired:
		return provider.ClassQuota
	case status == http.StatusNotFound:
		return provider.ClassModel
	case status == http.StatusRequestTimeout:
		return provider.ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return provider.ClassContext
	case status == http.StatusTooManyRequests:
		return provider.ClassRateLimit
	}
	return provider.ClassInvalid
}
